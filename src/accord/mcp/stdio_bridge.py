"""A server object as an MCP server with a command, for agents that can only start MCP servers.

The command is a small program (`bridge_program`) that connects its standard input and output to the object here."""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from accord.errors import AccordError
from accord.mcp.link import ServerLink
from accord.model.requests import McpServer
from accord.transports.framing import LineFramer

HOST = "127.0.0.1"
MAX_LINE_BYTES = 64 * 1024 * 1024
BUFFER_BYTES = 64 * 1024
"""The read buffer, which limits the memory that a program without the token can use."""
_PROGRAM = Path(__file__).with_name("bridge_program.py")
TOKEN_SECONDS = 10.0
"""How long a program that connects may take to send its token."""


class StdioBridge:
    """Listens on a free port of the loopback interface. A program must first send a token that only it gets."""

    def __init__(self, name: str, make_link: Callable[[], ServerLink]) -> None:
        self._name = name
        self._make_link = make_link
        self._token = secrets.token_urlsafe(32)
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> McpServer:
        """Listen and accept programs. Returns the server's description for the agent."""
        declared = self.listen()
        await self.accept()
        return declared

    def listen(self) -> McpServer:
        """Listen. Programs wait until they are accepted. Returns the server's description for the agent."""
        self._socket = socket.create_server((HOST, 0))
        port = self._socket.getsockname()[1]
        env = {"ACCORD_MCP_BRIDGE": f"{HOST} {port} {self._token}"}  # arguments are visible to other users
        return McpServer(name=self._name, command=sys.executable, args=["-I", str(_PROGRAM)], env=env)

    async def accept(self) -> None:
        """Accept programs from now on."""
        assert self._socket is not None
        self._server = await asyncio.start_server(self._accept, sock=self._socket, limit=BUFFER_BYTES)

    async def close(self) -> None:
        """Stop listening, and end the server for all programs."""
        if self._server is not None:
            self._server.close()
        elif self._socket is not None:
            self._socket.close()
        for task in list(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                given = await reader.readline()
            if secrets.compare_digest(given.strip(), self._token.encode()):
                await self._connect(reader, writer)
        except (TimeoutError, ValueError, OSError, AccordError, asyncio.CancelledError):
            pass  # the program has disconnected, or isn't ours
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = self._make_link()
        try:
            await link.start()
            halves = [asyncio.ensure_future(_to_server(reader, link)), asyncio.ensure_future(_to_program(link, writer))]
            try:
                await asyncio.wait(halves, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for half in halves:
                    half.cancel()
                await asyncio.wait(halves)
        finally:
            await link.close()


async def _to_server(reader: asyncio.StreamReader, link: ServerLink) -> None:
    framer = LineFramer(MAX_LINE_BYTES)
    while not framer.oversized and (chunk := await reader.read(BUFFER_BYTES)):
        for line in framer.feed(chunk).split(b"\n"):
            with suppress(ValueError, RecursionError):
                message = msgspec.json.decode(line)
                if isinstance(message, dict):
                    await link.send(message)


async def _to_program(link: ServerLink, writer: asyncio.StreamWriter) -> None:
    while (message := await link.receive()) is not None:
        if message:
            writer.write(msgspec.json.encode(message) + b"\n")
            await writer.drain()
