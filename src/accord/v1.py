"""The wire API of version 1: every type of the protocol, and typed connections.

Each protocol method is a Python method here, with underscores instead of slashes, and takes and returns the types of
the schema. `connect` is for clients, `serve` for agents; their `handlers` handle the other side's calls."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any

from accord.connection.limits import Limits
from accord.connection.typed_connection import Handlers, Result, TypedConnection
from accord.schema import v1 as schema
from accord.schema.shape import UNSET, Other, UnsetType
from accord.schema.v1 import *  # noqa: F403  # this module exports every type
from accord.schema.v1 import methods as m
from accord.schema.wire import encode
from accord.transports.base import Transport

methods = m


class AgentConnection(TypedConnection):
    """A client's connection: typed calls to the agent."""

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
    """An agent's connection: typed calls to the client."""

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


class AgentHandlers(Handlers, methods=m, side="agent"):
    """Base class of an agent's handlers, for `serve`. Define the methods to handle; each may be plain or async.

    Type checkers compare them with the schema, and a misspelled one is reported when the class is created."""

    if TYPE_CHECKING:

        def initialize(self, params: schema.InitializeRequest) -> Result[schema.InitializeResponse]:
            raise NotImplementedError

        def authenticate(self, params: schema.AuthenticateRequest) -> Result[schema.AuthenticateResponse]:
            raise NotImplementedError

        def logout(self, params: schema.LogoutRequest) -> Result[schema.LogoutResponse]:
            raise NotImplementedError

        def auth_status(self, params: schema.AuthStatusRequest) -> Result[schema.AuthStatusResponse]:
            raise NotImplementedError

        def session_new(self, params: schema.NewSessionRequest) -> Result[schema.NewSessionResponse]:
            raise NotImplementedError

        def session_load(self, params: schema.LoadSessionRequest) -> Result[schema.LoadSessionResponse]:
            raise NotImplementedError

        def session_resume(self, params: schema.ResumeSessionRequest) -> Result[schema.ResumeSessionResponse]:
            raise NotImplementedError

        def session_list(self, params: schema.ListSessionsRequest) -> Result[schema.ListSessionsResponse]:
            raise NotImplementedError

        def session_close(self, params: schema.CloseSessionRequest) -> Result[schema.CloseSessionResponse]:
            raise NotImplementedError

        def session_delete(self, params: schema.DeleteSessionRequest) -> Result[schema.DeleteSessionResponse]:
            raise NotImplementedError

        def session_fork(self, params: schema.ForkSessionRequest) -> Result[schema.ForkSessionResponse]:
            raise NotImplementedError

        def session_archive(self, params: schema.ArchiveSessionRequest) -> Result[schema.ArchiveSessionResponse]:
            raise NotImplementedError

        def session_unarchive(self, params: schema.UnarchiveSessionRequest) -> Result[schema.UnarchiveSessionResponse]:
            raise NotImplementedError

        def session_status(self, params: schema.SessionStatusRequest) -> Result[schema.SessionStatusResponse]:
            raise NotImplementedError

        def session_set_title(self, params: schema.SetSessionTitleRequest) -> Result[schema.SetSessionTitleResponse]:
            raise NotImplementedError

        def session_prompt(self, params: schema.PromptRequest) -> Result[schema.PromptResponse]:
            raise NotImplementedError

        def session_set_mode(self, params: schema.SetSessionModeRequest) -> Result[schema.SetSessionModeResponse]:
            raise NotImplementedError

        def session_set_config_option(
            self, params: schema.SetSessionConfigOptionRequest
        ) -> Result[schema.SetSessionConfigOptionResponse]:
            raise NotImplementedError

        def session_set_model(self, params: schema.SetSessionModelRequest) -> Result[schema.SetSessionModelResponse]:
            raise NotImplementedError

        def providers_list(self, params: schema.ListProvidersRequest) -> Result[schema.ListProvidersResponse]:
            raise NotImplementedError

        def providers_set(self, params: schema.SetProviderRequest) -> Result[schema.SetProviderResponse]:
            raise NotImplementedError

        def providers_disable(self, params: schema.DisableProviderRequest) -> Result[schema.DisableProviderResponse]:
            raise NotImplementedError

        def session_cancel(self, params: schema.CancelNotification) -> Result[None]:
            raise NotImplementedError

        def mcp_message_notification(self, params: schema.MessageMcpNotification) -> Result[None]:
            raise NotImplementedError


class ClientHandlers(Handlers, methods=m, side="client"):
    """Base class of a client's handlers, for `connect`. Define the methods to handle; each may be plain or async.

    Type checkers compare them with the schema, and a misspelled one is reported when the class is created."""

    if TYPE_CHECKING:

        def session_request_permission(
            self, params: schema.RequestPermissionRequest
        ) -> Result[schema.RequestPermissionResponse]:
            raise NotImplementedError

        def fs_read_text_file(self, params: schema.ReadTextFileRequest) -> Result[schema.ReadTextFileResponse]:
            raise NotImplementedError

        def fs_write_text_file(self, params: schema.WriteTextFileRequest) -> Result[schema.WriteTextFileResponse]:
            raise NotImplementedError

        def terminal_create(self, params: schema.CreateTerminalRequest) -> Result[schema.CreateTerminalResponse]:
            raise NotImplementedError

        def terminal_output(self, params: schema.TerminalOutputRequest) -> Result[schema.TerminalOutputResponse]:
            raise NotImplementedError

        def terminal_wait_for_exit(
            self, params: schema.WaitForTerminalExitRequest
        ) -> Result[schema.WaitForTerminalExitResponse]:
            raise NotImplementedError

        def terminal_kill(self, params: schema.KillTerminalRequest) -> Result[schema.KillTerminalResponse]:
            raise NotImplementedError

        def terminal_release(self, params: schema.ReleaseTerminalRequest) -> Result[schema.ReleaseTerminalResponse]:
            raise NotImplementedError

        def elicitation_create(
            self, params: schema.CreateElicitationRequest
        ) -> Result[schema.CreateElicitationResponse]:
            raise NotImplementedError

        def mcp_message(self, params: schema.MessageMcpRequest) -> Result[schema.MessageMcpResponse]:
            raise NotImplementedError

        def session_update(self, params: schema.SessionNotification) -> Result[None]:
            raise NotImplementedError

        def elicitation_complete(self, params: schema.CompleteElicitationNotification) -> Result[None]:
            raise NotImplementedError

        def auth_status_update(self, params: schema.AuthStatusUpdateNotification) -> Result[None]:
            raise NotImplementedError


def connect(
    transport: Transport, handlers: object, *, unstable: bool = False, limits: Limits | None = None
) -> AgentConnection:
    """Connect to an agent over a transport. `handlers` handles the agent's requests and notifications."""
    connection = AgentConnection(
        transport, handlers, methods=m, side="client", null_ids=True, unstable=unstable, limits=limits
    )
    connection.start()
    return connection


def serve(
    transport: Transport, handlers: object, *, unstable: bool = False, limits: Limits | None = None
) -> ClientConnection:
    """Serve a client over a transport. `handlers` handles the client's requests and notifications."""
    connection = ClientConnection(
        transport, handlers, methods=m, side="agent", null_ids=True, unstable=unstable, limits=limits
    )
    connection.start()
    return connection


__all__ = [
    *schema.__all__,
    "UNSET",
    "AgentConnection",
    "AgentHandlers",
    "ClientConnection",
    "ClientHandlers",
    "Other",
    "UnsetType",
    "connect",
    "encode",
    "methods",
    "serve",
]
