"""The interface of a dialect, which speaks one protocol version for an agent, and code that both dialects share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import UNSET

from accord.agent.accounts import account_routes
from accord.agent.offers import ClientOffers
from accord.codec import from_wire
from accord.connection.dispatch import Handler, Routes
from accord.errors import CapabilityError, InvalidParams
from accord.model.content import Content, TextContent, UnknownContent, text_of
from accord.model.record import Meta
from accord.model.requests import Elicitation, McpServer, PermissionRequest, Reply, SessionSetup, SystemPrompt
from accord.model.session import Tokens
from accord.model.statement import Statement
from accord.model.tool import ExitStatus
from accord.schema.common.session import SetSessionTitleResponse
from accord.schema.common.update import Usage
from accord.schema.method import Method
from accord.schema.shape import Other

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.local_machine import LocalTerminal
    from accord.agent.session import Session
    from accord.agent.session_registry import SessionRegistry
    from accord.agent.side import AgentSide
    from accord.agent.turn import Turn
    from accord.agent.turn_queue import Outcome
    from accord.agent.workspace import DisplayTerminal, Output
    from accord.connection.connection import Connection


class Dialect(ABC):
    """Speaks one version: decodes requests and calls the library, encodes updates and questions."""

    allows_null_ids: ClassVar[bool] = False
    """Whether a request may have the id null."""
    can_initialize_again: ClassVar[bool] = False
    """Whether a client may send `initialize` again before its first other request."""
    needs_history: ClassVar[bool] = False
    """Whether every agent must be able to list and resume sessions, so that they are saved even without a store."""
    starts_in_place: ClassVar[bool] = False
    """Whether a handler may start while its prompt is being read, because nothing has to be sent before its updates."""
    replays_whole: ClassVar[bool] = False
    """Whether history is replayed as whole messages and terminal snapshots."""
    inserts: ClassVar[bool] = False
    """Whether a prompt can become part of a running turn."""

    def __init__(self, side: AgentSide) -> None:
        self.side = side
        self.agent: Agent = side.agent
        self.connection: Connection = side.connection
        self.sessions: SessionRegistry = side.sessions

    @abstractmethod
    def initialize(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        """Read the client's `initialize`. Returns the response and the client's capabilities."""

    @abstractmethod
    def routes(self) -> Routes:
        """Return the handlers of all other methods."""

    @abstractmethod
    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        """Convert a statement to updates: one, several, or none if the version has no equivalent."""

    def encodable(self, content: Content) -> Any:
        """Convert content to its encodable form in this version."""
        return unwrap_unknown(content)

    @abstractmethod
    async def request_permission(self, session: Session, request: PermissionRequest) -> tuple[str | None, Meta | None]:
        """Send a permission request. Returns the id of the chosen option, or None if the request was cancelled, and the
        metadata of the answer."""

    @abstractmethod
    async def elicit(self, question: Elicitation) -> Reply:
        """Send a form, or a page to visit."""

    # -- turns

    def prompt_joins(self, session: Session, turn: Turn) -> None:
        """Called when a prompt becomes part of the running turn."""

    def turn_begins(self, session: Session, turn: Turn) -> None:
        """Called when a prompt becomes part of the conversation."""

    def turn_ends(self, session: Session, turn: Turn, outcome: Outcome) -> None:
        """Called when the turn is over."""

    def work_begins(self, session: Session, meta: Meta | None) -> None:
        """Called when the agent starts work by itself in an idle session."""

    def work_ends(self, session: Session, outcome: Outcome, meta: Meta | None) -> None:
        """Called when such work has ended and nothing else is running."""

    def state_named(self, session: Session, state: str | None, meta: Meta | None) -> None:
        """Called when the author names a custom state, or None to return to the standard one."""

    def waiting_changed(self, session: Session, blocked: bool) -> None:
        """Called when the turn starts or stops waiting for the user."""

    def background_changed(self, session: Session) -> None:
        """Called when the list of background work has changed."""

    # -- the client's files and terminals: version 1 only

    async def read_file(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        raise _not_in_version_2("files")

    async def write_file(self, session: Session, path: str, text: str) -> None:
        raise _not_in_version_2("files")

    async def create_terminal(
        self, session: Session, command: str, args: list[str], cwd: str, env: dict[str, str], limit: int | None
    ) -> str:
        raise _not_in_version_2("terminals")

    async def terminal_output(self, session: Session, id: str) -> Output:
        raise _not_in_version_2("terminals")

    async def wait_for_exit(self, session: Session, id: str) -> ExitStatus:
        raise _not_in_version_2("terminals")

    async def kill_terminal(self, session: Session, id: str) -> None:
        raise _not_in_version_2("terminals")

    async def release_terminal(self, session: Session, id: str) -> None:
        raise _not_in_version_2("terminals")

    def display_grew(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        """Called when one of the agent's own terminals has new output."""

    async def display_ended(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        """Called when one of the agent's own terminals has ended."""


def _not_in_version_2(what: str) -> CapabilityError:
    return CapabilityError(f"version 2 of the protocol has no client {what}; use the agent's own")


def read_setup(params: Any) -> SessionSetup:
    """Read where a session works, from the request that creates or opens it. Duplicate directories are dropped."""
    servers = [_read_mcp_server(server) for server in params.mcp_servers]
    prompt = None if params.system_prompt in (UNSET, None) else _read_system_prompt(params.system_prompt)
    directories = list(dict.fromkeys(params.additional_directories))
    return SessionSetup(params.cwd, directories, servers, params.meta or None, prompt)


def _read_system_prompt(wanted: Any) -> SystemPrompt:
    """Read the client's instructions for the model, which must be non-empty text."""
    for index, block in enumerate(wanted.content):
        if isinstance(block, Other) or block.__struct_config__.tag != "text":
            path = f"systemPrompt.content[{index}].type"
            raise InvalidParams(f"{path} must be 'text'", data={"path": path})
    if not wanted.content:
        raise InvalidParams("systemPrompt.content is empty", data={"path": "systemPrompt.content"})
    content = [from_wire.text(block) for block in wanted.content]
    return SystemPrompt(
        text=text_of(content),
        mode=wanted.mode,
        content=[piece for piece in content if isinstance(piece, TextContent)],
        meta=wanted.meta or None,
    )


def encode_tokens(used: Tokens) -> Usage:
    """Encode the token counts of a turn. Unknown counts are left out."""
    return Usage(
        total_tokens=used.total,
        input_tokens=used.input,
        output_tokens=used.output,
        thought_tokens=UNSET if used.thought is None else used.thought,
        cached_read_tokens=UNSET if used.cached_read is None else used.cached_read,
        cached_write_tokens=UNSET if used.cached_write is None else used.cached_write,
        meta=used.meta or UNSET,
    )


def encode_elicitation(question: Elicitation, form_type: type[Any], url_type: type[Any]) -> Any:
    """Encode a form or a page to visit. It belongs to a session, or to the request that opens one."""
    is_named = question.session_id is not None
    scope: Any = {"session_id": question.session_id} if is_named else {"request_id": question.request_id}
    if is_named and question.tool_call_id is not None:
        scope["tool_call_id"] = question.tool_call_id
    if question.meta:
        scope["meta"] = question.meta
    if question.mode == "url":
        return url_type(message=question.message, url=question.url or "", elicitation_id=question.id or "", **scope)
    return form_type(message=question.message, requested_schema=question.schema, **scope)


def read_reply(response: Any) -> Reply:
    """Read the answer to an elicitation. An unknown action counts as `cancel`; `other` has its name."""
    if isinstance(response, Other):
        return Reply(action="cancel", other=response.tag)
    action = str(response.__struct_config__.tag)
    content = response.content or None if action == "accept" else None
    return Reply(action=action, content=content, meta=response.meta or None)


def _read_mcp_server(server: Any) -> McpServer:
    """Read an MCP server. In version 1, stdio servers have no tag."""
    if isinstance(server, Other):
        return McpServer(name=str(server.data.get("name", "")), transport=server.tag, other=server.data)
    transport = server.__struct_config__.tag or "stdio"
    found = McpServer(name=server.name, transport=str(transport), meta=server.meta or None)
    match transport:
        case "stdio":
            found.command, found.args = server.command, list(server.args)
            found.env = {variable.name: variable.value for variable in server.env}
        case "acp":
            found.server_id = server.server_id
        case _:
            found.url = server.url
            found.headers = {header.name: header.value for header in server.headers}
    return found


def unwrap_unknown(content: Any) -> Any:
    """Return the encodable form of content: neutral content itself, unknown content as it was received."""
    return content.data if isinstance(content, UnknownContent) else content


def unstable_routes(dialect: Dialect, m: Any, stored: bool) -> dict[Method[Any, Any], Handler]:
    """Return handlers for the unstable methods that both versions share, if the author or the store provides them.

    `m` has the version's methods; `stored` says whether sessions are saved."""
    agent, sessions = dialect.agent, dialect.sessions

    async def archive(params: Any) -> None:
        await sessions.archive(params.session_id, True)

    async def unarchive(params: Any) -> None:
        await sessions.archive(params.session_id, False)

    def mcp_notification(
        params: Any,
    ) -> Awaitable[None] | None:  # not in a task, so that it is handled before the response that follows
        if not dialect.side.mcp.receive(params, dialect.side.connection.message_size) and agent.offers(
            "mcp_notification"
        ):
            return agent.mcp_notification(params)
        return None

    async def set_title(params: Any) -> SetSessionTitleResponse:
        return SetSessionTitleResponse(title=await sessions.set_title(params.session_id, params.title))

    by_store: dict[str, tuple[Method[Any, Any], Handler]] = {
        "archive_session": (m.SESSION_ARCHIVE, archive),
        "unarchive_session": (m.SESSION_UNARCHIVE, unarchive),
        "set_title": (m.SESSION_SET_TITLE, set_title),
    }
    routes = {method: handler for name, (method, handler) in by_store.items() if stored or agent.offers(name)}
    return {**routes, **account_routes(dialect.side, m), m.MCP_NOTIFICATION: mcp_notification}
