"""The client's side of a Streamable HTTP connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from accord.errors import ConnectionClosed, DeadlineExceeded
from accord.transports.base import READY, Interruption, Receiver, Transport
from accord.transports.gate import Gate
from accord.transports.http.admission import (
    CONNECTION_ID,
    FEATURES,
    PROTOCOL_VERSION,
    SESSION_ID,
)
from accord.transports.http.client_stream import ClientStream, StreamRefused
from accord.transports.http.exchange import Answer, ResponseRefused
from accord.transports.http.inbox import Inbox, in_one_line
from accord.transports.http.limits import MIB
from accord.transports.http.message_head import MessageHead, read_head
from accord.transports.http.options import HttpOptions, explain_failure, explain_status, make_client, require_httpx2
from accord.transports.http.poster import BUSY, Poster
from accord.transports.http.routing import (
    ACKNOWLEDGING_METHODS,
    CLOSING_METHODS,
    REATTACHING_METHODS,
    SessionHeaders,
)
from accord.transports.http.stream_buffer import EventId

if TYPE_CHECKING:
    import httpx2

_DRAIN_SECONDS = 5.0
_ORDER_SECONDS = 30.0
"""How long a call waits for the previous POST while the server accepts none. Servers normally respond at once. If one
doesn't, the order is lost, but a cancellation is still delivered."""
_SETTLE_SECONDS, _MAX_SETTLE_SECONDS = 0.1, 2.0
_GONE = frozenset({401, 403, 404, 410})
"""Statuses of a POST after which the whole connection is unusable."""


class _Initialized(msgspec.Struct):
    class Result(msgspec.Struct, rename="camel"):
        protocol_version: int = 1
        connection_id: str = ""

    result: Result = msgspec.field(default_factory=Result)


class _Outgoing(NamedTuple):
    message: bytes
    head: MessageHead
    session: str | None


