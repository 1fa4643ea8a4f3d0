"""A session as the agent sees it: where it works, what it asks, and how what it says leaves."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.asking import ask, permit
from accord.agent.background import Background
from accord.agent.files import Files
from accord.agent.offers import ClientOffers
from accord.agent.permission import Permission
from accord.agent.saying import Saying
from accord.agent.terminals import DisplayTerminal, Terminals
from accord.agent.tool import Tool
from accord.errors import LocalProtocolError
from accord.model.requests import McpServer, PermissionOption, Reply, SystemPrompt
from accord.model.session import Command, Option, Subagent
from accord.model.statement import Compacted, PlanSet, Role, Statement, TerminalPatch, ToolPatch, WholeMessage
from accord.model.tool import Location, ToolKind, ToolStatus
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.local import Local
    from accord.agent.side import AgentSide
    from accord.agent.turns import TurnQueue

_ENDS_MESSAGE = (ToolPatch, PlanSet, Compacted, WholeMessage)


class Session(Saying):
    """One conversation. The same session object lives from `session/new` (or load) until it is closed."""

    def __init__(
        self,
        side: AgentSide,
        id: str,
        cwd: str,
        *,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[McpServer] = (),
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.cwd = cwd
        self.additional_directories = list(additional_directories)
        self.mcp_servers = list(mcp_servers)
        self.meta = meta or {}
        self.data: dict[str, Any] = {}
        """The author's own, for as long as the session is open."""
        self.title: str | None = None
        self.options: list[Option] = []
        self.values_before: dict[str, str | bool] = {}
        self.reopening = False
        self.commands: list[Command] = []
        self.hidden_commands: frozenset[str] = frozenset()
        self.files = Files(self)
        self.terminals = Terminals(self)
        self.open_tools: dict[str, Tool] = {}
        self.cancellable_terminals: set[str] = set()
        self.releasing: set[asyncio.Future[None]] = set()
        """Terminals of the client that are being let go."""
        self.background = Background(self)
        self.turns: TurnQueue
        self.system_prompt: SystemPrompt | None = None
        """What the client wants added to the agent's instructions, or put in their place (unstable)."""
        self.waiting_for_user = 0
        self.muted = False
        self.closed = False
        self._side = side
        self._keep = side.keeps(id)
        self._local: Local | None = None
        self._held: list[bytes] | None = None
        self.is_known = True
        """Whether the client has been told of this session."""
        self.ready = asyncio.Event()
        """Whether it has been opened: prompts wait for that."""
        self.ready.set()
        self._role: Role | None = None
        self._message_id = ""
        self._head = b""

    @property
    def agent(self) -> Any:
        return self._side.agent

    @property
    def client(self) -> ClientOffers:
        """What the client offers."""
        return self._side.client

    @property
    def roots(self) -> list[str]:
        """The directories this session may work in, the working directory first."""
        return [self.cwd, *self.additional_directories]

    def absolute(self, path: str) -> str:
        """A path as the wire wants it: relative ones start at the working directory."""
        return os.path.normpath(os.path.join(self.cwd, path))

    def location(self, place: str | Location) -> Location:
        """A place in a file; a path may end in `:line`."""
        if isinstance(place, Location):
            return Location(path=self.absolute(place.path), line=place.line)
        path, colon, line = place.rpartition(":")
        if colon and line.isdigit():
            return Location(path=self.absolute(path), line=int(line) or None)
        return Location(path=self.absolute(place))

    # -- what it does, and shows

    def tool(
        self,
        title: str,
        *,
        kind: ToolKind = "other",
        locations: Sequence[str | Location] = (),
        id: str | None = None,
        **more: Any,
    ) -> Tool:
        """A tool call, to be used with `async with`.

        `raw_input`, `name`, `can_cancel`, `background` and `meta` may be given too."""
        return Tool(self, id or self._side.new_id("call"), title, kind=kind, locations=locations, **more)

    def child(self, subagent: Subagent) -> Session:
        """Tells about a child session and gives a handle to speak in its name (unstable)."""
        self.subagent(subagent)
        return self._side.child(self, subagent)

    def set_background(self, work: Sequence[tuple[str, str]]) -> None:
        """Tells which work goes on outside turns, all of it each time: `("terminal", id)`, `("tool_call", id)`.

        Tool calls made with `background=True` need not be named. Version 1 has no words for any of it."""
        self.background.listed = list(work)
        self._side.dialect.background_changed(self)

    def display_terminal(self, command: str, *, cwd: str | None = None, can_cancel: bool = False) -> DisplayTerminal:
        """A terminal that the agent runs itself and only shows."""
        terminal = DisplayTerminal(self, self._side.new_id("term"))
        patch = TerminalPatch(id=terminal.id, command=command, cwd=self.absolute(cwd or self.cwd))
        if can_cancel:
            patch.can_cancel = True
            self.cancellable_terminals.add(terminal.id)
        self.background.terminals.add(terminal.id)
        self.state(patch)
        return terminal

    # -- asking

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
        content: Sequence[Any] = (),
        locations: Sequence[str | Location] = (),
        tool: Tool | None = None,
    ) -> Awaitable[Permission]:
        """Asks the user whether something may be done. The answer is true when it may.

        `always` also offers "always allow"; honouring it is then the author's part. `command` is what will be run, in
        `cwd` or the session's own directory."""
        return permit(
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
        )

    def ask(
        self, message: str, schema: dict[str, Any] | None = None, *, url: str | None = None, id: str | None = None
    ) -> Awaitable[Reply]:
        """Asks the user for something: a form (`schema`, a flat JSON schema of an object), or to visit a page.

        Where the client has no forms, a single choice is asked as a permission; anything else is said as text, and the
        reply's action is then "later": the next prompt may hold the answer. An answer that does not fit the form is
        "invalid". That a page was accepted means that it was opened; give an `id` to say later, with `page_done`, that
        what was to be done there is done."""
        return ask(self, message, schema or {}, url, id)

    def page_done(self, id: str) -> Awaitable[None]:
        """Tells the client that what it was asked to do on a page is done."""
        return self.notify("elicitation/complete", {"elicitationId": id})

    # -- beyond the protocol

    def request(self, method: str, params: Any = None) -> Awaitable[Any]:
        """Asks the client something that the protocol does not know."""
        return self._side.extension_request(method, params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Tells the client something that the protocol does not know."""
        return self._side.extension_notification(method, params)

    # -- underneath

    def state(self, statement: Statement) -> Awaitable[None]:
        """Says a statement in the client's version, and keeps it where sessions are kept."""
        if isinstance(statement, _ENDS_MESSAGE):
            self._role = None
        lines = self._side.lines_of(self, statement)
        if self._keep is not None:
            self._keep(self.id, statement)
        return self.send(lines) if lines else READY

    @property
    def is_kept(self) -> bool:
        """Whether what is said here is kept."""
        return self._keep is not None

    def keep(self, statement: Statement) -> None:
        """Keeps a statement without saying it."""
        if self._keep is not None:
            self._keep(self.id, statement)

    def tell(self, statement: Statement) -> Awaitable[None]:
        """Says a statement without keeping it."""
        lines = self._side.lines_of(self, statement)
        return self.send(lines) if lines else READY

    def send(self, lines: bytes) -> Awaitable[None]:
        if self.muted:
            return READY
        if self._held is not None:
            self._held.append(lines)
            return READY
        return self._side.connection.send(lines)

    def hold(self) -> None:
        """Keeps updates back until `release`: none may leave before the answer that opens the session."""
        self._held = []

    def tell_at_once(self, statement: Statement) -> Awaitable[None]:
        """Says a statement without keeping it, though others are held back."""
        return self._side.connection.send(self._side.lines_of(self, statement))

    def release(self) -> None:
        """The answer has left: the session is open, for updates and for prompts."""
        self.is_known = True
        self.reopening = False
        self.ready.set()
        held, self._held = self._held, None
        if held and self._side.connection.is_open:
            self._side.connection.send(b"".join(held))

    def check_open(self, what: str) -> None:
        """Raises when the client could make nothing of a request about this session."""
        if self.closed:
            raise LocalProtocolError(f"session {self.id} is closed; it can no longer {what}")
        if not self.is_known:
            raise LocalProtocolError(f"the client does not know session {self.id} yet; {what} once it has begun")

    @property
    def local(self) -> Local:
        """The agent's own files and commands, for what the client does not offer."""
        if self._local is None:
            from accord.agent.local import Local

            self._local = Local(self)
        return self._local

    async def end_tools(self, status: ToolStatus, *, background: bool = False) -> None:
        """Ends the tool calls that are open: those of a turn, or those that were to outlive it too."""
        for tool in list(self.open_tools.values()):
            if background or not tool.background:
                await tool.update(status=status)

    async def put_away(self) -> None:
        """Ends the commands that this session left running here."""
        if self._local is not None:
            local, self._local = self._local, None
            await local.close()

    def new_id(self, kind: str) -> str:
        """An id that no other session, process or store has."""
        return self._side.new_id(kind)

    def end(self) -> None:
        """The session is over: nothing is said in it any more."""
        self.closed = self.muted = True
        self._keep = None
        self.ready.set()

    def flush(self) -> None:
        """Hands what was said to the operating system now; for agents that then compute without awaiting."""
        self._side.connection.transport.flush()

    def __repr__(self) -> str:
        return f"<Session {self.id} in {self.cwd}>"
