"""A server that runs here: our own process room starts and ends it, and its lines become messages of the SDK."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from accord.coder.mcp.faults import last_words
from accord.config.environment import environment
from accord.errors import ConnectionClosed, PeerDied
from accord.process.child import in_words
from accord.transports.subprocess import SubprocessTransport

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

    from accord.coder.mcp.sdk import Sdk
    from accord.model.requests import McpServer

WAITING_LINES = 256
"""How many messages may wait before the server is made to wait."""


class Lines:
    """Both ends of a server's pipes, as the SDK wants them: messages to read, and a place to send messages to."""

    def __init__(self, sdk: Sdk, transport: SubprocessTransport, on_end: Callable[[], None]) -> None:
        self.transport = transport
        self.stray = ""
        """The first line on its standard output that was no message."""
        self._sdk = sdk
        self._on_end = on_end
        self._error: Exception | None = None
        self._lines: deque[bytes | Exception] = deque()
        self._arrived = asyncio.Event()
        self._over = False

    # -- what the transport tells

    def lines(self, block: bytes) -> None:
        self._lines.extend(line for line in block.split(b"\n") if line.strip())
        if len(self._lines) > WAITING_LINES:
            self.transport.pause()
        self._arrived.set()

    def oversized(self, head: bytes, size: int) -> None:
        self._lines.append(ValueError(f"a message of {size} bytes was skipped: it is too long"))
        self._arrived.set()

    def ended(self, error: Exception | None) -> None:
        self._error = error
        self._over = True
        self._arrived.set()
        self._on_end()

    # -- reading

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while not self._lines:
            if self._over:
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
                message = read(_mended(line), by_name=False)
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
            raise anyio.BrokenResourceError from None

    # -- the SDK closes both ends, which end with the process

    async def aclose(self) -> None:
        """Closing is the part of whoever started the process."""

    async def __aenter__(self) -> Lines:
        return self

    async def __aexit__(self, *_: Any) -> None:
        return None

    # -- in words

    def why(self) -> str:
        """What became of the server, as far as is known."""
        if isinstance(self._error, PeerDied):
            how = "closed its output" if self._error.status is None else in_words(self._error.status)
            return f"it {how}; {last_words(self._error.stderr)}{self._also()}"
        return f"{last_words(self.transport.last_words())}{self._also()}"

    def _also(self) -> str:
        if not self.stray:
            return ""
        return f"; on its standard output, which is for messages alone, it wrote {self.stray!r}"


def _mended(line: bytes) -> bytes:
    """A message that is one but for its text: half a surrogate pair, which some languages write, or no UTF-8.

    Left alone it would be skipped, and its answer waited for in vain. Raises `ValueError`."""
    message = json.loads(line.decode("utf-8", "replace"))
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


@asynccontextmanager
async def running(sdk: Sdk, server: McpServer, cwd: str, on_end: Callable[[], None]) -> AsyncIterator[Lines]:
    """Starts a server for as long as the block lasts. Raises `LaunchError`.

    It finds the bare necessities in its environment and what the client gave for it: not the agent's own keys."""
    transport = await SubprocessTransport.launch(
        [server.command, *server.args], cwd=cwd, env=environment("minimal", server.env)
    )
    lines = Lines(sdk, transport, on_end)
    try:
        transport.start(lines)
        yield lines
    finally:
        await transport.close()
