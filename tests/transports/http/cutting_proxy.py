"""A proxy that passes bytes on, and cuts all its connections when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class CuttingProxy:
    """Listens on `port` and connects to a server on this machine."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.cuts = 0
        """How many connections were cut."""
        self._target = target
        self._is_refusing = False
        self._serving: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.StreamWriter] = set()

    @classmethod
    @asynccontextmanager
    async def run(cls, target: int) -> AsyncIterator[CuttingProxy]:
        proxy = cls(target)
        server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            server.close()
            proxy.refuse()
            await server.wait_closed()
            await asyncio.gather(*proxy._serving, return_exceptions=True)

    def cut(self) -> None:
        """Reset every connection."""
        for writer in self._open:
            self.cuts += 1
            writer.transport.abort()
        self._open.clear()

    def refuse(self) -> None:
        """Reset every connection, and all new ones until `accept`."""
        self._is_refusing = True
        self.cut()

    def accept(self) -> None:
        """Pass new connections on again."""
        self._is_refusing = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        cuts = self.cuts
        if not self._is_refusing:
            their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self._target)
            self._open |= {writer, their_writer}
            if self._is_refusing or self.cuts != cuts:  # cut while the second half was being opened
                writer.transport.abort()
                their_writer.transport.abort()
            await asyncio.gather(self._pass(reader, their_writer), self._pass(their_reader, writer))
            self._open -= {writer, their_writer}
        writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()
