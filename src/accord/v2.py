"""Version 2 of the protocol for those who want the wire itself: every type, and connections that speak just them.

Each method of the protocol is a method here, its slashes read as underscores, taking and giving exactly the types of
the schema. `connect` is for clients, `serve` for agents; their `handlers` serve what the other side calls."""

from __future__ import annotations

from collections.abc import Awaitable

from accord.connection.limits import Limits
from accord.connection.typed import TypedConnection
from accord.schema import v2 as schema
from accord.schema.shape import UNSET, Other, UnsetType
from accord.schema.v2 import *  # noqa: F403  # the whole vocabulary is this module's subject
from accord.schema.v2 import methods as m
from accord.schema.wire import encode
from accord.transports.base import Transport

methods = m


class AgentConnection(TypedConnection):
    """What a client holds: typed calls to the agent at the other end."""

    async def initialize(self, params: schema.InitializeRequest) -> schema.InitializeResponse:
        return await self.call(m.INITIALIZE, params)

    async def auth_login(self, params: schema.LoginAuthRequest) -> schema.LoginAuthResponse:
        return await self.call(m.AUTH_LOGIN, params)

    async def auth_logout(self, params: schema.LogoutAuthRequest) -> schema.LogoutAuthResponse:
        return await self.call(m.AUTH_LOGOUT, params)

    async def auth_status(self, params: schema.AuthStatusRequest) -> schema.AuthStatusResponse:
        return await self.call(m.AUTH_STATUS, params)

    async def session_new(self, params: schema.NewSessionRequest) -> schema.NewSessionResponse:
        return await self.call(m.SESSION_NEW, params)

    async def session_resume(self, params: schema.ResumeSessionRequest) -> schema.ResumeSessionResponse:
        return await self.call(m.SESSION_RESUME, params)

    async def session_list(self, params: schema.ListSessionsRequest) -> schema.ListSessionsResponse:
        return await self.call(m.SESSION_LIST, params)

    async def session_close(self, params: schema.CloseSessionRequest) -> schema.CloseSessionResponse:
        return await self.call(m.SESSION_CLOSE, params)

    async def session_delete(self, params: schema.DeleteSessionRequest) -> schema.DeleteSessionResponse:
        return await self.call(m.SESSION_DELETE, params)

    async def session_fork(self, params: schema.ForkSessionRequest) -> schema.ForkSessionResponse:
        return await self.call(m.SESSION_FORK, params)

    async def session_archive(self, params: schema.ArchiveSessionRequest) -> schema.ArchiveSessionResponse:
        return await self.call(m.SESSION_ARCHIVE, params)

    async def session_unarchive(self, params: schema.UnarchiveSessionRequest) -> schema.UnarchiveSessionResponse:
        return await self.call(m.SESSION_UNARCHIVE, params)

    async def session_status(self, params: schema.SessionStatusRequest) -> schema.SessionStatusResponse:
        return await self.call(m.SESSION_STATUS, params)

    async def session_set_title(self, params: schema.SetSessionTitleRequest) -> schema.SetSessionTitleResponse:
        return await self.call(m.SESSION_SET_TITLE, params)

    async def session_prompt(self, params: schema.PromptRequest) -> schema.PromptResponse:
        return await self.call(m.SESSION_PROMPT, params)

    async def session_set_config_option(
        self, params: schema.SetSessionConfigOptionRequest
    ) -> schema.SetSessionConfigOptionResponse:
        return await self.call(m.SESSION_SET_CONFIG_OPTION, params)

    async def tool_call_cancel(self, params: schema.CancelToolCallRequest) -> schema.CancelToolCallResponse:
        return await self.call(m.TOOL_CALL_CANCEL, params)

    async def terminal_cancel(self, params: schema.CancelTerminalRequest) -> schema.CancelTerminalResponse:
        return await self.call(m.TERMINAL_CANCEL, params)

    async def providers_list(self, params: schema.ListProvidersRequest) -> schema.ListProvidersResponse:
        return await self.call(m.PROVIDERS_LIST, params)

    async def providers_set(self, params: schema.SetProviderRequest) -> schema.SetProviderResponse:
        return await self.call(m.PROVIDERS_SET, params)

    async def providers_disable(self, params: schema.DisableProviderRequest) -> schema.DisableProviderResponse:
        return await self.call(m.PROVIDERS_DISABLE, params)

    def session_cancel(self, params: schema.CancelSessionNotification) -> Awaitable[None]:
        return self.tell(m.SESSION_CANCEL, params)

    def mcp_message_notification(self, params: schema.MessageMcpNotification) -> Awaitable[None]:
        return self.tell(m.MCP_NOTIFICATION, params)


class ClientConnection(TypedConnection):
    """What an agent holds: typed calls to the client at the other end."""

    async def session_request_permission(
        self, params: schema.RequestPermissionRequest
    ) -> schema.RequestPermissionResponse:
        return await self.call(m.SESSION_REQUEST_PERMISSION, params)

    async def elicitation_create(self, params: schema.CreateElicitationRequest) -> schema.CreateElicitationResponse:
        return await self.call(m.ELICITATION_CREATE, params)

    async def mcp_message(self, params: schema.MessageMcpRequest) -> schema.MessageMcpResponse:
        return await self.call(m.MCP_MESSAGE, params)

    def session_update(self, params: schema.UpdateSessionNotification) -> Awaitable[None]:
        return self.tell(m.SESSION_UPDATE, params)

    def elicitation_complete(self, params: schema.CompleteElicitationNotification) -> Awaitable[None]:
        return self.tell(m.ELICITATION_COMPLETE, params)

    def auth_status_update(self, params: schema.AuthStatusUpdateNotification) -> Awaitable[None]:
        return self.tell(m.AUTH_STATUS_UPDATE, params)


def connect(
    transport: Transport, handlers: object, *, unstable: bool = False, limits: Limits | None = None
) -> AgentConnection:
    """Speaks to an agent over a transport; `handlers` serves what the agent asks and tells."""
    connection = AgentConnection(
        transport, handlers, methods=m, side="client", null_ids=False, unstable=unstable, limits=limits
    )
    connection.start()
    return connection


def serve(
    transport: Transport, handlers: object, *, unstable: bool = False, limits: Limits | None = None
) -> ClientConnection:
    """Speaks to a client over a transport; `handlers` serves what the client asks and tells."""
    connection = ClientConnection(
        transport, handlers, methods=m, side="agent", null_ids=False, unstable=unstable, limits=limits
    )
    connection.start()
    return connection


__all__ = [
    *schema.__all__,
    "UNSET",
    "AgentConnection",
    "ClientConnection",
    "Other",
    "UnsetType",
    "connect",
    "encode",
    "methods",
    "serve",
]
