"""A TCP proxy on the loopback interface that breaks connections at chosen byte offsets.

Bytes are counted over all connections and both directions. A fault hits the connection whose byte reaches the next
offset: `drop` resets it in the middle of the byte stream, `stall` forwards nothing more and keeps it open, and
`duplicate` repeats everything that the client has sent on it on another connection to the server, then drops it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Literal, NamedTuple

Kind = Literal["drop", "stall", "duplicate"]


class Fault(NamedTuple):
    """A fault, and the number of bytes that pass before it."""

    at: int
    kind: Kind = "drop"


class FaultyProxy:
    """Forwards connections to a port."""

    def __init__(self, target: int, faults: Iterable[Fault]) -> None:
        self.target = target
        self.port = 0
        self.bytes = 0
        self.done = 0
        """How many faults have happened."""
        self._faults = sorted(faults, reverse=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stalled = asyncio.Event()  # never set: waiting for it lasts until the proxy ends

    def add(self, *faults: Fault) -> None:
        """Add faults, with offsets from now on."""
        self._faults += [Fault(self.bytes + each.at, each.kind) for each in faults]
        self._faults.sort(reverse=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._forward(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            _abort(writer)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.target)
        sent: list[bytes] = []
        try:
            up = asyncio.create_task(self._copy(reader, server_writer, sent))
            down = asyncio.create_task(self._copy(server_reader, writer, None))
            done, pending = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            fault = next((task.result() for task in done if task.result() is not None), None)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            if fault == "stall":
                await self._stalled.wait()
            elif fault == "duplicate":
                await self._repeat(sent)
        finally:
            _abort(server_writer)

    async def _copy(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, sent: list[bytes] | None
    ) -> Kind | None:
        """Forward until the end or a fault. Returns the fault."""
        try:
            return await self._copy_until_fault(source, target, sent)
        except OSError:  # one of the sides has hung up
            return None

    async def _copy_until_fault(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, sent: list[bytes] | None
    ) -> Kind | None:
        while chunk := await source.read(64 * 1024):
            fault = None
            if self._faults and self.bytes + len(chunk) >= self._faults[-1].at:
                fault = self._faults.pop()
                chunk = chunk[: max(fault.at - self.bytes, 0)]
                self.done += 1
            self.bytes += len(chunk)
            if sent is not None:
                sent.append(chunk)
            target.write(chunk)
            await target.drain()
            if fault is not None:
                return fault.kind
        return None

    async def _repeat(self, sent: list[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.target)
        writer.write(b"".join(sent))
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(0.05):  # the server has it; its answer goes nowhere
                await reader.read(1)
        _abort(writer)

    async def end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _abort(writer: asyncio.StreamWriter) -> None:
    """Reset a connection, as a failing network does."""
    writer.transport.abort()


@asynccontextmanager
async def run_proxy(target: int, faults: Iterable[Fault] = ()) -> AsyncIterator[FaultyProxy]:
    """Run a proxy on a free port."""
    proxy = FaultyProxy(target, faults)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = await asyncio.start_server(proxy.serve, sock=sock)
    proxy.port = sock.getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
