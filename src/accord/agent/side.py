"""One client's connection to an agent: its sessions, and what both versions do alike.

A dialect (`v1`, `v2`) reads and writes the words of its version and calls the verbs here, which know none."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import msgspec

from accord.agent.offers import ClientOffers
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.agent.turns import Entry, TurnQueue
from accord.connection.connection import Connection
from accord.connection.dispatch import Routes
from accord.connection.handshake import INITIALIZE, choose, requested_version
from accord.connection.limits import Limits
from accord.errors import InvalidParams, LocalProtocolError, MethodNotFound, NotFound, RequestFailed
from accord.model.content import Content, TextContent
from accord.model.requests import McpServer
from accord.model.session import Choice, Command, Option, SessionInfo, StopReason
from accord.model.statement import TOLD_AGAIN, CommandsAre, Role, Statement
from accord.schema.method import Method
from accord.schema.wire import encode
from accord.store.base import Page
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.dialect import Dialect

_KINDS = {"image": "image", "audio": "audio", "resource": "resource"}


class AgentSide:
    """Serves one client."""

    dialect: Dialect
    client: ClientOffers

    def __init__(self, agent: Agent, transport: Transport, *, limits: Limits | None = None) -> None:
        self.agent = agent
        self.connection = Connection(transport, side="agent", limits=limits)
        self.sessions: dict[str, Session] = {}
        self._commands = agent.commands_written
        self._version: int | None = None
        self._ids = 0
        self._prefix = os.urandom(4).hex()
        self._touched = False

    # -- beginning and end

    def start(self) -> None:
        """Begins to serve."""
        self.connection.start(Routes({INITIALIZE: self._initialize}))

    async def serve(self) -> None:
        """Serves until the client is gone, then stops all work."""
        self.start()
        try:
            await self.connection.wait_ended()
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Cancels all turns and closes the connection."""
        for session in list(self.sessions.values()):
            session.turns.cancel()
        await self.connection.close()
        busy = [session.turns.settle() for session in self.sessions.values() if session.turns.busy]
        if busy:
            await asyncio.wait([asyncio.ensure_future(waiting) for waiting in busy], timeout=5)
        if self._version is not None:
            self._version = None
            await self.agent.disconnected()

    async def _initialize(self, raw: msgspec.Raw) -> Any:
        """The first exchange. A failed one changes nothing, and may be tried again."""
        try:
            params = msgspec.json.decode(raw)
            version = choose(requested_version(params), self.agent.versions)
            dialect = _dialect(version)(self)
            result, client = dialect.hello(params)
            await self.agent.connected(client)
        except BaseException:
            if self._version is None:
                self.connection.not_speaking()
            raise
        self.dialect, self.client, self._version = dialect, client, version
        self.connection.speak(dialect.routes(), null_ids=version == 1)
        return result

    async def initialize_again(self, raw: msgspec.Raw) -> Any:
        """Version 2 lets a client say hello again before it asks anything else; version 1 does not."""
        params = msgspec.json.decode(raw)
        requested = requested_version(params)
        if self._version == 1 or self._touched:
            raise RequestFailed("initialize: this connection is initialized already", code=-32600)
        if requested < (self._version or 0):
            raise RequestFailed(f"initialize: version {self._version} is agreed; it cannot be lowered", code=-32600)
        return await self._initialize(raw)

    # -- ids, time, and what leaves

    def new_id(self, kind: str) -> str:
        """An id that no other session, process or store has."""
        self._ids += 1
        return f"{kind}_{self._prefix}{self._ids:x}"

    def now(self) -> str:
        from datetime import datetime

        return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

    def chunk_head(self, session_id: str, role: Role, message_id: str) -> bytes:
        """What stands before the content of a message chunk: the same in both versions, up to the content."""
        kind = {"agent": "agent_message_chunk", "thought": "agent_thought_chunk", "user": "user_message_chunk"}[role]
        return (
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%b,"update":{"sessionUpdate":"%b",'
            b'"messageId":%b,"content":' % (encode(session_id), kind.encode(), encode(message_id))
        )

    def lines_of(self, session: Session, statement: Statement) -> bytes:
        """A statement as lines of the client's version; empty when it has no words for it."""
        head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%b,"update":' % encode(session.id)
        return b"".join(head + encode(update) + b"}}\n" for update in self.dialect.updates(session, statement))

    def keeps(self, session_id: str) -> Callable[[str, Statement], None] | None:
        """What keeps a session's statements, if anything does."""
        return self.agent.kept.append if self.keeping else None

    @property
    def keeping(self) -> bool:
        return self.agent.store is not None or self._version == 2

    async def extension_request(self, method: str, params: Any) -> Any:
        """Asks the client something outside the protocol."""
        wanted: Method[Any, Any] = Method(name=method, served_by="client", params=object, result=object)
        return await self.connection.call(wanted, {} if params is None else params)

    def extension_notification(self, method: str, params: Any) -> Awaitable[None]:
        told: Method[Any, Any] = Method(name=method, served_by="client", params=object)
        return self.connection.tell(told, {} if params is None else params)

    # -- sessions

    def session(self, id: str) -> Session:
        """An open session; `NotFound` otherwise."""
        self._touched = True
        try:
            return self.sessions[id]
        except KeyError:
            raise unknown_session(id) from None

    async def new_session(
        self, cwd: str, directories: Sequence[str], servers: Sequence[McpServer], meta: dict[str, Any] | None
    ) -> Session:
        """Begins a session. Its updates are held back until the answer has left (`Session.release`)."""
        self._check_place(cwd, directories, servers)
        session = self._make(self.new_id("sess"), cwd, directories, servers, meta)
        session.hold()
        await self._keep(session)
        await self.agent.new_session(session)
        self._settle(session)
        return session

    async def open_session(
        self,
        id: str,
        cwd: str,
        directories: Sequence[str],
        servers: Sequence[McpServer],
        meta: dict[str, Any] | None,
        *,
        replay: bool,
    ) -> Session:
        """Opens a stored session again, telling its history or not."""
        self._check_place(cwd, directories, servers)
        old = self.sessions.get(id)
        kept = await self.agent.kept.get(id)
        by_author = self.agent.offers("load_session" if replay else "resume_session")
        can_mute = not replay and self.agent.offers("load_session")
        if kept is None and old is None and not by_author and not can_mute:
            raise unknown_session(id)
        session = old or self._make(id, cwd, directories, servers, meta, options=False)
        session.cwd, session.additional_directories = cwd, list(directories)
        session.mcp_servers, session.meta = list(servers), meta or {}
        try:
            await self._tell_again(session, replay, by_author, can_mute, kept is not None)
        except BaseException:
            if old is None:
                self.sessions.pop(id, None)
            raise
        if old is None:
            session.title = kept.title if kept is not None else session.title
            self._settle(session)
        return session

    async def _tell_again(self, session: Session, replay: bool, by_author: bool, can_mute: bool, kept: bool) -> None:
        keep, session._keep = session._keep, None
        try:
            if by_author:
                await (self.agent.load_session(session) if replay else self.agent.resume_session(session))
            elif replay:
                async for statement in self.agent.kept.history(session.id):
                    if isinstance(statement, TOLD_AGAIN):
                        await session.tell(statement)
            elif can_mute and not kept:
                session.muted = True
                await self.agent.load_session(session)
        finally:
            session.muted = False
            session._keep = keep
            session._role = None

    async def fork_session(
        self,
        source: str,
        cwd: str,
        directories: Sequence[str],
        servers: Sequence[McpServer],
        meta: dict[str, Any] | None,
    ) -> Session:
        """Begins a session with the history of another."""
        self._check_place(cwd, directories, servers)
        by_author = self.agent.offers("fork_session")
        if not by_author and await self.agent.kept.get(source) is None:
            raise unknown_session(source)
        session = self._make(self.new_id("sess"), cwd, directories, servers, meta)
        session.hold()
        if by_author:
            await self._keep(session)
            await self.agent.fork_session(session, source)
        else:
            await self.agent.kept.copy(source, self._info(session))
        self._settle(session)
        return session

    async def list_sessions(self, cwd: str | None, cursor: str | None, archived: str = "exclude") -> Page:
        if archived not in ("exclude", "include", "only"):
            raise InvalidParams(f"session/list: archived is {archived[:40]!r}; it may be exclude, include or only")
        if cwd is not None and not os.path.isabs(cwd):
            raise InvalidParams("session/list: cwd must be an absolute path")
        if self.agent.offers("list_sessions"):
            return await self.agent.list_sessions(cwd=cwd, cursor=cursor)
        return await self.agent.kept.list(cwd=cwd, cursor=cursor, archived=archived)

    async def close_session(self, id: str) -> None:
        """Cancels a session's work and frees it. Closing what is not open succeeds."""
        session = self.sessions.get(id)
        if session is None:
            return
        session.turns.cancel()
        await session.turns.settle()
        await self.agent.close_session(session)
        self.sessions.pop(id, None)

    async def delete_session(self, id: str) -> None:
        await self.close_session(id)
        if self.agent.offers("delete_session"):
            await self.agent.delete_session(id)
        await self.agent.kept.delete(id)

    def _make(
        self,
        id: str,
        cwd: str,
        directories: Sequence[str],
        servers: Sequence[McpServer],
        meta: dict[str, Any] | None,
        *,
        options: bool = True,
    ) -> Session:
        self._touched = True
        session = Session(self, id, cwd, additional_directories=directories, mcp_servers=servers, meta=meta)
        session.turns = TurnQueue(self, session)
        session.options = [*_mode_option(self.agent), *map(_copied, self.agent.options)]
        session.commands = [*self.written_commands(), *self.agent.commands]
        self.sessions[id] = session
        return session

    async def _keep(self, session: Session) -> None:
        if self.keeping:
            await self.agent.kept.create(self._info(session))

    def _info(self, session: Session) -> SessionInfo:
        return SessionInfo(
            id=session.id,
            cwd=session.cwd,
            title=session.title,
            updated_at=self.now(),
            additional_directories=session.additional_directories,
        )

    def _settle(self, session: Session) -> None:
        """What a session says of itself once it is known."""
        if session.commands:
            session.tell(CommandsAre(commands=session.commands))

    async def turn_ended(self, session: Session) -> None:
        if self.keeping and session.id in self.sessions:
            await self.agent.kept.update(self._info(session))

    def _check_place(self, cwd: str, directories: Sequence[str], servers: Sequence[McpServer]) -> None:
        if not os.path.isabs(cwd):
            raise InvalidParams("cwd must be an absolute path", data={"path": "cwd"})
        if directories and not self.agent.additional_directories:
            raise InvalidParams("additionalDirectories were not offered by this agent")
        for index, directory in enumerate(directories):
            if not os.path.isabs(directory):
                path = f"additionalDirectories[{index}]"
                raise InvalidParams(f"{path} must be an absolute path", data={"path": path})
        for index, server in enumerate(servers):
            if server.transport not in self.agent.mcp:
                offered = ", ".join(self.agent.mcp) or "none"
                raise InvalidParams(f"mcpServers[{index}] is {server.transport[:40]!r}; this agent takes {offered}")

    # -- prompts

    def submit(self, session: Session, content: list[Content], meta: dict[str, Any] | None) -> Entry:
        """Queues a prompt, if it holds nothing but what this agent takes."""
        for index, piece in enumerate(content):
            kind = piece.__struct_config__.tag if piece.__struct_config__.tag_field else getattr(piece, "type", "")
            if kind not in ("text", "resource_link") and kind not in self.agent.content:
                taken = ", ".join(["text", "resource_link", *self.agent.content])
                path = f"prompt[{index}].type"
                raise InvalidParams(
                    f"session/prompt: {path} is {str(kind)[:40]!r}; this agent reads {taken}", data={"path": path}
                )
        if session.turns.busy and self._version == 1 and self.agent.reject_while_busy:
            raise RequestFailed("session/prompt: another prompt is still being handled", code=-32600)
        return session.turns.submit(Turn(session, content, self.new_id("msg"), meta))

    async def handle(self, turn: Turn) -> StopReason | None:
        """Runs the handler of a prompt: a slash command's if it names one, else `prompt`."""
        for piece in turn.content:
            if isinstance(piece, TextContent) and piece.text.lstrip().startswith("/"):
                name, _, argument = piece.text.lstrip()[1:].partition(" ")
                found = self._commands.get(name.strip())
                if found is not None:
                    turn.argument = argument.strip()
                    return await found[1](turn)
        return await self.agent.prompt(turn)

    def cancel(self, id: str) -> None:
        session = self.sessions.get(id)
        if session is not None:
            session.turns.cancel()

    def written_commands(self) -> list[Command]:
        return [described for described, _ in self._commands.values()]

    async def set_option(self, session: Session, id: str, value: str | bool) -> None:
        """The client sets an option."""
        option = session.check_option(id, value)
        await self.agent.set_option(session, option, value)
        option.value = value

    async def login(self, method_id: str) -> None:
        if method_id not in [method.id for method in self.agent.auth_methods if method.kind != "terminal"]:
            raise InvalidParams(f"there is no login method {method_id[:60]!r} that this agent carries out")
        await self.agent.login(method_id)

    async def logout(self) -> None:
        if not self.agent.offers("logout"):
            raise MethodNotFound("this agent offers no logout")
        await self.agent.logout()


def unknown_session(id: str) -> NotFound:
    return NotFound(f"there is no open session {id[:80]!r}", data={"sessionId": id})


def _mode_option(agent: Agent) -> list[Option]:
    if not agent.modes:
        return []
    choices = [Choice(value=mode.id, name=mode.name, description=mode.description) for mode in agent.modes]
    return [Option(id="mode", name="Mode", value=agent.modes[0].id, choices=choices, category="mode")]


def _copied(option: Option) -> Option:
    return msgspec.structs.replace(option)


def _dialect(version: int) -> type[Dialect]:
    """One version's vocabulary is loaded only when it is spoken."""
    if version == 1:
        from accord.agent.v1 import V1

        return V1
    if version == 2:
        from accord.agent.v2 import V2

        return V2
    raise LocalProtocolError(f"there is no protocol version {version}")
