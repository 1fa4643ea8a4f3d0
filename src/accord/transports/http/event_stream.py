"""One event stream of a Streamable HTTP connection, on the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from accord.transports.http.admission import EVENT_STREAM
from accord.transports.http.limits import HttpLimits
from accord.transports.http.stream_buffer import StreamBuffer

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_HEADERS = [
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
]
KEEP_ALIVE = b": keep-alive\n\n"


class EventStream:
    """A buffer, and the GET request that empties it while there is one."""

    def __init__(self, limits: HttpLimits, on_sent: Callable[[], None]) -> None:
        self.buffer: StreamBuffer = StreamBuffer(limits)
        self.is_received: bool = False
        """Whether a client receives it now."""
        self._limits = limits
        self._on_sent = on_sent
        self._wake: asyncio.Future[bool] | None = None
        self._ending = False
        self._gone = False
        self._drained = asyncio.Event()
        self._drained.set()

    def wake(self) -> None:
        """Check the buffer again."""
        self._drained.clear()
        self._notify()

    def end(self) -> None:
        """End once everything is sent."""
        self._ending = True
        self._notify()

    async def wait_drained(self) -> None:
        """Wait until everything has been passed to the server."""
        if self.buffer.unsent_messages:
            await self._drained.wait()

    def claim(self) -> None:
        """Reserve it for the GET request that `serve` will answer."""
        self.is_received, self._gone = True, False

    async def serve(self, receive: Receive, send: Send) -> None:
        """Send events as the response to a GET, until either side ends it."""
        watching = asyncio.create_task(self._watch(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._put(send, KEEP_ALIVE)  # servers send the headers with the first part of the body
            while not self._gone:
                if chunk := self.buffer.take():
                    await self._put(send, chunk)
                    self._on_sent()
                    continue
                self._drained.set()
                if self._ending:
                    break
                if not await self._wait():
                    await self._put(send, KEEP_ALIVE)
            if not self._gone:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            pass  # the client accepts nothing: drop the stream, as if the client had
        finally:
            self.is_received = False
            self._drained.set()
            watching.cancel()

    async def _put(self, send: Send, data: bytes) -> None:
        async with asyncio.timeout(self._limits.stall_seconds):
            await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _wait(self) -> bool:
        """Wait for something to do; False after a silence."""
        loop = asyncio.get_running_loop()
        self._wake = loop.create_future()
        if self.buffer.unsent_messages or self._ending or self._gone:
            return True
        timer = loop.call_later(self._limits.keep_alive_seconds, self._notify, False)
        try:
            return await self._wake
        finally:
            timer.cancel()

    def _notify(self, is_work: bool = True) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(is_work)

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._notify()
