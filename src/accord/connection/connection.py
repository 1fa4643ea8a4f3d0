"""A conversation over a transport: starting, sending, and closing in order.

`Incoming` delivers messages in order within each session (`lanes`): updates one at a time, and a response to one of our
requests (`OutgoingRequests`) after the updates before it. `PeerRequests` runs the handlers of the peer's requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import get_ident
from typing import Any, Literal

from accord.connection.backlog import Backlog, Unsent
from accord.connection.diagnostics import Problem, Problems, Tap, Watcher
from accord.connection.dispatch import Routes, log
from accord.connection.incoming_messages import Incoming
from accord.connection.lanes import Lanes
from accord.connection.limits import Deadline, Limits
from accord.connection.outgoing_requests import Ask, Call, OutgoingRequests, Then, Waiter
from accord.connection.peer_requests import PeerRequests, current_request
from accord.errors import ConnectionClosed, PeerDied
from accord.rpc.conversation import Conversation
from accord.rpc.envelope import call_head
from accord.rpc.ids import RequestId
from accord.schema.method import Method
from accord.schema.wire import encode, encode_strictly
from accord.transports.base import READY, YIELD, Transport

__all__ = ["Connection", "Deadline", "Limits", "Problem", "Then", "current_request"]

_LAST_HANDLERS_SECONDS = 0.5  # for updates that are being handled when the connection closes
_LAST_RESPONSES_SECONDS = 1.0  # for requests that are still running when the peer closes its half


class Connection:
    """One end of a conversation. `side` is our role."""

    def __init__(self, transport: Transport, *, side: Literal["agent", "client"], limits: Limits | None = None) -> None:
        self.transport = transport
        self.side = side
        self.peer = "client" if side == "agent" else "agent"
        self.limits: Limits = limits or Limits()
        self.tap: Tap = Tap()
        self.stage: str = "initialize"
        self.is_open: bool = True
        """Whether requests and notifications can be sent."""
        self.can_answer: bool = True
        """Whether responses can still be sent. They can if the peer closed only its half of the connection."""
        self.has_received = False
        """Whether the peer has sent anything."""
        self.message_size = 0
        """Approximate size in bytes of the message that is being delivered."""
        conversation: Conversation[Waiter] = Conversation(batches=self.limits.batches)
        problems = Problems(self.peer)
        self._problems = problems
        self._conversation = conversation
        self._outgoing = OutgoingRequests(self, conversation)
        self._peer_requests = PeerRequests(self, conversation)
        self.backlog: Backlog = Backlog(self.limits, transport.pause, transport.resume, self._outgoing.give_up)
        self.lanes: Lanes = Lanes(self.backlog, problems.handler_failed)
        self._unsent = Unsent(self.backlog)
        self._incoming = Incoming(self, conversation, self._outgoing, self._peer_requests, problems)
        self.call: Call = self._outgoing.call
        self.ask: Ask = self._outgoing.ask
        self.on_lines: Callable[[bytes], None] = self._incoming.on_lines
        self.on_oversized: Callable[[bytes, int], None] = self._incoming.on_oversized
        self.on_refused: Callable[[RequestId], None] = self._incoming.on_refused
        self.required_results: dict[str, str] = self._peer_requests.required_results
        """Methods whose result has required fields, and the name of its type. A handler that returns None is logged."""
        self.undo_handshake: Callable[[], None] = self._incoming.undo_handshake
        self._heads: dict[str, bytes] = {}
        self.thread: int = 0
        """The identifier of the thread that runs the event loop."""
        self._ended: asyncio.Future[Exception | None] | None = None
        self._end_error: Exception | None = None
        self._closing: asyncio.Task[None] | None = None
        self._closed_by: asyncio.Task[Any] | None = None

    # -- start

    def start(self, early: Routes) -> None:
        """Start receiving. Until `speak` only the methods in `early` are served; other messages are rejected or
        buffered."""
        self._incoming.early.routes = early
        self._incoming.early.is_buffering = self.side == "client"
        self._ended, self.thread = asyncio.get_running_loop().create_future(), get_ident()
        self.transport.max_message_bytes = self.limits.max_message_bytes
        self._conversation.reader = early.reader
        self.transport.start(self)
        self._send_directly()

    def speak(self, routes: Routes, *, null_ids: bool) -> None:
        """Serve these methods from now on: the version is negotiated, and the response was sent."""
        self.stage = "session"
        self._conversation.null_ids = null_ids
        self._incoming.speak(routes)

    # -- sending

    def tell(self, method: Method[Any, Any], params: Any) -> Awaitable[None]:
        """Send a notification now. Awaiting only waits while the peer is slow."""
        name = method.name
        head = self._heads.get(name) or self._heads.setdefault(name, call_head(name))
        try:
            body = encode_strictly(params)
        except Exception:  # the strict encoder is faster; this one repairs lone surrogates and explains errors
            body = encode(params)
        return self.send_notification(b"%b%b}\n" % (head, body))

    # The three ways to send differ only for transports that treat notifications and requests differently. While nothing
    # watches the wire they are the transport's own methods (`_send_directly`).

    def send(self, lines: bytes) -> Awaitable[None]:
        """Send whole lines as they are."""
        self._before_sending(lines)
        return self.transport.send(lines)

    def send_notification(self, lines: bytes) -> Awaitable[None]:
        """Send notifications, as whole lines."""
        self._before_sending(lines)
        return self.transport.send_notification(lines)

    def send_request(self, line: bytes, id: int) -> Awaitable[None]:
        """Send one request with this id, as a whole line."""
        self._before_sending(line)
        return self.transport.send_request(line, id)

    def _before_sending(self, lines: bytes) -> None:
        if not self.is_open:
            raise self.closed_error("")
        self.tap.show("out", lines)

    def _send_directly(self) -> None:
        """Bind the transport's own methods while nothing watches the wire: one call less for every message."""
        if self.is_open and not self.tap.watchers:
            transport, kind = self.transport, type(self.transport)
            plain = kind.send_notification is Transport.send_notification  # it only calls `send`
            notify = transport.send if plain else transport.send_notification
            self.__dict__.update(send=transport.send, send_notification=notify, send_request=transport.send_request)

    def _send_through_us(self) -> None:
        """Undo `_send_directly`: something watches the wire, or the connection is closed."""
        for name in ("send", "send_notification", "send_request"):
            self.__dict__.pop(name, None)

    def send_quietly(self, lines: bytes) -> None:
        """Send a response without waiting until it is sent. It is dropped if the peer is gone."""
        if lines and self.can_answer:
            try:
                waiting = self.send(lines) if self.is_open else self._send_last(lines)
            except ConnectionClosed:
                log.debug("a response was dropped: the %s is gone", self.peer)
                return
            if waiting is not READY and waiting is not YIELD:
                self._unsent.add(waiting, len(lines))

    def _send_last(self, lines: bytes) -> Awaitable[None]:
        """Send a response after the peer has closed its half of the connection."""
        self.tap.show("out", lines)
        return self.transport.send(lines)

    # -- the end

    def on_end(self, error: Exception | None) -> None:
        """Called by the transport when it, or the peer's half of it, is closed."""
        if not self.is_open:
            return
        self._end_error = error
        self.is_open = False
        self.can_answer = error is None and self.transport.half_open and self._closing is None
        self._send_through_us()
        self._outgoing.end()
        if not self.can_answer:
            self._peer_requests.cancel_all(self._closed_by)
            self._peer_requests.close()
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(error)

    def closed_error(self, method: str, *, is_open: bool = False) -> ConnectionClosed:
        """Build the error to raise once the connection is closed: the request it affects, if any, and why it closed.

        `is_open` means that the request had been sent, or that its work continues, as in version 2 turns."""
        step = "startup" if method == "initialize" and self.side == "client" else method
        where = f" {'during' if is_open else 'before'} {step}" if method else ""
        error = self._end_error
        if isinstance(error, PeerDied):
            how = "hung up" if error.status is None else "exited"  # the process may still be running
            return PeerDied(
                f"the {self.peer} {how}{where}: {error}",
                command=error.command,
                status=error.status,
                stderr=error.stderr,
                stage=self.stage,
            )
        if error is not None:
            return ConnectionClosed(f"the connection to the {self.peer} broke{where}: {error}")
        if self._closing is not None and self.side == "client" and not is_open:
            why = "its “async with” block has ended, or close() was called"
            return ConnectionClosed(f"the connection to the agent ended{where}: {why}")
        return ConnectionClosed(f"the connection to the {self.peer} ended{where}{self.transport.describe_stderr()}")

    async def wait_ended(self) -> Exception | None:
        """Wait until the connection is closed. Returns the error if it broke."""
        assert self._ended is not None, "the connection has not been started"
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """Close the connection: cancel running handlers, send their last messages, then close the transport."""
        if self._closing is None:
            self._closed_by = asyncio.current_task()  # may be a handler, which continues after this returns
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if not self.is_open and self.can_answer:
            await self._peer_requests.finish(_LAST_RESPONSES_SECONDS, self._closed_by)
        tasks = self._peer_requests.cancel_all(self._closed_by)
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        await self.transport.close()
        self.on_end(None)
        self.can_answer = False
        await self._unsent.close()
        await self._peer_requests.finish(1, self._closed_by)  # handlers that started meanwhile have been cancelled too
        await self.lanes.close(_LAST_HANDLERS_SECONDS, self._closed_by)
        self._peer_requests.close()
        self._outgoing.settle()
        self._closed_by = None

    # -- reports

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Pass every line, in and out, to a watcher. Call the returned function to stop."""
        self._send_through_us()
        stop = self.tap.add(watcher)

        def stop_watching() -> None:
            stop()
            self._send_directly()

        return stop_watching

    def is_handling(self, id: RequestId) -> bool:
        """Return whether a request of the peer with this id is still unanswered."""
        return self._conversation.owes_response(id)

    @property
    def requests_accepted(self) -> bool:
        """Whether the peer has sent any request other than `initialize`."""
        return self._peer_requests.has_begun

    @property
    def problems(self) -> dict[str, int]:
        """The number of problems of each kind."""
        return self._problems.counts

    @property
    def first_stray(self) -> str:
        """The first stray output; empty if there was none."""
        return self._problems.first_stray

    @property
    def on_problem(self) -> Callable[[Problem], None] | None:
        """Called with each problem."""
        return self._problems.report

    @on_problem.setter
    def on_problem(self, report: Callable[[Problem], None] | None) -> None:
        self._problems.report = report
