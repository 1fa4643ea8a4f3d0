"""MCP over stdio: our own process code starts and stops the server; its lines become messages of the SDK."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from accord.coder.mcp.errors import describe_stderr
from accord.config.environment import environment
from accord.errors import ConnectionClosed, PeerDied
from accord.process.child import describe_exit
from accord.transports.subprocess import SubprocessTransport

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

    from accord.coder.mcp.sdk import Sdk
    from accord.model.requests import McpServer

DIAGNOSIS_SECONDS = 4.0
"""How long to wait for the cause when a connection breaks."""
MAX_QUEUED_LINES = 256
"""With more messages queued, reading from the server pauses."""


class Lines:
    """A server's pipes as the pair of streams that the SDK expects."""

    def __init__(self, sdk: Sdk, transport: SubprocessTransport, on_end: Callable[[], None]) -> None:
        self.transport = transport
        self.stray: str = ""
        """The first stray line on its standard output."""
        self._sdk = sdk
        self._on_end = on_end
        self._error: Exception | None = None
        self._lines: deque[bytes | Exception] = deque()
        self._arrived = asyncio.Event()
        self._ended = asyncio.Event()

    # -- called by the transport

    def on_lines(self, block: bytes) -> None:
        self._lines.extend(line for line in block.split(b"\n") if line.strip())
        if len(self._lines) > MAX_QUEUED_LINES:
            self.transport.pause()
        self._arrived.set()

    def on_oversized(self, head: bytes, size: int) -> None:
        self._lines.append(ValueError(f"skipped a message of {size} bytes: it is too long"))
        self._arrived.set()

    def on_end(self, error: Exception | None) -> None:
        self._error = error
        self._ended.set()
        self._arrived.set()
        self._on_end()

    # -- reading

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while not self._lines:
            if self._ended.is_set():
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        line = self._lines.popleft()
        if not self._lines:
            self.transport.resume()
        return line if isinstance(line, Exception) else self._message(line)

    receive = __anext__

    def _message(self, line: bytes) -> SessionMessage | Exception:
        read = self._sdk.types.jsonrpc_message_adapter.validate_json
        try:
            message = read(line, by_name=False)
        except ValueError as error:
            try:
                message = read(_repair(line), by_name=False)
            except ValueError:
                self.stray = self.stray or line[:200].decode("utf-8", "replace")
                return error
        return self._sdk.SessionMessage(message)

    # -- writing

    async def send(self, item: SessionMessage, /) -> None:
        import anyio

        data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            await self.transport.send(data)
        except ConnectionClosed:
            # A server that exits at once can break the pipe before its end is noticed. The transport reports that end
            # with the exit status, unless the SDK closes it first.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), DIAGNOSIS_SECONDS)
            raise anyio.BrokenResourceError from None

    # -- the SDK closes both streams; they end with the process

    async def aclose(self) -> None:
        """Do nothing: `run_server` closes the process."""

    async def __aenter__(self) -> Lines:
        return self

    async def __aexit__(self, *_: Any) -> None:
        return None

    # -- errors

    def why(self) -> str:
        """Describe why the server stopped, as far as is known."""
        if isinstance(self._error, PeerDied):
            how = "closed its output" if self._error.status is None else describe_exit(self._error.status)
            return f"it {how}; {describe_stderr(self._error.stderr)}{self._also()}"
        return f"{describe_stderr(self.transport.stderr_tail())}{self._also()}"

    def _also(self) -> str:
        if not self.stray:
            return ""
        return f"; it wrote something other than a message to standard output: {self.stray!r}"


def _repair(line: bytes) -> bytes:
    """Replace lone surrogates, which some languages write, and invalid UTF-8.

    Otherwise the message would be skipped, and its request would never be answered. Raises `ValueError`."""
    message = json.loads(line.decode("utf-8", "replace"))
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


@asynccontextmanager
async def run_server(sdk: Sdk, server: McpServer, cwd: str, on_end: Callable[[], None]) -> AsyncIterator[Lines]:
    """Run a server for the duration of the block. Raises `LaunchError`.

    Its environment has the bare minimum and the configured variables, but not the agent's keys."""
    transport = await SubprocessTransport.launch(
        [server.command, *server.args], cwd=cwd, env=environment("minimal", server.env)
    )
    lines = Lines(sdk, transport, on_end)
    try:
        transport.start(lines)
        yield lines
    finally:
        await transport.close()
