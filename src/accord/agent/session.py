"""A session as the agent sees it: its directories, the agent's messages, and its questions to the user."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from accord.agent import statements
from accord.agent.background import Background
from accord.agent.client import Client
from accord.agent.open_gate import OpenGate
from accord.agent.options import SessionOptions
from accord.agent.pending_answer import PendingAnswer
from accord.agent.questions import Permission, ask, permit
from accord.agent.redaction import Redactor, StatementRedaction
from accord.agent.session_machine import SessionMachine
from accord.agent.tool import Tool, ToolContentLike
from accord.agent.update_writer import UpdateWriter
from accord.agent.work import Work
from accord.agent.workspace import DisplayTerminal, Files, Terminals
from accord.errors import ConnectionClosed, InvalidValue, LocalProtocolError
from accord.model import check
from accord.model.content import ContentLike, ContentsLike, as_content
from accord.model.record import Meta
from accord.model.requests import McpServer, PermissionOption, Reply, SessionSetup, SystemPrompt
from accord.model.session import Command, CompactionStatus, Option, PlanLike, Severity, Subagent
from accord.model.statement import (
    CompactionText,
    Raw,
    RemovePlan,
    Role,
    SessionMessageText,
    SetCommands,
    SetSubagent,
    SetUsage,
    WholeMessage,
)
from accord.model.tool import Location, LocationsLike, ToolKind, ToolStatus
from accord.model.values import text, word
from accord.schema.constructor import unchecked
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.dialect import Dialect
    from accord.agent.local_machine import Local, Machine
    from accord.agent.session_registry import SessionRegistry
    from accord.agent.turn_queue import TurnQueue
    from accord.agent.work import OwnWork


class Session:
    """One session with a client. The same object lives from `session/new` (or load) until the session is closed.

    Methods that send something do so when called; awaiting them only waits while the client is slow."""

    # Objects of up to 30 attributes share the keys of their `__dict__`, and one more costs 1.2 kB per session. The
    # slots take some of them out of it.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_connection",
        "_machine",
        "_registry",
        "dialect",
        "environment",
        "files",
        "open_gate",
        "settings",
        "terminals",
        "writer",
    )

    turns: TurnQueue
    """The session's prompts: the one that is running, and those that are queued."""
    works: OwnWork
    """The work that the agent has started by itself."""

    def __init__(self, registry: SessionRegistry, id: str, setup: SessionSetup, options: list[Option]) -> None:
        side = registry.side
        self.id = id
        self.cwd: str
        self.additional_directories: list[str]
        self.mcp_servers: list[McpServer]
        self.meta: dict[str, Any]
        self.system_prompt: SystemPrompt | None
        """Text that the client adds to the agent's instructions, or that replaces them (unstable)."""
        self.move_to(setup)
        self.response_meta: Meta | None = None
        """Set this in `session_opened`, or earlier, to send `_meta` with the response that opens the session."""
        self.data: dict[str, Any] = {}
        """For the author's own use, as long as the session is open."""
        self.title: str | None = None
        self.titled_by_user: bool = False
        """Whether the user set this session's title. `set_title` then has no effect."""
        self.commands: list[Command] = []
        self.hidden_commands: frozenset[str] = frozenset()
        self.environment: Mapping[str, str] | None = None
        """Environment of commands that run here, not in the client's terminals (None: the agent's own)."""
        self.agent: Agent = side.agent
        self.client: Client = side.client
        """The client that the session belongs to: its capabilities, and messages outside of sessions."""
        self.dialect: Dialect = side.dialect
        self.writer: UpdateWriter = UpdateWriter(
            self, side.connection, side.dialect, registry.ids, self.agent.kept.append if registry.is_saving else None
        )
        self.settings: SessionOptions = SessionOptions(self, options, side.saving)
        self.files: Files = Files(self)
        self.terminals: Terminals = Terminals(self)
        self.background: Background = Background(self)
        self.open_tools: dict[str, Tool] = {}
        self.waiting_for_user = 0
        """The number of open questions to the user."""
        self.closed: bool = False
        self.is_known: bool = True
        """Whether the client knows this session. The response to `session/new` makes it known."""
        self.is_reopening: bool = False
        """Whether the session is being opened again: the response then carries its options."""
        self.open_gate: OpenGate = OpenGate()
        self._registry = registry
        self._connection = side.connection
        self._machine = SessionMachine(self, side.make_machine)

    # -- MCP servers

    def mcp_transport(self, server: McpServer) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Return the transport to one of `mcp_servers`, of any kind, for the official SDK's client:

        `async with mcp.Client(session.mcp_transport(server)) as client: …`"""
        from accord.agent.mcp_transport import open_transport

        return open_transport(self, self._registry.side.mcp, server)

    # -- directories

    @property
    def roots(self) -> list[str]:
        """The directories this session may work in, the working directory first."""
        return [self.cwd, *self.additional_directories]

    @property
    def setup(self) -> SessionSetup:
        """The session's directories and servers, as its client sent them."""
        return SessionSetup(self.cwd, self.additional_directories, self.mcp_servers, self.meta, self.system_prompt)

    def move_to(self, setup: SessionSetup) -> None:
        """Set the session's directories, MCP servers and metadata."""
        self.cwd, self.additional_directories = setup.cwd, list(setup.directories)
        self.mcp_servers, self.meta = list(setup.servers), setup.meta or {}
        self.system_prompt = setup.system_prompt

    def absolute(self, path: str) -> str:
        """Make a path absolute; relative paths are resolved against the working directory."""
        return os.path.normpath(path if path[:1] == os.sep == "/" else os.path.join(self.cwd, path))

    def location(self, place: str | Location) -> Location:
        """Convert to a location with an absolute path. A path may end in `:line`, counted from 1; 0 means no line."""
        found = check.location(place)
        absolute: Location = unchecked(
            Location, path=self.absolute(found.path), line=found.line or None, meta=found.meta
        )
        return absolute

    # -- messages

    @property
    def redactor(self) -> Redactor | None:
        """Redacts secrets in everything sent and saved."""
        return self.writer.redaction.redactor if self.writer.redaction is not None else None

    @redactor.setter
    def redactor(self, redactor: Redactor | None) -> None:
        self.writer.redaction = StatementRedaction(redactor) if redactor is not None else None

    def say(self, content: ContentLike, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Send text or other content to the user. Consecutive calls form one message."""
        return self.writer.say("agent", content, message_id, meta)

    def think(
        self, content: ContentLike, *, message_id: str | None = None, meta: Meta | None = None
    ) -> Awaitable[None]:
        """Send part of the agent's reasoning."""
        return self.writer.say("thought", content, message_id, meta)

    def user_said(
        self, content: ContentLike, *, message_id: str | None = None, meta: Meta | None = None
    ) -> Awaitable[None]:
        """Send a message of the user, for agents that replay a session themselves."""
        return self.writer.say("user", content, message_id or self.new_id("msg"), meta)

    def end_message(self) -> None:
        """Start a new message with the next `say` or `think`."""
        self.writer.end_message()

    def set_message(
        self,
        content: ContentsLike | UnsetType | None = UNSET,
        *,
        role: Role = "agent",
        message_id: str | None = None,
        meta: Meta | None = None,
    ) -> str:
        """Send a whole message, replacing an earlier one with the same id. Returns its id.

        None clears its content. Without content only its metadata changes: keys with the value None are removed.
        Version 1 can't replace messages: there the content is sent as one more chunk."""
        id = message_id or self.new_id("msg")
        whole = WholeMessage(role=check.role(role), message_id=id, content=statements.contents(content), meta=meta)
        self.writer.state(whole)
        return id

    # -- other updates

    def plan(self, entries: PlanLike, *, id: str = "main", meta: Meta | None = None) -> Awaitable[None]:
        """Send the plan. Each call sends all of it."""
        return self.writer.state(statements.plan(entries, id, meta))

    def remove_plan(self, id: str = "main", *, meta: Meta | None = None) -> Awaitable[None]:
        """Remove a plan."""
        return self.writer.state(RemovePlan(id=id, meta=meta))

    def usage(
        self, used: int, size: int, *, cost: float | None = None, currency: str = "USD", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Report how many tokens of the context window are used, and the session's cost so far."""
        return self.writer.state(SetUsage(usage=check.usage(used, size, cost, currency), meta=meta))

    def notice(
        self, title: str, description: str | None = None, *, severity: Severity = "info", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Show the user a notice that isn't part of the conversation. Clients without notices don't receive it."""
        return self.writer.state(statements.notice(title, description, severity, meta))

    def compaction(
        self,
        id: str,
        status: CompactionStatus,
        *,
        summary: ContentsLike | None = None,
        error: str | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[None]:
        """Report that the context is being compacted."""
        return self.writer.state(statements.compaction(id, status, summary, error, meta))

    def compaction_text(self, id: str, content: ContentLike, *, meta: Meta | None = None) -> Awaitable[None]:
        """Append to the summary that replaces the compacted messages."""
        return self.writer.state(CompactionText(id=id, content=as_content(content), meta=meta))

    def set_title(self, title: str | None, *, meta: Meta | None = None) -> Awaitable[None]:
        """Set the session's title, unless the user has set one. None clears it."""
        if self.titled_by_user:
            if title is not None:
                text("title", title)
            return READY
        return self.set_info(title=title, updated_at=timestamp(), meta=meta)

    def set_info(
        self,
        *,
        title: str | UnsetType | None = UNSET,
        updated_at: str | datetime | UnsetType | None = UNSET,
        meta: Meta | None = None,
    ) -> Awaitable[None]:
        """Change the session's list entry: the title, unless the user has set one, and when the session last
        changed. None clears a field."""
        info = statements.info(UNSET if self.titled_by_user else title, updated_at, meta)
        lines = self.writer.encode(info)
        if not isinstance(info.title, UnsetType):
            self.title = info.title
        return self.writer.state_encoded(info, lines)

    def set_commands(
        self, commands: Sequence[Command], *, hide: Collection[str] = (), meta: Meta | None = None
    ) -> Awaitable[None]:
        """Set the slash commands besides those made with `@command`, and which of those to hide."""
        written = self._registry.side.prompts.commands
        if unknown := set(hide) - {described.name for described in written}:
            problem = f"hide contains {min(unknown)!r}, which is not an @command of this agent"
            raise InvalidValue(problem, argument="hide")
        visible = [described for described in written if described.name not in hide]
        statement = SetCommands(commands=[*visible, *check.commands(commands)], meta=meta)
        lines = self.writer.encode(statement)
        self.hidden_commands = frozenset(hide)
        self.commands = statement.commands
        if self.is_reopening:  # sent with the response, or right after it
            return READY
        return self.writer.state_encoded(statement, lines)

    def subagent(self, subagent: Subagent) -> Awaitable[None]:
        """Report a subagent, which has its own session (unstable)."""
        return self.writer.state(SetSubagent(subagent=check.subagent(subagent)))

    def child(self, subagent: Subagent) -> Session:
        """Report a subagent and return its session (unstable)."""
        self.subagent(subagent)
        return self._registry.add_child(self, subagent)

    def session_message(
        self,
        content: ContentsLike | UnsetType | None = UNSET,
        *,
        sender: Session | str | UnsetType | None = UNSET,
        recipient: Session | str | UnsetType | None = UNSET,
        message_id: str | None = None,
        sender_message_id: str | UnsetType | None = UNSET,
        recipient_message_id: str | UnsetType | None = UNSET,
        meta: Meta | None = None,
    ) -> str:
        """Show a message between a session and its subagent here, such as the task that a parent gives (unstable).
        Returns its id.

        A message with a known id is changed: fields that are left out stay, None clears one."""
        id = message_id or self.new_id("msg")
        self.writer.state(
            statements.session_message(id, content, sender, recipient, sender_message_id, recipient_message_id, meta)
        )
        return id

    def session_message_chunk(
        self, message_id: str, content: ContentLike, *, meta: Meta | None = None
    ) -> Awaitable[None]:
        """Append to a message between sessions (unstable)."""
        return self.writer.state(SessionMessageText(id=message_id, content=as_content(content), meta=meta))

    # -- work outside of turns

    def work(self, *, meta: Meta | None = None) -> Work:
        """Create a block of work that no prompt asked for: `async with session.work()`.

        Use it for results of scheduled or background work. Version 2 reports the session as running until the block
        ends; in version 1 the updates just arrive outside of a turn."""
        return Work(self, meta)

    def set_state(self, state: str | None, *, meta: Meta | None = None) -> Awaitable[None]:
        """Report a custom state, such as `_example.org/indexing`, or None for the standard one again (version 2).

        Only for clients that declare support for it; others may show it as busy."""
        if state is not None:
            word("state", state, frozenset())
        self.dialect.state_named(self, state, meta)
        return READY

    def update(self, version: int, update: Any) -> Awaitable[None]:
        """Send an update of one protocol version. Nothing is sent if the client uses the other version."""
        return self.writer.state(Raw(version=version, update=update))

    def set_background(self, work: Sequence[tuple[str, str]]) -> Awaitable[None]:
        """Report the work that continues outside turns, all of it each time: `("terminal", id)`, `("tool_call", id)`.

        Tool calls made with `background=True` are included automatically. Version 1 has no equivalent."""
        self.background.listed = check.background(work)
        self.dialect.background_changed(self)
        return READY

    # -- options

    @property
    def options(self) -> list[Option]:
        """The options that the user can set: modes, models and the rest."""
        return self.settings.items

    @options.setter
    def options(self, options: list[Option]) -> None:
        self.settings.items = options

    @property
    def values_before(self) -> dict[str, str | bool]:
        """The options' values from when the session was last open, by id; empty for a new session."""
        return self.settings.previous_values

    def option(self, id: str) -> Option | None:
        """Find an option by id."""
        return self.settings.find(id)

    def by_category(self, category: str) -> Option | None:
        """Find the first option of a category, such as `mode` or `model`."""
        return self.settings.by_category(category)

    @property
    def mode(self) -> str | None:
        """The id of the current mode; None if there are no modes."""
        return self.settings.mode

    def set_mode(self, mode: str, *, meta: Meta | None = None) -> Awaitable[None]:
        """Change the mode and tell the client."""
        option = self.settings.by_category("mode")
        if option is None:
            raise InvalidValue("this session has no modes; set the agent's modes or the session's options first")
        return self.settings.change(option.id, mode, meta)

    def change_option(self, id: str, value: str | bool, *, meta: Meta | None = None) -> Awaitable[None]:
        """Change an option and tell the client."""
        return self.settings.change(id, value, meta)

    def set_options(self, options: Sequence[Option], *, meta: Meta | None = None) -> Awaitable[None]:
        """Replace all options. While a session is being reopened, they get their previous values."""
        return self.settings.replace(options, meta)

    # -- tool calls and terminals

    def tool(
        self,
        title: str,
        *,
        kind: ToolKind = "other",
        locations: LocationsLike = (),
        id: str | None = None,
        raw_input: Any = UNSET,
        name: str | None = None,
        can_cancel: bool = False,
        background: bool = False,
        meta: Meta | None = None,
    ) -> Tool:
        """Create a tool call, to be used with `async with`: pending, in progress, then completed or failed.

        `name` is the tool's name for programs. With `can_cancel` the user can cancel it alone (version 2), which calls
        `Agent.cancel_tool_call`. With `background` it outlives its turn."""
        return Tool(
            self,
            id or self.new_id("call"),
            title,
            kind=kind,
            locations=locations,
            raw_input=raw_input,
            name=name,
            can_cancel=can_cancel,
            background=background,
            meta=meta,
        )

    def display_terminal(
        self,
        command: str,
        *,
        cwd: str | None = None,
        size: tuple[int, int] | None = None,
        can_cancel: bool = False,
        meta: Meta | None = None,
    ) -> DisplayTerminal:
        """Show a terminal of a command that the agent runs itself. `size` is its columns and rows."""
        return self.terminals.show(command, cwd, size, can_cancel, meta)

    # -- questions to the user

    def permit(
        self,
        title: str,
        *,
        kind: ToolKind = "other",
        options: Sequence[PermissionOption] | None = None,
        always: bool = False,
        description: str | None = None,
        command: str | None = None,
        cwd: str | None = None,
        content: Sequence[ToolContentLike] = (),
        locations: LocationsLike = (),
        tool: Tool | None = None,
        terminal: DisplayTerminal | None = None,
        subject: dict[str, Any] | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[Permission]:
        """Ask the user for permission. The answer is true if it was given.

        `always` also offers "Always allow", which the agent must then remember itself. `command` is the command that
        will run, in `cwd` or the session's own directory, and in `terminal` if it is shown in one. `subject` is a
        subject of a custom type, such as `{"type": "_example.org/deploy", …}`; version 1 has none."""
        asking = permit(
            self,
            title,
            kind=kind,
            options=options,
            always=always,
            description=description,
            command=command,
            cwd=self.absolute(cwd) if cwd is not None else None,
            content=content,
            locations=locations,
            tool=tool,
            terminal=terminal,
            subject=subject,
            meta=meta,
        )
        return PendingAnswer(asking, Permission, "turn.permit")

    def ask(
        self,
        message: str,
        schema: dict[str, Any] | None = None,
        *,
        url: str | None = None,
        id: str | None = None,
        tool: Tool | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[Reply]:
        """Ask the user to fill in a form (`schema`, a flat JSON schema of an object) or to visit a page (`url`).

        If the client has no forms but shows option names, a single choice is sent as a permission request. Anything
        else is sent as text, and the reply's action is "later": the next prompt may hold the answer. If the answer
        doesn't fit the form, the action is "invalid". Accepting a page means that the user opened it; pass an `id` to
        report with `page_done` when they are finished there. `tool` is the tool call that the question belongs to."""
        return PendingAnswer(ask(self, message, schema or {}, url, id, tool, meta), Reply, "turn.ask")

    def page_done(self, id: str) -> Awaitable[None]:
        """Tell the client that the user is finished with a page that `ask` opened."""
        return self.client.page_done(id)

    # -- extensions of the protocol

    def request(self, method: str, params: Any = None) -> Awaitable[Any]:
        """Send a request that the protocol doesn't define."""
        return self._registry.side.extension_request(method, params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Send a notification that the protocol doesn't define."""
        return self._registry.side.extension_notification(method, params)

    # -- for the library

    def new_id(self, kind: str) -> str:
        """Create an id that no other session, process or store uses."""
        return self._registry.ids.new(kind)

    @property
    def is_connected(self) -> bool:
        """Whether anything can be sent to the client."""
        return self._connection.is_open

    def check_open(self, what: str) -> None:
        """Raise `LocalProtocolError` if the client can't accept requests about this session."""
        if self.closed:
            raise LocalProtocolError(f"session {self.id} is closed; it can no longer {what}")
        if not self.is_known:
            raise LocalProtocolError(f"the client doesn't know session {self.id} yet; {what} once it has started")

    @property
    def local(self) -> Local:
        """The agent's own files and commands, used where the client offers none."""
        return self._machine.local

    @property
    def machine(self) -> Machine:
        """The agent's own files and commands, or the replacement that a test provides."""
        return self._machine.current

    async def end_tools(self, status: ToolStatus, *, background: bool = False) -> None:
        """End the open tool calls of a turn; with `background`, also those that outlive it."""
        for tool in list(self.open_tools.values()):
            if background or not tool.background:
                await tool.update(status=status)

    async def stop_commands(self) -> None:
        """Stop the commands that this session left running here."""
        await self._machine.close()

    def release(self) -> None:
        """Open the session for updates and prompts: the response that makes it known has been sent."""
        self.is_known = True
        self.is_reopening = False
        self.open_gate.finish()
        self.writer.release()

    def end(self) -> None:
        """End the session: nothing is sent or saved any more."""
        with suppress(ConnectionClosed):
            self.writer.release_all()
        self.closed = self.writer.is_muted = True
        self.writer.stop_saving()
        self.open_gate.finish()

    def flush(self) -> None:
        """Write everything sent so far to the wire now. For agents that then compute without awaiting."""
        self._connection.transport.flush()

    def __repr__(self) -> str:
        return f"<Session {self.id} in {self.cwd}>"


def timestamp() -> str:
    """Return the current time in the format of the protocol."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
