"""An MCP server that is an object of the official SDK and runs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import Any, Protocol, runtime_checkable

from accord.errors import ConnectionClosed, LaunchError, UsageError
from accord.mcp.link import Message, ServerLink
from accord.version import install_command

CLOSING_SECONDS = 2.0
"""How long a server may take to end before it is cancelled."""


@runtime_checkable
class ServerObject(Protocol):
    """The part of a low-level server of the SDK that runs it."""

    name: str

    def run(self, read_stream: Any, write_stream: Any, initialization_options: Any) -> Awaitable[None]: ...

    def create_initialization_options(self) -> Any: ...


def is_server_object(server: Any) -> bool:
    """Return whether an object is a server of the official SDK, without importing the SDK."""
    return isinstance(getattr(server, "_lowlevel_server", server), ServerObject)


def lowlevel_server(server: Any) -> ServerObject:
    """Return the SDK's low-level server of a server object. Raises `UsageError` if it is something else.

    `MCPServer` has no public way to run over given streams; the SDK's own in-memory client does the same."""
    inner = getattr(server, "_lowlevel_server", server)
    if isinstance(inner, ServerObject):
        return inner
    raise UsageError(
        f"{type(server).__name__} is not an MCP server; it must be an mcp.server.mcpserver.MCPServer, "
        "an mcp.server.lowlevel.Server, or an accord.McpServer with a command"
    )


class ObjectLink(ServerLink):
    """A server object, which runs as a task."""

    def __init__(self, server: Any, *, is_modern: bool | None = True) -> None:
        self.is_modern = is_modern
        self._server = lowlevel_server(server)
        self._task: asyncio.Task[None] | None = None
        self._streams: tuple[Any, Any] | None = None
        self._related: Any = None
        self._error: BaseException | None = None
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        try:
            from mcp.shared.memory import create_client_server_memory_streams
        except ImportError as error:
            raise LaunchError(
                f"MCP servers need a package that is missing ({error}): {install_command('mcp')}"
            ) from None
        ours, theirs = await self._stack.enter_async_context(create_client_server_memory_streams())
        self._streams = ours
        self._task = asyncio.ensure_future(self._server.run(*theirs, self._server.create_initialization_options()))
        self._task.add_done_callback(lambda _: theirs[1].close())

    async def send(self, message: Message) -> None:
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self._streams is not None
        try:
            await self._streams[1].send(SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False)))
        except (BrokenResourceError, ClosedResourceError):
            raise ConnectionClosed("the MCP server has ended") from None

    async def receive(self) -> Message | None:
        from anyio import ClosedResourceError, EndOfStream
        from mcp.shared.message import ServerMessageMetadata

        assert self._streams is not None
        try:
            item = await self._streams[0].receive()
        except (EndOfStream, ClosedResourceError):
            return None
        if isinstance(item, Exception):
            return {}
        self._related = None
        if isinstance(item.metadata, ServerMessageMetadata):
            self._related = item.metadata.related_request_id
        message: Message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return message

    def related_request(self, message: Message) -> Any:
        return self._related

    async def close(self) -> None:
        if self._streams is not None:
            await self._streams[1].aclose()  # the end of its input ends the server
        if self._task is not None and self._task is not asyncio.current_task():
            await asyncio.wait({self._task}, timeout=CLOSING_SECONDS)
            self._task.cancel()
            await asyncio.wait({self._task})
        await self._stack.aclose()

    def why(self) -> str:
        task = self._task
        error = task.exception() if task is not None and task.done() and not task.cancelled() else None
        return f"it ended with {type(error).__name__}: {error}" if error is not None else "it has ended"
