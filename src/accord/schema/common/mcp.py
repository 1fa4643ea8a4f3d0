"""MCP servers that the client itself offers, and the messages that carry theirs."""

from __future__ import annotations

from typing import Any

from accord.schema.common.ids import McpRequestId, McpServerAcpId
from accord.schema.common.numbers import Int32
from accord.schema.shape import UNSET, Either, Message, Opt, Strict


class EnvVariable(Message):
    """One variable of a process's environment."""

    name: str
    value: str


class HttpHeader(Message):
    """One header to send with every request to a server."""

    name: str
    value: str


class McpServerAcp(Message, tag_field="type", tag="acp"):
    """An MCP server that is reached through this connection."""

    name: str
    server_id: McpServerAcpId


class McpError(Message):
    """The error response of an MCP server."""

    code: Int32
    message: str
    data: Strict[Any] = UNSET


class MessageMcpRequest(Message):
    """Carries an MCP request to a server behind the client."""

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: Strict[Opt[dict[str, Any]]] = UNSET


class MessageMcpNotification(Message):
    """Carries an MCP notification that belongs to a request."""

    server_id: McpServerAcpId
    request_id: McpRequestId
    method: str
    params: Strict[Opt[dict[str, Any]]] = UNSET


class MessageMcpResult(Message):
    """Carries the result of an MCP request."""

    result: Any


class MessageMcpError(Message):
    """Carries the error of an MCP request."""

    error: McpError


MessageMcpResponse = Either[MessageMcpResult, MessageMcpError]
