"""Version 1 of the protocol for those who want the wire itself: every type, and connections that speak just them.

Each method of the protocol is a method here, its slashes read as underscores, taking and giving exactly the types of
the schema. `connect` is for clients, `serve` for agents; their `handlers` serve what the other side calls."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import Any

from accord.connection.limits import Limits
from accord.connection.typed import TypedConnection
from accord.schema import v1 as schema
from accord.schema.shape import UNSET, Other, UnsetType
from accord.schema.v1 import *  # noqa: F403  # the whole vocabulary is this module's subject
from accord.schema.v1 import methods as m
from accord.schema.wire import encode
from accord.transports.base import Transport

methods = m


class AgentConnection(TypedConnection):
    """What a client holds: typed calls to the agent at the other end."""

    def initialize(self, params: schema.InitializeRequest) -> Coroutine[Any, Any, schema.InitializeResponse]:
        return self.call(m.INITIALIZE, params)

    def authenticate(self, params: schema.AuthenticateRequest) -> Coroutine[Any, Any, schema.AuthenticateResponse]:
        return self.call(m.AUTHENTICATE, params)

    def logout(self, params: schema.LogoutRequest) -> Coroutine[Any, Any, schema.LogoutResponse]:
        return self.call(m.LOGOUT, params)

    def auth_status(self, params: schema.AuthStatusRequest) -> Coroutine[Any, Any, schema.AuthStatusResponse]:
        return self.call(m.AUTH_STATUS, params)

    def session_new(self, params: schema.NewSessionRequest) -> Coroutine[Any, Any, schema.NewSessionResponse]:
        return self.call(m.SESSION_NEW, params)

    def session_load(self, params: schema.LoadSessionRequest) -> Coroutine[Any, Any, schema.LoadSessionResponse]:
        return self.call(m.SESSION_LOAD, params)

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

    def session_set_mode(
        self, params: schema.SetSessionModeRequest
    ) -> Coroutine[Any, Any, schema.SetSessionModeResponse]:
        return self.call(m.SESSION_SET_MODE, params)

    def session_set_config_option(
        self, params: schema.SetSessionConfigOptionRequest
    ) -> Coroutine[Any, Any, schema.SetSessionConfigOptionResponse]:
        return self.call(m.SESSION_SET_CONFIG_OPTION, params)

    def session_set_model(
        self, params: schema.SetSessionModelRequest
    ) -> Coroutine[Any, Any, schema.SetSessionModelResponse]:
        return self.call(m.SESSION_SET_MODEL, params)

    def providers_list(self, params: schema.ListProvidersRequest) -> Coroutine[Any, Any, schema.ListProvidersResponse]:
        return self.call(m.PROVIDERS_LIST, params)

    def providers_set(self, params: schema.SetProviderRequest) -> Coroutine[Any, Any, schema.SetProviderResponse]:
        return self.call(m.PROVIDERS_SET, params)

    def providers_disable(
        self, params: schema.DisableProviderRequest
    ) -> Coroutine[Any, Any, schema.DisableProviderResponse]:
        return self.call(m.PROVIDERS_DISABLE, params)

    def session_cancel(self, params: schema.CancelNotification) -> Awaitable[None]:
        return self.tell(m.SESSION_CANCEL, params)

    def mcp_message_notification(self, params: schema.MessageMcpNotification) -> Awaitable[None]:
        return self.tell(m.MCP_NOTIFICATION, params)


class ClientConnection(TypedConnection):
    """What an agent holds: typed calls to the client at the other end."""

    def session_request_permission(
        self, params: schema.RequestPermissionRequest
    ) -> Coroutine[Any, Any, schema.RequestPermissionResponse]:
        return self.call(m.SESSION_REQUEST_PERMISSION, params)

    def fs_read_text_file(self, params: schema.ReadTextFileRequest) -> Coroutine[Any, Any, schema.ReadTextFileResponse]:
        return self.call(m.FS_READ_TEXT_FILE, params)

    def fs_write_text_file(
        self, params: schema.WriteTextFileRequest
    ) -> Coroutine[Any, Any, schema.WriteTextFileResponse]:
        return self.call(m.FS_WRITE_TEXT_FILE, params)

    def terminal_create(
        self, params: schema.CreateTerminalRequest
    ) -> Coroutine[Any, Any, schema.CreateTerminalResponse]:
        return self.call(m.TERMINAL_CREATE, params)

    def terminal_output(
        self, params: schema.TerminalOutputRequest
    ) -> Coroutine[Any, Any, schema.TerminalOutputResponse]:
        return self.call(m.TERMINAL_OUTPUT, params)

    def terminal_wait_for_exit(
        self, params: schema.WaitForTerminalExitRequest
    ) -> Coroutine[Any, Any, schema.WaitForTerminalExitResponse]:
        return self.call(m.TERMINAL_WAIT_FOR_EXIT, params)

    def terminal_kill(self, params: schema.KillTerminalRequest) -> Coroutine[Any, Any, schema.KillTerminalResponse]:
        return self.call(m.TERMINAL_KILL, params)

    def terminal_release(
        self, params: schema.ReleaseTerminalRequest
    ) -> Coroutine[Any, Any, schema.ReleaseTerminalResponse]:
        return self.call(m.TERMINAL_RELEASE, params)

    def elicitation_create(
        self, params: schema.CreateElicitationRequest
    ) -> Coroutine[Any, Any, schema.CreateElicitationResponse]:
        return self.call(m.ELICITATION_CREATE, params)

    def mcp_message(self, params: schema.MessageMcpRequest) -> Coroutine[Any, Any, schema.MessageMcpResponse]:
        return self.call(m.MCP_MESSAGE, params)

    def session_update(self, params: schema.SessionNotification) -> Awaitable[None]:
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
        transport, handlers, methods=m, side="client", null_ids=True, unstable=unstable, limits=limits
    )
    connection.start()
    return connection


def serve(
    transport: Transport, handlers: object, *, unstable: bool = False, limits: Limits | None = None
) -> ClientConnection:
    """Speaks to a client over a transport; `handlers` serves what the client asks and tells."""
    connection = ClientConnection(
        transport, handlers, methods=m, side="agent", null_ids=True, unstable=unstable, limits=limits
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
