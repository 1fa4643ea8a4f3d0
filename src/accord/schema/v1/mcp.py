"""The MCP servers of a session."""

from __future__ import annotations

from typing import ClassVar, Union

from accord.schema.common.mcp import EnvVariable, HttpHeader, McpServerAcp
from accord.schema.shape import Either, Expected, Message, NullIsEmpty


class McpCapabilities(Message):
    """Lists the transports of MCP servers that the agent supports besides standard input and output."""

    http: bool = False
    sse: bool = False
    acp: bool = False


class McpServerHttp(Message, tag_field="type", tag="http"):
    """An MCP server that is reached over HTTP."""

    name: str
    url: str
    headers: Expected[NullIsEmpty[list[HttpHeader]]] = []


class McpServerSse(Message, tag_field="type", tag="sse"):
    """An MCP server that is reached over HTTP with server-sent events."""

    name: str
    url: str
    headers: Expected[NullIsEmpty[list[HttpHeader]]] = []


class McpServerStdio(Message):
    """An MCP server that the agent starts and communicates with over standard input and output."""

    ALSO: ClassVar[tuple[str, ...]] = ("stdio",)
    """The `type` that version 2 requires. Clients that share code for both versions also send it in version 1."""

    name: str
    command: str
    args: Expected[NullIsEmpty[list[str]]] = []
    env: Expected[NullIsEmpty[list[EnvVariable]]] = []


McpServer = Either[Union[McpServerHttp, McpServerSse, McpServerAcp], McpServerStdio]
