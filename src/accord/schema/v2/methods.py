"""The methods of version 2: the side that serves each one, and the types of its params and result."""

from __future__ import annotations

from typing import Any, cast

from accord.schema.common.auth import AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification
from accord.schema.common.elicitation import CompleteElicitationNotification
from accord.schema.common.mcp import MessageMcpNotification, MessageMcpRequest, MessageMcpResponse
from accord.schema.common.provider import (
    DisableProviderRequest,
    DisableProviderResponse,
    ListProvidersRequest,
    SetProviderResponse,
)
from accord.schema.common.proxy import ProxySuccessorNotification, ProxySuccessorRequest, ProxySuccessorResponse
from accord.schema.common.session import (
    ArchiveSessionRequest,
    ArchiveSessionResponse,
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    SessionStatusRequest,
    SetSessionTitleRequest,
    SetSessionTitleResponse,
    UnarchiveSessionRequest,
    UnarchiveSessionResponse,
)
from accord.schema.method import Method, by_name
from accord.schema.v2.auth import LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse
from accord.schema.v2.config import SetSessionConfigOptionRequest, SetSessionConfigOptionResponse
from accord.schema.v2.elicitation import CreateElicitationRequest, CreateElicitationResponse
from accord.schema.v2.initialize import (
    InitializeProxyRequest,
    InitializeProxyResponse,
    InitializeRequest,
    InitializeResponse,
)
from accord.schema.v2.permission import RequestPermissionRequest, RequestPermissionResponse
from accord.schema.v2.prompt import PromptRequest, PromptResponse
from accord.schema.v2.provider import ListProvidersResponse, SetProviderRequest
from accord.schema.v2.session import (
    CancelSessionNotification,
    ForkSessionRequest,
    ForkSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionStatusResponse,
)
from accord.schema.v2.terminal import CancelTerminalRequest, CancelTerminalResponse
from accord.schema.v2.tool_call import CancelToolCallRequest, CancelToolCallResponse
from accord.schema.v2.update import UpdateSessionNotification

# Served by the agent

INITIALIZE = Method(name="initialize", served_by="agent", params=InitializeRequest, result=InitializeResponse)
AUTH_LOGIN = Method(name="auth/login", served_by="agent", params=LoginAuthRequest, result=LoginAuthResponse)
AUTH_LOGOUT = Method(name="auth/logout", served_by="agent", params=LogoutAuthRequest, result=LogoutAuthResponse)
AUTH_STATUS = Method(
    name="auth/status", served_by="agent", params=AuthStatusRequest, result=AuthStatusResponse, unstable=True
)
SESSION_NEW = Method(name="session/new", served_by="agent", params=NewSessionRequest, result=NewSessionResponse)
SESSION_RESUME = Method(
    name="session/resume", served_by="agent", params=ResumeSessionRequest, result=ResumeSessionResponse
)
SESSION_LIST = Method(name="session/list", served_by="agent", params=ListSessionsRequest, result=ListSessionsResponse)
SESSION_CLOSE = Method(name="session/close", served_by="agent", params=CloseSessionRequest, result=CloseSessionResponse)
SESSION_DELETE = Method(
    name="session/delete", served_by="agent", params=DeleteSessionRequest, result=DeleteSessionResponse
)
SESSION_FORK = Method(
    name="session/fork", served_by="agent", params=ForkSessionRequest, result=ForkSessionResponse, unstable=True
)
SESSION_ARCHIVE = Method(
    name="session/archive",
    served_by="agent",
    params=ArchiveSessionRequest,
    result=ArchiveSessionResponse,
    unstable=True,
)
SESSION_UNARCHIVE = Method(
    name="session/unarchive",
    served_by="agent",
    params=UnarchiveSessionRequest,
    result=UnarchiveSessionResponse,
    unstable=True,
)
SESSION_STATUS = Method(
    name="session/status",
    served_by="agent",
    params=SessionStatusRequest,
    result=SessionStatusResponse,
    unstable=True,
)
SESSION_SET_TITLE = Method(
    name="session/set_title",
    served_by="agent",
    params=SetSessionTitleRequest,
    result=SetSessionTitleResponse,
    unstable=True,
)
SESSION_PROMPT = Method(name="session/prompt", served_by="agent", params=PromptRequest, result=PromptResponse)
SESSION_CANCEL: Method[CancelSessionNotification, None] = Method(
    name="session/cancel", served_by="agent", params=CancelSessionNotification
)
SESSION_SET_CONFIG_OPTION: Method[SetSessionConfigOptionRequest, SetSessionConfigOptionResponse] = Method(
    name="session/set_config_option",
    served_by="agent",
    params=cast("Any", SetSessionConfigOptionRequest),
    result=SetSessionConfigOptionResponse,
)
TOOL_CALL_CANCEL = Method(
    name="tool_call/cancel", served_by="agent", params=CancelToolCallRequest, result=CancelToolCallResponse
)
TERMINAL_CANCEL = Method(
    name="terminal/cancel", served_by="agent", params=CancelTerminalRequest, result=CancelTerminalResponse
)
PROVIDERS_LIST = Method(
    name="providers/list", served_by="agent", params=ListProvidersRequest, result=ListProvidersResponse, unstable=True
)
PROVIDERS_SET = Method(
    name="providers/set", served_by="agent", params=SetProviderRequest, result=SetProviderResponse, unstable=True
)
PROVIDERS_DISABLE = Method(
    name="providers/disable",
    served_by="agent",
    params=DisableProviderRequest,
    result=DisableProviderResponse,
    unstable=True,
)
MCP_NOTIFICATION: Method[MessageMcpNotification, None] = Method(
    name="mcp/message", served_by="agent", params=MessageMcpNotification, unstable=True
)

