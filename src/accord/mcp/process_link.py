"""An MCP server that runs as a process and speaks over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque

import msgspec

from accord.config.environment import environment
from accord.errors import ConnectionClosed, PeerDied
from accord.mcp.link import Message, ServerLink
from accord.model.requests import McpServer
from accord.process.child import describe_exit
from accord.transports.subprocess import SubprocessTransport

MAX_QUEUED_LINES = 256
"""With more messages queued, reading from the server pauses."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_STDERR_CHARACTERS = 500


class ProcessLink(ServerLink):
    """A stdio server. Its environment contains only necessary variables and those of the configuration."""

    def __init__(self, server: McpServer, cwd: str) -> None:
        self._server = server
        self._cwd = cwd
        self._transport: SubprocessTransport | None = None
        self._lines: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._has_ended = False
        self._error: Exception | None = None
        self._oversized = 0

    @property
    def pid(self) -> int | None:
        """The process id, once it was started."""
        return self._transport.child.pid if self._transport is not None else None

    async def start(self) -> None:
        server = self._server
        self._transport = await SubprocessTransport.launch(
            [server.command, *server.args],
            cwd=self._cwd,
            env=environment("minimal", server.env),
            max_message_bytes=MAX_MESSAGE_BYTES,
        )
        self._transport.start(self)

    # -- called by the transport

    def on_lines(self, block: bytes) -> None:
        self._lines.extend(line for line in block.split(b"\n") if line.strip())
        if len(self._lines) > MAX_QUEUED_LINES and self._transport is not None:
            self._transport.pause()
        self._arrived.set()

    def on_oversized(self, head: bytes, size: int) -> None:
        # Its request would never be answered, and its id is unknown.
        self._oversized = size
        self._has_ended = True
        self._arrived.set()

    def on_end(self, error: Exception | None) -> None:
        self._error, self._has_ended = error, True
        self._arrived.set()

    # -- messages

    async def send(self, message: Message) -> None:
        if self._transport is None or self._has_ended:
            raise ConnectionClosed("the MCP server has ended")
        await self._transport.send(msgspec.json.encode(message) + b"\n")

    async def receive(self) -> Message | None:
        while True:
            while not self._lines:
                if self._has_ended:
                    return None
                self._arrived.clear()
                await self._arrived.wait()
            message = _read(self._lines.popleft())
            if not self._lines and self._transport is not None:
                self._transport.resume()
            if message is not None:
                return message

    async def close(self) -> None:
        self._has_ended = True
        self._arrived.set()
        if self._transport is not None:
            await self._transport.close()

    def why(self) -> str:
        if self._oversized:
            return f"it sent a message of {self._oversized} bytes, which is too long"
        stderr = self._transport.stderr_tail() if self._transport is not None else ""
        how = "it has ended"
        if isinstance(self._error, PeerDied):
            stderr = self._error.stderr
            how = "it closed its output" if self._error.status is None else f"it {describe_exit(self._error.status)}"
        last = " ".join(stderr.split())[-MAX_STDERR_CHARACTERS:]
        return f"{how}; standard error: {last}" if last else how


_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})')


def _read(line: bytes) -> Message | None:
    """Decode a message. Lone surrogates and invalid UTF-8 are replaced.

    Returns None for stray output, and only the id of a response that can't be decoded, so that its request fails."""
    try:
        message = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        try:
            text = json.dumps(json.loads(line.decode("utf-8", "replace")), ensure_ascii=False)
            message = msgspec.json.decode(text.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            id = _ID.search(line) if line.startswith(b"{") else None
            message = {"id": int(id[1])} if id else None
    return message if isinstance(message, dict) else None
