"""The transport over two file descriptors: standard input and output, the pipes of a child process.

Reading and writing are two independent halves. When nothing more comes in, answers may still go out (a file of requests
as standard input is over long before it is answered); what can no longer be sent ends the connection."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Awaitable

from accord.errors import ConnectionClosed
from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Receiver, Transport
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.lines import LineFramer, hand_over
from accord.transports.reading import Deliver, Ended, LoopSource, Source
from accord.transports.writing import HIGH_WATER, Failed, LoopSink, Sink

DRAIN_SECONDS = 5.0
"""How long closing waits for a peer that does not read."""


def open_source(loop: AbstractEventLoop, inlet: Inlet, deliver: Deliver, ended: Ended) -> Source:
    """Starts to read, by the loop if it can watch this descriptor, else by a thread."""
    source: Source = LoopSource(loop, inlet, deliver, ended)
    try:
        source.start()
    except (NotImplementedError, OSError, ValueError):  # a Proactor loop; a regular file, which epoll refuses
        from accord.transports.threads import ThreadSource

        source = ThreadSource(loop, inlet, deliver, ended)
        source.start()
    return source


def open_sink(loop: AbstractEventLoop, outlet: Outlet, failed: Failed, high_water: int) -> Sink:
    """Gets ready to write, by the loop where it can say when there is room, else by a thread."""
    if outlet.threaded or type(loop).add_writer is AbstractEventLoop.add_writer:
        from accord.transports.threads import ThreadSink

        return ThreadSink(loop, outlet, failed, high_water)
    return LoopSink(loop, outlet, failed, high_water)


class FdTransport(Transport):
    """Moves messages over a descriptor to read and one to write. It owns both."""

    def __init__(
        self,
        inlet: Inlet,
        outlet: Outlet,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        high_water: int = HIGH_WATER,
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        self.max_message_bytes = max_message_bytes
        self._inlet = inlet
        self._outlet = outlet
        self._high_water = high_water
        self._drain_seconds = drain_seconds
        self._framer: LineFramer
        self._receiver: Receiver | None = None
        self._source: Source
        self._sink: Sink
        self._ended = False
        self._closing: asyncio.Event | None = None

    def start(self, receiver: Receiver) -> None:
        loop = asyncio.get_running_loop()
        self._receiver = receiver
        self._framer = LineFramer(self.max_message_bytes)
        self._sink = open_sink(loop, self._outlet, self._sending_failed, self._high_water)
        self._source = open_source(loop, self._inlet, self._received, self._receiving_ended)
        self.send = self._sink.send  # type: ignore[method-assign]  # one call less for each message

    def send(self, data: bytes) -> Awaitable[None]:
        raise ConnectionClosed(f"{self.describe()}: nothing can be sent before the transport is started")

    def flush(self) -> None:
        self._sink.flush()

    def pause(self) -> None:
        self._source.pause()

    def resume(self) -> None:
        self._source.resume()

    async def close(self) -> None:
        if self._closing is not None:
            await self._closing.wait()
            return
        self._closing = asyncio.Event()
        try:
            if self._receiver is not None:
                self._sink.refuse(f"{self.describe()}: the connection was closed on this side")
                self._end(None)
                self._quiet()
                await self._sink.drained(self._drain_seconds)
                self._sink.stop()
            await self._finish()
        finally:
            self._let_go()
            self._closing.set()

    def _quiet(self) -> None:
        """Nothing more is wanted from the peer."""
        self._source.stop()

    async def _finish(self) -> None:
        """What is left to do once everything is sent."""

    def _let_go(self) -> None:
        """Closes what is still open, without waiting."""
        if self._receiver is None:
            self._inlet.close()
            self._outlet.close()
        else:
            self._source.stop()
            self._sink.stop()

    def _received(self, chunk: bytes) -> None:
        self._sink.rested()
        framer = self._framer
        block = framer.feed(chunk)
        if framer.oversized:
            self._hand_over(block)
        elif block:
            self._receiver.lines(block)  # type: ignore[union-attr]  # set by start, without which nothing arrives

    def _hand_over(self, block: bytes) -> None:
        if self._receiver is not None and not self._ended:
            hand_over(self._framer, block, self._receiver)

    def _receiving_ended(self, error: OSError | None) -> None:
        self._hand_over(self._framer.finish())
        self._end(None if error is None else ConnectionClosed(f"{self.describe()}: {error.strerror or error}"))

    def _sending_failed(self, error: OSError) -> None:
        """Nobody reads what we write. What they said before is still theirs to be heard."""
        self._source.drain()
        self._source.stop()
        self._end(ConnectionClosed(f"{self.describe()}: nothing more can be sent: {error.strerror or error}"))

    def _end(self, error: Exception | None) -> None:
        if not self._ended and self._receiver is not None:
            self._ended = True
            self._receiver.ended(error)