# Served by the client

SESSION_UPDATE: Method[UpdateSessionNotification, None] = Method(
    name="session/update", served_by="client", params=UpdateSessionNotification
)
SESSION_REQUEST_PERMISSION = Method(
    name="session/request_permission",
    served_by="client",
    params=RequestPermissionRequest,
    result=RequestPermissionResponse,
)
ELICITATION_CREATE: Method[CreateElicitationRequest, CreateElicitationResponse] = Method(
    name="elicitation/create",
    served_by="client",
    params=cast("Any", CreateElicitationRequest),
    result=cast("Any", CreateElicitationResponse),
)
ELICITATION_COMPLETE: Method[CompleteElicitationNotification, None] = Method(
    name="elicitation/complete", served_by="client", params=CompleteElicitationNotification
)
AUTH_STATUS_UPDATE: Method[AuthStatusUpdateNotification, None] = Method(
    name="auth/status_update", served_by="client", params=AuthStatusUpdateNotification, unstable=True
)
MCP_MESSAGE: Method[MessageMcpRequest, MessageMcpResponse] = Method(
    name="mcp/message",
    served_by="client",
    params=MessageMcpRequest,
    result=cast("Any", MessageMcpResponse),
    unstable=True,
)

# Between a proxy and its conductor

PROXY_INITIALIZE = Method(
    name="proxy/initialize",
    served_by="proxy",
    params=InitializeProxyRequest,
    result=InitializeProxyResponse,
    unstable=True,
)
PROXY_SUCCESSOR: Method[ProxySuccessorRequest, ProxySuccessorResponse] = Method(
    name="proxy/successor",
    served_by="proxy",
    params=ProxySuccessorRequest,
    result=cast("Any", ProxySuccessorResponse),
    unstable=True,
)
PROXY_SUCCESSOR_NOTIFICATION: Method[ProxySuccessorNotification, None] = Method(
    name="proxy/successor", served_by="proxy", params=ProxySuccessorNotification, unstable=True
)

REQUESTS = by_name(
    INITIALIZE,
    AUTH_LOGIN,
    AUTH_LOGOUT,
    AUTH_STATUS,
    SESSION_NEW,
    SESSION_RESUME,
    SESSION_LIST,
    SESSION_CLOSE,
    SESSION_DELETE,
    SESSION_FORK,
    SESSION_ARCHIVE,
    SESSION_UNARCHIVE,
    SESSION_STATUS,
    SESSION_SET_TITLE,
    SESSION_PROMPT,
    SESSION_SET_CONFIG_OPTION,
    TOOL_CALL_CANCEL,
    TERMINAL_CANCEL,
    PROVIDERS_LIST,
    PROVIDERS_SET,
    PROVIDERS_DISABLE,
    SESSION_REQUEST_PERMISSION,
    ELICITATION_CREATE,
    MCP_MESSAGE,
    PROXY_INITIALIZE,
    PROXY_SUCCESSOR,
)
NOTIFICATIONS = by_name(
    SESSION_CANCEL,
    SESSION_UPDATE,
    ELICITATION_COMPLETE,
    AUTH_STATUS_UPDATE,
    MCP_NOTIFICATION,
    PROXY_SUCCESSOR_NOTIFICATION,
)
METHODS = {**NOTIFICATIONS, **REQUESTS}
"""Every method by name. If a name is both a request and a notification, this has the request."""
