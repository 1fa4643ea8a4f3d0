"""The interface of a dialect, which speaks one protocol version for a client, and code that both dialects share.

Most requests are the same in both versions, except that their types (`types`) and methods (`methods`) come from
different modules."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import UNSET

from accord.client.offers import AgentOffers
from accord.codec import from_wire
from accord.connection.dispatch import Handler, Routes
from accord.errors import CapabilityError
from accord.model.account import AuthStatus, Provider, ProviderConfig
from accord.model.content import Content, TextContent, UnknownContent
from accord.model.record import Meta
from accord.model.requests import Elicitation, McpServer, PermissionRequest, SessionSetup, SystemPrompt
from accord.model.session import Option, SessionInfo
from accord.schema.shape import Opt, Other
from accord.transcript.events import PageDone
from accord.transcript.transcript import Transcript

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.client.turn import Turn
    from accord.connection.connection import Connection
    from accord.schema.common.session import SessionSystemPromptCapabilities
    from accord.schema.method import Method


class Dialect(ABC):
    """Speaks one version for a client."""

    version: ClassVar[int]
    methods: ClassVar[Any]
    """The module of this version's methods."""
    types: ClassVar[Any]
    """The module of this version's types."""
    one_turn_at_a_time: ClassVar[bool]

    def __init__(self, agent: ConnectedAgent) -> None:
        self.agent = agent

    @property
    def connection(self) -> Connection:
        return self.agent.connection

    async def _call(self, method: Method[Any, Any], params: Any, deadline: str = "call") -> Any:
        return await self.agent.connection.call(method, params, deadline=self.agent.deadline(deadline))

    @abstractmethod
    def offers(self, response: dict[str, Any]) -> AgentOffers:
        """Read the response to `initialize`."""

    @abstractmethod
    def fold(self, transcript: Transcript, session: Session) -> Any:
        """Create the object that applies this version's updates to a transcript. The session gets additional events."""

    # -- requests and notifications of the agent

    def routes(self) -> Routes:
        """Return the handlers of everything that the agent may send."""
        m, handlers, registry = self.methods, self.agent.handlers, self.agent.registry
        table: dict[Method[Any, Any], Handler] = {
            m.SESSION_UPDATE: registry.receive,
            m.SESSION_REQUEST_PERMISSION: self._permission,
            m.ELICITATION_CREATE: self._elicitation,
            m.ELICITATION_COMPLETE: self._page_done,
            m.MCP_MESSAGE: lambda params: registry.servers.served.serve(params),
        }
        if self.agent.unstable:
            table[m.AUTH_STATUS_UPDATE] = self._auth_status_changed
        return Routes(
            {**table, **self.workspace_routes()},
            other_request=handlers.request,
            other_notification=self.agent.interruptions.notification,
            unreadable=lambda *what: handlers.unreadable(registry.open, *what),
        )

    def workspace_routes(self) -> dict[Method[Any, Any], Handler]:
        """Return the handlers of requests for files and terminals."""
        return {}

    @abstractmethod
    def read_permission(self, session: Session, params: Any) -> PermissionRequest:
        """Read a permission request, and apply its changes to the tool call."""

    async def _permission(self, params: Any) -> Any:
        session = self.agent.registry.find(params.session_id)
        request = self.read_permission(session, params)
        try:
            chosen = await self.agent.handlers.permit(session, request)
        except asyncio.CancelledError:
            chosen = None
        types = self.types
        outcome = (
            types.CancelledPermissionOutcome() if chosen is None else types.SelectedPermissionOutcome(option_id=chosen)
        )
        return types.RequestPermissionResponse(outcome=outcome, meta=request.response_meta or UNSET)

    @abstractmethod
    def read_elicitation(self, params: Any) -> Elicitation:
        """Read a request for a form or page."""

    async def _elicitation(self, params: Any) -> Any:
        reply = await self.agent.handlers.elicit(self.agent, self.read_elicitation(params))
        meta = reply.meta or UNSET
        match reply.action:
            case "accept":
                content = UNSET if reply.content is None else reply.content
                return self.types.ElicitationAcceptAction(content=content, meta=meta)
            case "decline":
                return self.types.ElicitationDeclineAction(meta=meta)
            case _:
                return self.types.ElicitationCancelAction(meta=meta)

    def _page_done(self, params: Any) -> Any:
        """Report that the user is finished with a page. Reported once, and only for pages that were opened."""
        page = self.agent.handlers.close_page(params.elicitation_id)
        if page is None:
            return None
        event = PageDone(page.id or "", page.session_id, params.meta or None)
        session = self.agent.sessions.get(page.session_id or "")
        size = self.agent.connection.message_size
        if session is not None:
            session.push(event, size)
        self.agent.push(event, size)
        return self.agent.handlers.notification(self.methods.ELICITATION_COMPLETE.name, from_wire.plain(params))

    def _auth_status_changed(self, params: Any) -> Any:
        self.agent.push(from_wire.auth_status(params), self.agent.connection.message_size)
        return self.agent.handlers.notification(self.methods.AUTH_STATUS_UPDATE.name, from_wire.plain(params))

    # -- sessions

    async def new_session(self, setup: SessionSetup, made: Callable[[str, Any], Any]) -> None:
        """Create a session. `made` is called with its id and the response, in order with the other messages."""
        request = self.types.NewSessionRequest(**self.setup_fields(setup))
        await self._open_session(self.methods.SESSION_NEW, request, _with_id(made))

    async def fork_session(self, id: str, setup: SessionSetup, made: Callable[[str, Any], Any]) -> None:
        """Create a session with another one's history."""
        request = self.types.ForkSessionRequest(session_id=id, **self.setup_fields(setup))
        await self._open_session(self.methods.SESSION_FORK, request, _with_id(made))

    @abstractmethod
    async def open_session(self, id: str, setup: SessionSetup, *, replay: bool, then: Callable[[Any], None]) -> None:
        """Open a stored session. `then` is called with the response, in order with the other messages."""

    async def _open_session(self, method: Method[Any, Any], request: Any, then: Callable[[Any], None]) -> None:
        def on_response(done: asyncio.Future[Any]) -> None:
            if not done.exception():
                then(done.result())

        await self.connection.call(method, request, deadline=self.agent.deadline("session"), then=on_response)

    @abstractmethod
    def apply_opened(self, session: Session, response: Any) -> None:
        """Apply the options and commands of the response that opened a session."""

    async def list_sessions(
        self, cwd: str | None, cursor: str | None, archived: str | None
    ) -> tuple[list[SessionInfo], str | None]:
        """Return one page of sessions, and the cursor of the next."""
        request = self.types.ListSessionsRequest(
            cwd=UNSET if cwd is None else cwd,
            cursor=UNSET if cursor is None else cursor,
            archived=UNSET if archived is None else archived,
        )
        page = await self._call(self.methods.SESSION_LIST, request)
        return [from_wire.session_info(info) for info in page.sessions], from_wire.or_none(page.next_cursor)

    async def close_session(self, id: str) -> None:
        await self._call(self.methods.SESSION_CLOSE, self.types.CloseSessionRequest(session_id=id), "session")

    async def delete_session(self, id: str) -> None:
        await self._call(self.methods.SESSION_DELETE, self.types.DeleteSessionRequest(session_id=id), "session")

    def setup_fields(self, setup: SessionSetup) -> dict[str, Any]:
        """Return the fields for a session's directories and servers, for requests that create or open one."""
        return {
            "cwd": setup.cwd,
            "additional_directories": setup.directories,
            "mcp_servers": [self._server(server) for server in setup.servers],
            "system_prompt": self._system_prompt(setup.system_prompt),
            "meta": setup.meta or UNSET,
        }

    def _server(self, server: McpServer) -> Any:
        meta, types = server.meta or UNSET, self.types
        match server.transport:
            case "stdio":
                env = [types.EnvVariable(name=name, value=value) for name, value in server.env.items()]
                return types.McpServerStdio(
                    name=server.name, command=server.command, args=list(server.args), env=env, meta=meta
                )
            case "http" | "sse":
                kind = types.McpServerHttp if server.transport == "http" else types.McpServerSse
                headers = [types.HttpHeader(name=name, value=value) for name, value in server.headers.items()]
                return kind(name=server.name, url=server.url, headers=headers, meta=meta)
            case "acp":
                return types.McpServerAcp(name=server.name, server_id=server.server_id, meta=meta)
            case _:
                fields = {"type": server.transport, **(server.other or {}), "name": server.name}
                return Other.of(server.transport, fields)

    def _system_prompt(self, wanted: SystemPrompt | None) -> Any:
        if wanted is None:
            return UNSET
        content = wanted.content or [TextContent(wanted.text)]
        return self.types.SystemPrompt(mode=wanted.mode, content=content, meta=wanted.meta or UNSET)

    # -- turns

    def prompt_request(self, session_id: str, content: list[Content], meta: Meta | None) -> Any:
        """Build the params of `session/prompt`. Unknown content is sent as it was received."""
        pieces = [piece.data if isinstance(piece, UnknownContent) else piece for piece in content]
        return self.types.PromptRequest(session_id=session_id, prompt=pieces, meta=meta or UNSET)

    @abstractmethod
    def start_turn(self, session: Session, turn: Turn) -> None:
        """Send a prompt now, and end the turn when the agent does."""

    @abstractmethod
    async def cancel(self, session: Session) -> None:
        """Cancel the running turn."""

    @abstractmethod
    def set_option(self, session: Session, option: Option, value: str | bool) -> Awaitable[Any]:
        """Set an option."""

    def option_request(self, session: Session, option: Option, value: str | bool) -> Any:
        """Build the params of `session/set_config_option`."""
        kind = self.types.SetSessionConfigBoolean if isinstance(value, bool) else self.types.SetSessionConfigId
        return kind(session_id=session.id, config_id=option.id, value=value)

    def progress_reported(self, session: Session, event: Any) -> None:
        """Called when the agent has reported the session's state, or echoed a message of the user."""

    def questions_changed(self, session: Session) -> None:
        """Called when a request to the user is opened or closed."""

    def withdraw(self, turn: Turn) -> bool:
        """Withdraw a prompt that the agent hasn't started. Returns False if that isn't possible."""
        return False

    def session_ended(self, session: Session) -> None:
        """Called when a session or its connection has ended."""

    async def cancel_tool_call(self, session: Session, id: str) -> None:
        raise CapabilityError("version 1 can't cancel a single tool call; nothing was sent")

    async def cancel_terminal(self, session: Session, id: str) -> None:
        raise CapabilityError("version 1 has no terminals of the agent's own; nothing was sent")

    # -- logins

    @abstractmethod
    async def login(self, method_id: str) -> None:
        """Log in."""

    @abstractmethod
    async def logout(self) -> None:
        """Log out."""

    # -- unstable methods, alike in both versions

    async def archive_session(self, id: str, archived: bool) -> None:
        if archived:
            await self._call(self.methods.SESSION_ARCHIVE, self.types.ArchiveSessionRequest(session_id=id))
        else:
            await self._call(self.methods.SESSION_UNARCHIVE, self.types.UnarchiveSessionRequest(session_id=id))

    async def session_status(self, id: str) -> str:
        answer = await self._call(self.methods.SESSION_STATUS, self.types.SessionStatusRequest(session_id=id))
        return str(answer.status)

    async def set_title(self, id: str, title: str) -> str:
        request = self.types.SetSessionTitleRequest(session_id=id, title=title)
        return str((await self._call(self.methods.SESSION_SET_TITLE, request)).title)

    async def auth_status(self) -> AuthStatus:
        return from_wire.auth_status(await self._call(self.methods.AUTH_STATUS, self.types.AuthStatusRequest()))

    async def list_providers(self) -> list[Provider]:
        answer = await self._call(self.methods.PROVIDERS_LIST, self.types.ListProvidersRequest())
        return [from_wire.provider(info) for info in answer.providers]

    async def set_provider(self, id: str, config: ProviderConfig) -> None:
        request = self.types.SetProviderRequest(
            provider_id=id, api_type=config.api_type, base_url=config.base_url, meta=config.meta or UNSET
        )
        if config.headers:
            request.headers = config.headers
        await self._call(self.methods.PROVIDERS_SET, request)

    async def disable_provider(self, id: str) -> None:
        await self._call(self.methods.PROVIDERS_DISABLE, self.types.DisableProviderRequest(provider_id=id))


def _with_id(made: Callable[[str, Any], Any]) -> Callable[[Any], None]:
    return lambda response: made(response.session_id, response)


def is_given(value: Any) -> bool:
    """Return whether an optional field has a value; an empty object counts."""
    return value is not UNSET and value is not None


def system_prompt_modes(capability: Opt[SessionSystemPromptCapabilities]) -> frozenset[str]:
    """Return the modes besides `append` in which an agent accepts a system prompt."""
    modes = capability.mode if capability else None
    return frozenset({"override"} if modes and is_given(modes.override) else ())
