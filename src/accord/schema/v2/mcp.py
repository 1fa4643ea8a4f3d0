"""MCP servers that the agent should use in a session."""

from __future__ import annotations

from accord.schema.common.mcp import EnvVariable, HttpHeader, McpServerAcp
from accord.schema.shape import UNSET, Message, NullIsEmpty, Open, Opt
from accord.schema.v2.values import AbsolutePath, Uri


class McpStdioCapabilities(Message):
    """Declares that the agent can start MCP servers as processes."""


class McpHttpCapabilities(Message):
    """Declares that the agent can reach MCP servers over HTTP."""


class McpAcpCapabilities(Message):
    """Declares that the agent can reach MCP servers through this connection."""


class McpCapabilities(Message):
    """Lists the transports of MCP servers that the agent supports."""

    stdio: Opt[McpStdioCapabilities] = UNSET
    http: Opt[McpHttpCapabilities] = UNSET
    acp: Opt[McpAcpCapabilities] = UNSET


class McpServerStdio(Message, tag_field="type", tag="stdio"):
    """An MCP server that the agent starts and communicates with over standard input and output."""

    name: str
    command: AbsolutePath
    args: NullIsEmpty[list[str]] = []
    env: NullIsEmpty[list[EnvVariable]] = []


class McpServerHttp(Message, tag_field="type", tag="http"):
    """An MCP server that the agent reaches over HTTP."""

    name: str
    url: Uri
    headers: NullIsEmpty[list[HttpHeader]] = []


McpServer = Open[McpServerStdio | McpServerHttp | McpServerAcp]
