"""Our own requests: sent, answered, cancelled, or timed out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from threading import get_ident
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import UNSET

from accord.connection.dispatch import has_session, log, read_result
from accord.connection.lanes import Lane, current_lane
from accord.connection.limits import Deadline
from accord.errors import AccordError, ConnectionClosed, DeadlineExceeded, Overloaded, RequestFailed
from accord.rpc.conversation import Conversation
from accord.rpc.envelope import Failure, Success
from accord.schema.method import Method
from accord.schema.wire import encode, encode_strictly
from accord.transports.base import READY, YIELD, check_thread

if TYPE_CHECKING:
    from accord.connection.connection import Connection


P = TypeVar("P")
R = TypeVar("R")

_END_SECONDS = 5.0
"""How long a request that couldn't be sent waits for the transport to report why it ended. A transport may itself wait
for an exit status and the rest of the output."""

Then = Callable[["asyncio.Future[Any]"], None]
Read = Callable[[Method[Any, Any], "bytes | msgspec.Raw"], Any]
"""Decode the result of a call, like `read_result`."""


class Waiter(msgspec.Struct, eq=False):
    """One of our open requests.

    A `long_running` one, such as a prompt, neither keeps reading going for its response nor fails when the backlog is
    full."""

    future: asyncio.Future[Any]
    method: Method[Any, Any]
    session: str | None
    long_running: bool
    then: Then | None
    within: Lane | None
    read: Read
    id: int = -1


class Ask(Protocol):
    """The type of `OutgoingRequests.ask`, bound."""

    def __call__(
        self,
        method: Method[Any, Any],
        params: Any,
        *,
        session: str | None = None,
        long_running: bool = False,
        then: Then | None = None,
    ) -> tuple[Waiter, Awaitable[None]]: ...


class Call(Protocol):
    """The type of `OutgoingRequests.call`, bound."""

    def __call__(
        self,
        method: Method[P, R],
        params: P,
        *,
        session: str | None = None,
        deadline: Deadline | None = None,
        long_running: bool = False,
        then: Then | None = None,
    ) -> Coroutine[Any, Any, R]: ...


class OutgoingRequests:
    """Our open requests on one connection."""

    def __init__(self, connection: Connection, conversation: Conversation[Waiter]) -> None:
        self._connection = connection
        self._conversation = conversation
        self._names: dict[str, bytes] = {}
        # Responses that wait for earlier updates of their session.
        self._deferred: dict[Waiter, Success | Failure | Exception] = {}
        self._deadlines: Deadlines[Waiter] = Deadlines(self._on_deadline)
        self._loop: asyncio.AbstractEventLoop | None = None

    def ask(
        self,
        method: Method[Any, Any],
        params: Any,
        *,
        session: str | None = None,
        long_running: bool = False,
        then: Then | None = None,
        read: Read = read_result,
    ) -> tuple[Waiter, Awaitable[None]]:
        """Send a request now. Await `waiter.future` for the response; awaiting the second value only waits while the
        peer is slow."""
        connection = self._connection
        if get_ident() != connection.thread:
            check_thread(connection.thread)
        if not connection.is_open:
            raise connection.closed_error(method.name)
        try:
            body = encode_strictly(params)
        except Exception:  # the strict encoder is faster; this one repairs lone surrogates and explains errors
            body = encode(params)
        if session is None and has_session(type(params)):
            session = params.session_id or None
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        # The loop's own method is a Python function around this.
        waiter = Waiter(asyncio.Future(loop=loop), method, session, long_running, then, current_lane.get(), read)
        name = self._names.get(method.name) or self._names.setdefault(method.name, encode(method.name))
        backlog = connection.backlog
        if not long_running:
            if backlog.paused and not backlog.resume_for_call():
                raise self._overload_error(method.name)
            backlog.calls += 1
        waiter.id, line = self._conversation.request(name, body, waiter)
        try:
            return waiter, connection.send_request(line, waiter.id)
        except BaseException as error:
            if isinstance(error, ConnectionClosed) and connection.is_open:
                # The transport is broken. It is about to report its end, with the reason.
                loop.call_later(_END_SECONDS, self._fail_unsent, waiter, error)
                return waiter, READY
            self._conversation.pop_waiter(waiter.id, None)
            if not long_running:
                backlog.calls -= 1
            raise

    async def call(
        self,
        method: Method[P, R],
        params: P,
        *,
        session: str | None = None,
        deadline: Deadline | None = None,
        long_running: bool = False,
        then: Then | None = None,
        read: Read = read_result,
    ) -> R:
        """Send a request and wait for the response."""
        waiter, waiting = self.ask(method, params, session=session, long_running=long_running, then=then, read=read)
        in_time = None
        try:
            if deadline is not None:
                in_time = self._deadlines.add(waiter, deadline)
            if waiting is not READY:
                await (waiting if deadline is None or waiting is YIELD else _wait_until_sent(waiting, waiter.future))
            result: R = await waiter.future
            return result
        finally:
            if in_time is not None:
                in_time.remove(waiter, None)
            if not long_running:
                backlog = self._connection.backlog
                backlog.calls -= 1
                if backlog.bytes > backlog.limit:
                    backlog.consider_pausing()
            if waiter.future.cancelled() or not waiter.future.done():
                self.abandon(waiter)

    def deliver_response(self, waiter: Waiter, answer: Success | Failure | Exception) -> None:
        """Deliver a response after the earlier messages of its session, unless the caller is in that session's lane."""
        lane = self._connection.lanes.active.get(waiter.session) if waiter.session is not None else None
        if lane is None or lane is waiter.within:
            self.resolve(waiter, answer)
        else:
            self._deferred[waiter] = answer
            self._connection.lanes.push(waiter.session, self._resolve_deferred, waiter)

    def _resolve_deferred(self, waiter: Waiter) -> None:
        answer = self._deferred.pop(waiter, None)
        if answer is not None:
            self.resolve(waiter, answer)

    def resolve(self, waiter: Waiter, answer: Success | Failure | Exception) -> None:
        """Give the caller its response."""
        future = waiter.future
        if future.done():
            return
        if isinstance(answer, Success):
            try:
                future.set_result(waiter.read(waiter.method, answer.result))
            except AccordError as error:
                future.set_exception(error)
        elif isinstance(answer, Failure):
            fault = answer.error
            data = None if fault.data is UNSET else fault.data
            future.set_exception(RequestFailed.of(fault.code, fault.message, data, waiter.method.name))
        else:
            future.set_exception(answer)
        if waiter.then is not None:
            try:
                waiter.then(future)
            except Exception as error:
                log.error("a callback after the response to %s failed", waiter.method.name, exc_info=error)

    def abandon(self, waiter: Waiter) -> None:
        """Cancel a request that no caller waits for. A response that arrives anyway is dropped."""
        if self._connection.is_open and self._conversation.awaits_response(waiter.id):
            waiter.future.cancel()
            self._connection.send_quietly(self._conversation.cancel(waiter.id))

    def _fail_unsent(self, waiter: Waiter, error: ConnectionClosed) -> None:
        """Fail a request that couldn't be sent, if the connection hasn't ended meanwhile."""
        if not waiter.future.done():
            self._conversation.pop_waiter(waiter.id, None)
            self.resolve(waiter, error)

    def _on_deadline(self, waiter: Waiter, deadline: Deadline) -> None:
        if waiter.future.done():
            return
        transport = self._connection.transport
        what = f"{transport.describe()} didn't respond to {waiter.method.name} within {deadline.seconds:g} s"
        error = DeadlineExceeded(
            f"{what} (stage {deadline.stage}){transport.describe_stderr()}",
            stage=deadline.stage,
            seconds=deadline.seconds,
        )
        waiter.future.set_exception(error)
        self._connection.send_quietly(self._conversation.cancel(waiter.id))

    def give_up(self) -> None:
        """Fail the open requests, because too many messages arrived while they waited."""
        for waiter in self._conversation.waiters:
            if not waiter.long_running and not waiter.future.done():
                waiter.future.set_exception(self._overload_error(waiter.method.name))
                self._connection.send_quietly(self._conversation.cancel(waiter.id))

    def _overload_error(self, method: str) -> Overloaded:
        limit = self._connection.limits.max_waiting_bytes
        return Overloaded(f"{method}: more than {limit} bytes are waiting to be delivered; handle messages faster")

    def end(self) -> None:
        """Fail all open requests, after delivering the earlier messages: the connection is closed."""
        for waiter in self._conversation.end():
            self.deliver_response(waiter, self._connection.closed_error(waiter.method.name, is_open=True))

    def settle(self) -> None:
        """Resolve responses that still wait for their session's lane, because nothing more will be delivered."""
        self._deadlines.close()
        for waiter in list(self._deferred):
            self._resolve_deferred(waiter)


