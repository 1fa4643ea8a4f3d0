"""One client's connection to an agent: its sessions, and what both versions do alike.

A dialect (`v1`, `v2`) reads and writes the words of its version and calls the verbs here, which know none."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import TYPE_CHECKING, Any

import msgspec

from accord.agent.offers import ClientOffers
from accord.agent.session import Session
from accord.agent.sessions import Sessions
from accord.agent.turn import Turn
from accord.agent.turns import Entry
from accord.connection.connection import Connection
from accord.connection.dispatch import Answer, Routes, log
from accord.connection.handshake import INITIALIZE, choose, requested_version
from accord.connection.limits import Limits
from accord.errors import InvalidParams, LocalProtocolError, MethodNotFound, RequestFailed
from accord.model.content import Content, TextContent
from accord.model.session import Command, StopReason
from accord.model.statement import Role, Statement
from accord.schema.method import Method
from accord.schema.wire import encode
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.agent.agent import Agent, CommandHandler
    from accord.agent.dialect import Dialect
    from accord.agent.saving import SavingTransport


_COMMAND = re.compile(r"\s*/(\S+)\s*(.*)", re.DOTALL)
"""A slash command: its name, and everything that follows."""


class AgentSide(Sessions):
    """Serves one client."""

    dialect: Dialect
    client: ClientOffers

    def __init__(self, agent: Agent, transport: Transport, *, limits: Limits | None = None) -> None:
        self.agent = agent
        self.saving: SavingTransport | None = None
        """What holds back what is sent until it is kept, where sessions must outlive the process."""
        if agent.store is not None and agent.store.durable:
            from accord.agent.saving import SavingTransport

            transport = self.saving = SavingTransport(transport, agent.store)
        self.connection = Connection(transport, side="agent", limits=limits)
        self.sessions: dict[str, Session] = {}
        self.children: dict[str, Session] = {}
        """The sessions of subagents, which a client may at most cancel."""
        self.touched = False
        """Whether the client has asked for anything since its hello."""
        self._commands = agent.commands_written
        self._version: int | None = None
        self._ids = 0
        self._prefix = os.urandom(4).hex()

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
        sessions, self.sessions = list(self.sessions.values()), {}
        for session in sessions:
            session.muted = True  # there is nobody to tell; what is kept of it ends all the same
            await self.end_tools(session)
            session.end()
            await self._free(session)
        if self._version is not None:
            self._version = None
            await self.agent.disconnected()

    async def _free(self, session: Session) -> None:
        """Lets go of what a session holds, here and at the author's. Whatever fails, the rest is freed all the same."""
        try:
            await session.put_away()
        except Exception as error:
            log.error("the commands of %s could not be ended", session.id, exc_info=error)
        try:
            await self.agent.close_session(session)
        except Exception as error:
            log.error("close_session of %s failed", session.id, exc_info=error)

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
        # The answer leaves first: building what reads all the other methods takes as long as it did to get here.
        return Answer(result, lambda: self.connection.speak(dialect.routes(), null_ids=version == 1))

    async def initialize_again(self, raw: msgspec.Raw) -> Any:
        """Version 2 lets a client say hello again before it asks anything else; version 1 does not."""
        params = msgspec.json.decode(raw)
        requested = requested_version(params)
        if self._version == 1 or self.touched:
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
        id, updates = encode(session.id), self.dialect.updates(session, statement)
        return b"".join([_UPDATE % (id, encode(update)) for update in updates])

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
        if self.saving is not None:
            self.saving.check()
        if session.turns.busy and self._version == 1 and self.agent.reject_while_busy:
            raise RequestFailed("session/prompt: another prompt is still being handled", code=-32600)
        return session.turns.submit(Turn(session, content, self.new_id("msg"), meta))

    async def handle(self, turn: Turn) -> StopReason | None:
        """Runs the handler of a prompt: a slash command's if it names one, else `prompt`."""
        named = self.command_of(turn)
        if named is None:
            return await self.agent.prompt(turn)
        handler, turn.argument = named
        return await handler(turn)

    def command_of(self, turn: Turn) -> tuple[CommandHandler, str] | None:
        """The handler of the slash command that a prompt names, and what follows the name."""
        hidden = turn.session.hidden_commands
        for piece in turn.content:
            named = _COMMAND.match(piece.text) if isinstance(piece, TextContent) else None
            if named is not None and named[1] in self._commands and named[1] not in hidden:
                return self._commands[named[1]][1], named[2]
        return None

    def cancel(self, id: str) -> Awaitable[None] | None:
        """The client stops the work of a session. One that is not open, or has nothing to do, is left alone."""
        session = self.sessions.get(id)
        if session is not None:
            session.turns.cancel()
        elif id in self.children:
            return self.agent.cancel_subagent(self.children[id])
        return None

    def written_commands(self) -> list[Command]:
        return [described for described, _ in self._commands.values()]

    async def set_option(self, session: Session, id: str, value: str | bool) -> None:
        """The client sets an option."""
        option = session.check_option(id, value)
        await self.agent.set_option(session, option, value)
        session.chosen(id, value)
        if self.saving is not None:
            await self.saving.settle()

    async def other_request(self, method: str, params: Any) -> Any:
        """A request outside the protocol."""
        self.touched = True
        return await self.agent.extension_request(method, params)

    async def login(self, method_id: str) -> None:
        self.touched = True
        if method_id not in [method.id for method in self.agent.auth_methods if method.kind != "terminal"]:
            raise InvalidParams(f"there is no login method {method_id[:60]!r} that this agent carries out")
        await self.agent.login(method_id)

    async def logout(self) -> None:
        self.touched = True
        if not self.agent.offers("logout"):
            raise MethodNotFound("this agent offers no logout")
        await self.agent.logout()


_UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%b,"update":%b}}\n'


def _dialect(version: int) -> type[Dialect]:
    """One version's vocabulary is loaded only when it is spoken."""
    if version == 1:
        from accord.agent.v1 import V1

        return V1
    if version == 2:
        from accord.agent.v2 import V2

        return V2
    raise LocalProtocolError(f"there is no protocol version {version}")
