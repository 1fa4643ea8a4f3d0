"""The server's side of a Streamable HTTP connection: the state shared by its POSTs and event streams."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable

from accord.errors import ConnectionClosed
from accord.transports.base import READY, YIELD, Receiver, Transport
from accord.transports.gate import Gate
from accord.transports.http.admission import Post
from accord.transports.http.event_stream import EventStream
from accord.transports.http.inbox import Inbox
from accord.transports.http.limits import HttpLimits
from accord.transports.http.message_head import read_head
from accord.transports.http.routing import CONNECTION_STREAM, REATTACHING_METHODS, StreamRouter
from accord.transports.http.stream_buffer import EventId

_YIELD_BYTES = 64 * 1024
_DRAIN_SECONDS = 5.0
_MAX_KEYS = 1000  # POSTs that are recognized if they are repeated


class HttpServerTransport(Transport):
    """A client that is connected over Streamable HTTP."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._inbox = Inbox()
        self._router = StreamRouter()
        self._streams: dict[str | None, EventStream] = {None: EventStream(limits, self._on_sent)}
        self._gate = Gate(self._loop)
        self._unsent_bytes = 0
        self._unyielded = 0
        self._refusal: str | None = None
        self._input_ended = False
        self._idle: asyncio.TimerHandle | None = None
        self._first: tuple[bytes, asyncio.Future[bytes]] | None = None  # `initialize`, answered in its own response
        self._unannounced: set[str] = set()
        """Sessions that were loaded without naming them in a header. The official Python SDK does this, and opens their
        streams once it has seen an update on the connection's stream."""
        self._keys: OrderedDict[str, None] = OrderedDict()

    # -- the transport

    @property
    def half_open(self) -> bool:
        return self._input_ended

    def start(self, receiver: Receiver) -> None:
        self._inbox.start(receiver, min(self.max_message_bytes, self._limits.body_bytes))

    def send(self, data: bytes) -> Awaitable[None]:
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        for line in data.split(b"\n"):
            if line:
                self._send_line(line)
        if self._unsent_bytes > self._limits.waiting_bytes:
            self._gate.shut()
            return self._gate
        self._unyielded += len(data)
        if self._unyielded >= _YIELD_BYTES:
            self._unyielded = 0
            return YIELD
        return READY

    def flush(self) -> None:
        """Do nothing: streams send at once."""

    def pause(self) -> None:
        self._inbox.pause()

    def resume(self) -> None:
        self._inbox.resume()

    async def close(self) -> None:
        """End the streams after their last messages. Streams that no client receives are not waited for."""
        if self._refusal is None:
            self._refusal = "the connection was closed on this side"
            for stream in self._streams.values():
                stream.end()
            received = [stream.wait_drained() for stream in self._streams.values() if stream.is_received]
            if received:
                draining = [asyncio.ensure_future(each) for each in received]
                _, late = await asyncio.wait(draining, timeout=_DRAIN_SECONDS)
                for task in late:
                    task.cancel()
        self._end(None, self._refusal)

    def describe(self) -> str:
        return "the client behind HTTP"

    # -- for the endpoint

    @property
    def has_ended(self) -> bool:
        """Whether the connection is closed."""
        return self._inbox.has_ended

    def end_input(self) -> None:
        """Accept no more messages. Running work is ended by its owner, and may still send its last messages."""
        self._input_ended = True
        self._inbox.end(None)

    def stop(self, error: Exception | None = None) -> None:
        """End at once."""
        self._end(error, "the client has disconnected" if error is None else str(error))

    async def initialize(self, post: Post) -> bytes:
        """Deliver the first message, and return its response."""
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self._first = (post.head.id, answer)
        await self._inbox.wait_flowing()
        self._inbox.deliver(post.message)
        try:
            return await answer
        finally:
            self.note_activity()

    async def wait_flowing(self) -> None:
        """Wait until messages are accepted."""
        await self._inbox.wait_flowing()

    async def deliver(self, post: Post, key: str | None) -> None:
        """Deliver a message, unless it was delivered before: a client repeats a POST if it didn't get the response."""
        await self._inbox.wait_flowing()
        if key is not None:
            if key in self._keys:
                return
            self._keys[key] = None
            if len(self._keys) > _MAX_KEYS:
                self._keys.popitem(last=False)
        self._router.note_incoming(post.head, post.session)
        is_unannounced = post.head.method in REATTACHING_METHODS and post.session is not None and not post.has_header
        if is_unannounced and len(self._unannounced) < self._limits.streams:
            self._unannounced.add(post.session or "")
        self._inbox.deliver(post.message)

    def stream(self, session: str | None) -> EventStream | None:
        """Return a stream, created on demand: a client opens it before it loads its session. None above the limit."""
        found = self._streams.get(session)
        if found is None and len(self._streams) < self._limits.streams:
            found = self._streams[session] = EventStream(self._limits, self._on_sent)
            if self._refusal is not None:
                found.end()
        return found

    def release(self, session: str | None) -> None:
        """Release a stream that is no longer received. One that never had a message is removed."""
        stream = self._streams.get(session)
        if session is not None and stream is not None and not stream.is_received and not stream.buffer.last_number:
            del self._streams[session]
        self.note_activity()

    def note_activity(self) -> None:
        """Restart the idle timer, unless the client receives a stream."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if not self.has_ended and not any(stream.is_received for stream in self._streams.values()):
            self._idle = self._loop.call_later(self._limits.idle_seconds, self._give_up)

    # -- sending

    def _send_line(self, line: bytes) -> None:
        head = read_head(line)
        if self._first is not None and head is not None and head.kind == "response" and head.id == self._first[0]:
            answer, self._first = self._first[1], None
            if not answer.done():
                answer.set_result(line)
            return
        route = CONNECTION_STREAM if head is None else self._router.route(head)
        session = route.session
        if session in self._unannounced:
            received = self._streams.get(session)
            if received is not None and received.is_received:
                self._unannounced.discard(session)
            else:
                session = None
        stream = self.stream(session)
        if stream is None:
            raise self._overflow(f"the client has more than {self._limits.streams} streams")
        before = None if route.after is None else self._streams.get(route.after)
        after = None
        if before is not None and route.after is not None and before.buffer.last_number:
            after = EventId(before.buffer.last_number, session=route.after)
        unsent = stream.buffer.unsent_bytes
        stream.buffer.add(line, after)
        self._unsent_bytes += stream.buffer.unsent_bytes - unsent
        stream.wake()
        if route.is_last and session is not None and stream.is_received:
            stream.end()
            del self._streams[session]
        if stream.buffer.is_full:
            raise self._overflow("the client doesn't receive its messages")

    def _overflow(self, why: str) -> ConnectionClosed:
        error = ConnectionClosed(why)
        self._refusal = why
        self._loop.call_soon(self._end, error, why)
        return error

    def _on_sent(self) -> None:
        self._unsent_bytes = sum(stream.buffer.unsent_bytes for stream in self._streams.values())
        if not self._gate.is_open and self._unsent_bytes <= self._limits.waiting_bytes // 4:
            self._gate.open()

    # -- the end

    def _give_up(self) -> None:
        self._end(ConnectionClosed(f"the client received nothing for {self._limits.idle_seconds:g} s"), "")

    def _end(self, error: Exception | None, why: str) -> None:
        self._input_ended = False
        self._refusal = self._refusal or why or str(error)
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        for stream in self._streams.values():
            stream.end()
        if self._first is not None and not self._first[1].done():
            self._first[1].set_exception(ConnectionClosed(self._refusal))
        self._gate.open(ConnectionClosed(self._refusal))
        self._inbox.end(error)