class HttpTransport(Transport):
    """A connection to an agent over Streamable HTTP. `connect` checks that the server responds."""

    def __init__(self, url: str, headers: Mapping[str, str], options: HttpOptions) -> None:
        require_httpx2()
        self.connection_id: str = ""
        """The server's id of this connection, once it is initialized."""
        self._url = url
        self._options = options
        self._base_headers = options.all_headers(headers)
        self._version = ""
        self._loop = asyncio.get_running_loop()
        self._inbox = Inbox()
        self._gate = Gate(self._loop)
        self._unsent_bytes = 0
        self._refusal: str | None = None
        self._report: Callable[[Interruption], None] | None = None
        self._poster = Poster(url, options, self._headers)
        self._sessions = SessionHeaders()
        self._streams: dict[str | None, ClientStream] = {}
        self._reattaching: dict[bytes, str] = {}
        self._closing_sessions: dict[bytes, str] = {}
        self._posts: set[asyncio.Task[None]] = set()
        self._last_post: dict[str | None, asyncio.Task[None]] = {}
        self._post_of: dict[bytes, asyncio.Task[None]] = {}
        self._accepted_at: dict[str | None, float] = {}
        self._ended = False

    @classmethod
    async def connect(
        cls, url: str, *, headers: Mapping[str, str] | None = None, options: HttpOptions | None = None
    ) -> HttpTransport:
        """Connect to `http://…` or `https://…`. Raises `LaunchError` with the stage that failed."""
        self = cls(url, headers or {}, options or HttpOptions())
        try:
            await self._poster.probe()
        except BaseException:
            await self._poster.close()
            raise
        return self

    # -- the transport

    def start(self, receiver: Receiver) -> None:
        self._inbox.start(receiver, self.max_message_bytes)

    def send(self, data: bytes) -> Awaitable[None]:
        if self._refusal is not None:
            raise ConnectionClosed(self._refusal)
        for line in data.split(b"\n"):
            if line:
                self._send_line(line)
        if self._unsent_bytes > MIB:
            self._gate.shut()
            return self._gate
        return READY

    def flush(self) -> None:
        """Do nothing: every message is sent at once, as its own request."""

    def pause(self) -> None:
        self._inbox.pause()

    def resume(self) -> None:
        self._inbox.resume()

    async def close(self) -> None:
        if self._refusal is None:
            self._refusal = "the connection was closed on this side"
            if self._posts:
                await asyncio.wait(self._posts, timeout=_DRAIN_SECONDS)
        await self._end(None)

    def report_interruptions(self, report: Callable[[Interruption], None]) -> None:
        self._report = report

    def describe(self) -> str:
        return f"the agent at {self._url}"

    # -- sending

    def _send_line(self, line: bytes) -> None:
        head = read_head(line)
        if head is None:
            return  # the connection encodes only valid messages
        if head.method == "initialize":
            self._begin(self._initialize(line), len(line))
            return
        if not self.connection_id:
            return  # `initialize` is in flight, and can't be cancelled
        message = _Outgoing(line, head, self._sessions.session_of(head))
        if head.method in REATTACHING_METHODS and head.session is not None:
            self._reattaching[head.id] = head.session
        elif head.method in CLOSING_METHODS and head.session is not None:
            self._closing_sessions[head.id] = head.session
        if head.kind == "response":
            # The agent may delay everything else until it receives this one.
            self._begin(self._post(message), len(line))
            return
        if head.method in ACKNOWLEDGING_METHODS:
            # It must not be sent while an earlier POST may still be lost, however long that takes.
            self._begin(self._post(message, frozenset(self._posts), None), len(line))
            return
        # Neither the streams of an HTTP/2 connection nor several HTTP/1.1 connections keep an order. A call waits until
        # the server has accepted the previous one of its session; `$/cancel_request` waits for the request it cancels.
        before = self._post_of.get(head.cancels) if head.cancels else self._last_post.get(message.session)
        task = self._begin(self._post(message, frozenset() if before is None else frozenset({before})), len(line))
        self._last_post[message.session] = task
        if head.kind == "request":
            self._post_of[head.id] = task
            task.add_done_callback(lambda _: self._post_of.pop(head.id, None))

    def _begin(self, work: Any, size: int) -> asyncio.Task[None]:
        self._unsent_bytes += size
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._posts.add(task)

        def note_done(_: object) -> None:
            self._posts.discard(task)
            self._unsent_bytes -= size
            if not self._gate.is_open and self._unsent_bytes <= MIB // 4:
                self._gate.open()

        task.add_done_callback(note_done)
        return task

    async def _initialize(self, line: bytes) -> None:
        try:
            response = await self._poster.initialize(line, 2 * self.max_message_bytes)
        except Exception as error:
            is_ours = isinstance(error, (DeadlineExceeded, ResponseRefused))
            self._lose(str(error if is_ours else explain_failure(self._url, error)))
            return
        body = in_one_line(response.content)
        head = read_head(body)
        if head is None or head.kind != "response":
            self._lose(str(explain_status(self._url, response.status, response.text[:1000])))
            return
        with suppress(msgspec.MsgspecError):
            result = msgspec.json.decode(body, type=_Initialized).result
            self._version = str(result.protocol_version)
            self.connection_id = response.headers.get(CONNECTION_ID) or result.connection_id
        self._poster.features = frozenset(part.strip() for part in response.headers.get(FEATURES, "").split(","))
        if head.failed:
            self.connection_id = ""
        elif not self.connection_id:
            self._lose(f"{self._url} doesn't speak ACP: its response to initialize has no Acp-Connection-Id")
            return
        elif not await self._open(None):
            return
        await self._inbox.wait_flowing()
        self._inbox.deliver(body)

    async def _post(
        self,
        message: _Outgoing,
        before: frozenset[asyncio.Task[None]] = frozenset(),
        seconds: float | None = _ORDER_SECONDS,
    ) -> None:
        """POST a message, once the previous POSTs are done or the server has accepted none for this time."""
        pending, begin = before, self._loop.time()
        while pending:
            # A long queue takes time, and the wait of every call in it starts when it is sent.
            since = max(begin, self._accepted_at.get(message.session, begin))
            left = None if seconds is None else since + seconds - self._loop.time()
            if left is not None and left <= 0:
                break
            pending = frozenset((await asyncio.wait(pending, timeout=left))[1])
        if before and self._refusal is not None and self._inbox.has_ended:
            return  # one of them has failed, and the connection with it
        head, session = message.head, message.session
        headers = {} if session is None else {SESSION_ID: session}
        if session is not None and head.kind != "response" and not await self._open(session):
            if self._ended:
                return
            headers = {}  # the server doesn't know it yet, and some servers require the header only once they do
        try:
            response = await self._poster.post(message.message, head, headers, 2 * self.max_message_bytes)
        except Exception as error:
            self._lose(f"the connection to the server was lost: {error or type(error).__name__}")
            return
        self._accepted_at[session] = self._loop.time()
        if response.status == 200 and response.content.strip():
            await self._on_event(self._streams.get(None), in_one_line(response.content), None)
        elif not 200 <= response.status < 300:
            await self._on_refused(message, response)

    async def _on_refused(self, message: _Outgoing, response: Answer) -> None:
        """Fail the request if the server refused only that; otherwise fail the connection."""
        reason = " ".join(response.text.split())[:300]
        why = f"the server refused the message (HTTP {response.status}{': ' if reason else ''}{reason})"
        main = self._streams.get(None)
        lives = main is not None and main.is_open
        about_session = response.status == 404 and message.session is not None and lives
        is_lost = response.status in BUSY and self._poster.can_repeat(message.head)
        if is_lost or (response.status in _GONE and not about_session):
            self._lose(why)
        elif message.head.kind == "request":
            await self._inbox.wait_flowing()
            self._inbox.deliver(_error_response(message.head.id, why))
        elif message.head.kind == "response" and response.status == 413:
            refused = _error_response(message.head.id, f"the response was too long: {why}")
            await self._post(message._replace(message=refused))

    def _headers(self) -> dict[str, str]:
        ids = {CONNECTION_ID: self.connection_id} if self.connection_id else {}
        return {**self._base_headers, **({PROTOCOL_VERSION: self._version} if self._version else {}), **ids}

    # -- receiving

    async def _open(self, session: str | None) -> bool:
        """Open the stream of a session, unless it is open. False if the server refuses it."""
        stream = self._streams.get(session)
        if stream is None:
            stream = self._streams[session] = ClientStream(
                session,
                url=self._url,
                connection_id=self.connection_id,
                headers=self._headers,
                make_client=self._make_receiver,
                on_event=self._on_event,
                on_end=self._on_stream_end,
                on_change=self._on_stream_change if session is None else None,  # all streams have the same server
                resume_seconds=self._options.resume_seconds if "last-event-id" in self._poster.features else 0.0,
                max_event_bytes=2 * self.max_message_bytes,
                refusal_seconds=self._options.body_seconds,
            )
        try:
            await stream.wait_open()
        except StreamRefused as refusal:
            if session is None or refusal.status in (401, 403):
                self._lose(f"the server refused the event stream: {refusal}")
            return False
        except Exception as error:
            self._lose(str(explain_failure(self._url, error)))
            return False
        return True

    def _make_receiver(self) -> httpx2.AsyncClient:
        import httpx2

        client = make_client(self._options, {}, self._poster.cookies, url=self._url)
        client.timeout = httpx2.Timeout(None, connect=self._options.connect_seconds, read=self._options.silence_seconds)

        async def share_cookies(response: httpx2.Response) -> None:
            self._poster.cookies.update(response.cookies)

        client.event_hooks = {"response": [share_cookies]}
        return client

    async def _on_event(self, stream: ClientStream | None, data: bytes, id: EventId | None) -> None:
        message = in_one_line(data)
        head = read_head(message)
        session = None if stream is None else stream.session
        if head is not None:
            self._sessions.note_incoming(head, session)
            if head.kind == "response":
                await self._before_response(head, id)
            elif id is not None and id.after:
                await self._wait_for(id)
        await self._inbox.wait_flowing()
        self._inbox.deliver(message)
        if head is not None and head.kind == "response":
            closed = self._closing_sessions.pop(head.id, None)
            if closed is not None and not head.failed:
                self._loop.call_soon(self._close_stream, closed)

    async def _before_response(self, head: MessageHead, id: EventId | None) -> None:
        """Wait for the updates that precede a response. They may arrive on another stream."""
        if head.session is not None and head.session not in self._streams:
            self._begin(self._open_quietly(head.session), 0)
        reattached = self._reattaching.pop(head.id, None)
        if id is not None and id.after:
            await self._wait_for(id)
        elif reattached is not None and "last-event-id" not in self._poster.features:
            await self._settle(reattached)

    async def _wait_for(self, id: EventId) -> None:
        stream = self._streams.get(id.session)
        if stream is not None:
            await stream.wait_number(id.after)

    async def _settle(self, session: str) -> None:
        """Wait until a session's stream is silent, because other servers don't send the order of updates and
        responses."""
        if session not in self._streams:
            await self._open(session)
        stream = self._streams.get(session)
        if stream is None:
            return
        begin = self._loop.time()
        while (now := self._loop.time()) < begin + _MAX_SETTLE_SECONDS:
            left = max(stream.is_busy_at, begin) + _SETTLE_SECONDS - now
            if left <= 0:
                return
            await asyncio.sleep(left)

    async def _open_quietly(self, session: str) -> None:
        await self._open(session)

    def _close_stream(self, session: str) -> None:
        stream = self._streams.pop(session, None)
        if stream is not None:
            stream.stop()

    def _on_stream_change(self, change: Interruption) -> None:
        if self._report is not None and not self._ended:
            self._report(change)

    def _on_stream_end(self, stream: ClientStream, lost: str | None) -> None:
        if self._streams.get(stream.session) is stream:
            del self._streams[stream.session]
        if lost is not None:
            self._lose(lost)

    # -- the end

    def _lose(self, why: str) -> None:
        if not self._ended:
            self._refusal = self._refusal or why
            error = ConnectionClosed(why)
            # At once, because a response that waits for messages of a lost stream must not be delivered without them.
            self._inbox.end(error)
            task = self._loop.create_task(self._end(error))
            self._ending = task  # a task without references may be garbage-collected

    async def _end(self, error: ConnectionClosed | None) -> None:
        if self._ended:
            return
        self._ended = True
        self._gate.open(ConnectionClosed(self._refusal))
        self._inbox.end(error)
        current = asyncio.current_task()
        for task in [*self._posts]:
            if task is not current:
                task.cancel()
        for stream in [*self._streams.values()]:
            await stream.close()
        self._streams.clear()
        if self.connection_id:
            await self._poster.delete()
        await self._poster.close()


def _error_response(id: bytes, why: str) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32603,"message":%b}}' % (id, msgspec.json.encode(why))