async def _wait_until_sent(waiting: Awaitable[None], future: asyncio.Future[Any]) -> None:
    """Wait until a request is sent, or its response or deadline arrives first."""
    sending = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait((sending, future), return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not sending.done():
            sending.cancel()


W = TypeVar("W")


class Deadlines(Generic[W]):
    """The deadlines of our open requests. `on_deadline` is called for each request that misses its own.

    A timer per request would cost more than the rest of the request. Requests with the same time limit expire in the
    order in which they were sent, so they share one timer, which is set for the oldest and reset when it fires."""

    def __init__(self, on_deadline: Callable[[W, Deadline], None]) -> None:
        self._on_deadline = on_deadline
        self._queues: dict[Deadline, _Queue[W]] = {}

    def add(self, waiter: W, deadline: Deadline) -> _Queue[W]:
        """Add a request, whose time starts now. Returns the queue that it must be removed from when it is done."""
        queue = self._queues.get(deadline)
        if queue is None:
            queue = self._queues[deadline] = _Queue(deadline, self._on_deadline)
        due = queue.due[waiter] = queue.loop.time() + deadline.seconds
        if queue.timer is None:
            queue.start_timer(due)
        return queue

    def close(self) -> None:
        """Stop all timers."""
        for queue in self._queues.values():
            queue.close()


class _Queue(Generic[W]):
    """Requests with the same time limit, oldest first."""

    __slots__ = ("_deadline", "_on_deadline", "due", "loop", "remove", "timer")

    def __init__(self, deadline: Deadline, on_deadline: Callable[[W, Deadline], None]) -> None:
        self._deadline = deadline
        self._on_deadline = on_deadline
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self.due: dict[W, float] = {}
        self.timer: asyncio.TimerHandle | None = None
        self.remove: Callable[[W, None], object] = self.due.pop
        """Remove a request that is done. The timer keeps running: stopping and setting it each time costs too much."""

    def start_timer(self, due: float) -> None:
        self.timer = self.loop.call_at(due, self._on_timer)

    def close(self) -> None:
        self.due.clear()
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _on_timer(self) -> None:
        self.timer = None
        while self.due:
            waiter, due = next(iter(self.due.items()))
            if due > self.loop.time():
                self.start_timer(due)
                return
            del self.due[waiter]
            self._on_deadline(waiter, self._deadline)
