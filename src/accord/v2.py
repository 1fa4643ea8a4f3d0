"""Version 2 of the protocol for those who want the wire itself: every type, and connections that speak just them.

Each method of the protocol is a method here, its slashes read as underscores, taking and giving exactly the types of
the schema. `connect` is for clients, `serve` for agents; their `handlers` serve what the other side calls."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import Any

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

    def initialize(self, params: schema.InitializeRequest) -> Coroutine[Any, Any, schema.InitializeResponse]:
        return self.call(m.INITIALIZE, params)

    def auth_login(self, params: schema.LoginAuthRequest) -> Coroutine[Any, Any, schema.LoginAuthResponse]:
        return self.call(m.AUTH_LOGIN, params)

    def auth_logout(self, params: schema.LogoutAuthRequest) -> Coroutine[Any, Any, schema.LogoutAuthResponse]:
        return self.call(m.AUTH_LOGOUT, params)

    def auth_status(self, params: schema.AuthStatusRequest) -> Coroutine[Any, Any, schema.AuthStatusResponse]:
        return self.call(m.AUTH_STATUS, params)

    def session_new(self, params: schema.NewSessionRequest) -> Coroutine[Any, Any, schema.NewSessionResponse]:
        return self.call(m.SESSION_NEW, params)

    def session_resume(self, params: schema.ResumeSessionRequest) -> Coroutine[Any, Any, schema.ResumeSessionResponse]:
        return self.call(m.SESSION_RESUME, params)

    def session_list(self, params: schema.ListSessionsRequest) -> Coroutine[Any, Any, schema.ListSessionsResponse]:
        return self.call(m.SESSION_LIST, params)

    def session_close(self, params: schema.CloseSessionRequest) -> Coroutine[Any, Any, schema.CloseSessionResponse]:
        return self.call(m.SESSION_CLOSE, params)

    def session_delete(self, params: schema.DeleteSessionRequest) -> Coroutine[Any, Any, schema.DeleteSessionResponse]:
        return self.call(m.SESSION_DELETE, params)

    def session_fork(self, params: schema.ForkSessionRequest) -> Coroutine[Any, Any, schema.ForkSessionResponse]:
        return self.call(m.SESSION_FORK, params)

    def session_archive(
        self, params: schema.ArchiveSessionRequest
    ) -> Coroutine[Any, Any, schema.ArchiveSessionResponse]:
        return self.call(m.SESSION_ARCHIVE, params)

    def session_unarchive(
        self, params: schema.UnarchiveSessionRequest
    ) -> Coroutine[Any, Any, schema.UnarchiveSessionResponse]:
        return self.call(m.SESSION_UNARCHIVE, params)

    def session_status(self, params: schema.SessionStatusRequest) -> Coroutine[Any, Any, schema.SessionStatusResponse]:
        return self.call(m.SESSION_STATUS, params)

    def session_set_title(
        self, params: schema.SetSessionTitleRequest
    ) -> Coroutine[Any, Any, schema.SetSessionTitleResponse]:
        return self.call(m.SESSION_SET_TITLE, params)

    def session_prompt(self, params: schema.PromptRequest) -> Coroutine[Any, Any, schema.PromptResponse]:
        return self.call(m.SESSION_PROMPT, params)

    def session_set_config_option(
        self, params: schema.SetSessionConfigOptionRequest
    ) -> Coroutine[Any, Any, schema.SetSessionConfigOptionResponse]:
        return self.call(m.SESSION_SET_CONFIG_OPTION, params)

    def tool_call_cancel(
        self, params: schema.CancelToolCallRequest
    ) -> Coroutine[Any, Any, schema.CancelToolCallResponse]:
        return self.call(m.TOOL_CALL_CANCEL, params)

    def terminal_cancel(
        self, params: schema.CancelTerminalRequest
    ) -> Coroutine[Any, Any, schema.CancelTerminalResponse]:
        return self.call(m.TERMINAL_CANCEL, params)

    def providers_list(self, params: schema.ListProvidersRequest) -> Coroutine[Any, Any, schema.ListProvidersResponse]:
        return self.call(m.PROVIDERS_LIST, params)

    def providers_set(self, params: schema.SetProviderRequest) -> Coroutine[Any, Any, schema.SetProviderResponse]:
        return self.call(m.PROVIDERS_SET, params)

    def providers_disable(
        self, params: schema.DisableProviderRequest
    ) -> Coroutine[Any, Any, schema.DisableProviderResponse]:
        return self.call(m.PROVIDERS_DISABLE, params)

    def session_cancel(self, params: schema.CancelSessionNotification) -> Awaitable[None]:
        return self.tell(m.SESSION_CANCEL, params)

    def mcp_message_notification(self, params: schema.MessageMcpNotification) -> Awaitable[None]:
        return self.tell(m.MCP_NOTIFICATION, params)


class ClientConnection(TypedConnection):
    """What an agent holds: typed calls to the client at the other end."""

    def session_request_permission(
        self, params: schema.RequestPermissionRequest
    ) -> Coroutine[Any, Any, schema.RequestPermissionResponse]:
        return self.call(m.SESSION_REQUEST_PERMISSION, params)

    def elicitation_create(
        self, params: schema.CreateElicitationRequest
    ) -> Coroutine[Any, Any, schema.CreateElicitationResponse]:
        return self.call(m.ELICITATION_CREATE, params)

    def mcp_message(self, params: schema.MessageMcpRequest) -> Coroutine[Any, Any, schema.MessageMcpResponse]:
        return self.call(m.MCP_MESSAGE, params)

    def session_update(self, params: schema.UpdateSessionNotification) -> Awaitable[None]:
        return self.connection.tell(m.SESSION_UPDATE, params)

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
