"""Transport over two file descriptors: standard input and output, or the pipes of a child process.

Reading and writing are independent. After the end of the input, responses can still be sent: if standard input is a
file of requests, it ends long before they are answered. An error while sending ends the connection."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Awaitable

from accord.errors import ConnectionClosed
from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Receiver, Transport
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.framing import LineFramer, hand_over
from accord.transports.sink import HIGH_WATER, LoopSink, OnFailure, Sink
from accord.transports.source import Deliver, LoopSource, OnEnd, Source

DRAIN_SECONDS = 5.0
"""How long `close` waits for a peer that doesn't read."""


def open_source(loop: AbstractEventLoop, inlet: Inlet, deliver: Deliver, ended: OnEnd) -> Source:
    """Start reading, with the event loop if it can watch this descriptor, else with a thread."""
    source: Source = LoopSource(loop, inlet, deliver, ended)
    try:
        source.start()
    except (NotImplementedError, OSError, ValueError):  # a Proactor loop; a regular file, which epoll refuses
        from accord.transports.threads import ThreadSource

        source = ThreadSource(loop, inlet, deliver, ended)
        source.start()
    return source


def open_sink(loop: AbstractEventLoop, outlet: Outlet, on_failure: OnFailure, high_water: int) -> Sink:
    """Create a sink that writes with the event loop if it can watch descriptors, else with a thread."""
    if outlet.threaded or type(loop).add_writer is AbstractEventLoop.add_writer:
        from accord.transports.threads import ThreadSink

        return ThreadSink(loop, outlet, on_failure, high_water)
    return LoopSink(loop, outlet, on_failure, high_water)


class FdTransport(Transport):
    """Moves messages over one descriptor to read and one to write, and owns both."""

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
        self._sink = open_sink(loop, self._outlet, self._on_send_error, self._high_water)
        self._source = open_source(loop, self._inlet, self._on_chunk, self._on_input_end)
        # Hide the methods: one call less per message on the hot path.
        vars(self)["send"] = vars(self)["send_request"] = self._sink.send

    def send(self, data: bytes) -> Awaitable[None]:
        raise ConnectionClosed(f"{self.describe()}: the transport hasn't been started")

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
                self._stop_receiving()
                await self._sink.wait_until_sent(self._drain_seconds)
                self._sink.stop()
            await self._finish()
        finally:
            self._release()
            self._closing.set()

    def _stop_receiving(self) -> None:
        """Stop receiving, because the transport is closing."""
        self._source.stop()

    async def _finish(self) -> None:
        """Hook for subclasses, called after everything was sent."""

    def _release(self) -> None:
        """Close all open descriptors, without waiting."""
        if self._receiver is None:
            self._inlet.close()
            self._outlet.close()
        else:
            self._source.stop()
            self._sink.stop()

    def _on_chunk(self, chunk: bytes) -> None:
        self._sink.end_burst()
        framer = self._framer
        block = framer.feed(chunk)
        if framer.oversized:
            self._deliver_block(block)
        elif block and self._receiver is not None:
            self._receiver.on_lines(block)

    def _deliver_block(self, block: bytes) -> None:
        if self._receiver is not None and not self._ended:
            hand_over(self._framer, block, self._receiver)

    def _on_input_end(self, error: OSError | None) -> None:
        self._deliver_block(self._framer.finish())
        self._end(None if error is None else ConnectionClosed(f"{self.describe()}: {error.strerror or error}"))

    def _on_send_error(self, error: OSError) -> None:
        """Handle a peer that no longer reads. Messages that it sent before are still delivered."""
        self._source.drain()
        self._source.stop()
        self._end(ConnectionClosed(f"{self.describe()}: can't send: {error.strerror or error}"))

    def _end(self, error: Exception | None) -> None:
        if not self._ended and self._receiver is not None:
            self._ended = True
            self._receiver.on_end(error)
