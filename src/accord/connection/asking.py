"""Our own requests: sent, awaited, answered, abandoned, or too late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import UNSET

from accord.connection.deadlines import Deadlines
from accord.connection.dispatch import log, read_result
from accord.connection.lanes import Lane, inside
from accord.connection.limits import Deadline
from accord.errors import AccordError, ConnectionClosed, DeadlineExceeded, Overloaded, RequestFailed
from accord.rpc.conversation import Conversation
from accord.rpc.envelope import Failure, Success
from accord.schema.method import Method
from accord.schema.wire import encode
from accord.transports.base import READY, YIELD

if TYPE_CHECKING:
    from accord.connection.connection import Connection

P = TypeVar("P")
R = TypeVar("R")

_END_COMES_WITHIN = 1.0

Then = Callable[["asyncio.Future[Any]"], None]


class Waiter(msgspec.Struct, eq=False):
    """One of our open requests."""

    future: asyncio.Future[Any]
    method: Method[Any, Any]
    session: str | None
    patient: bool
    then: Then | None
    within: Lane | None
    id: int = -1


class Asking:
    """The requests of ours that are open on one connection."""

    def __init__(self, connection: Connection, conversation: Conversation[Waiter]) -> None:
        self._connection = connection
        self._conversation = conversation
        self._names: dict[str, bytes] = {}
        self._late: dict[Waiter, Success | Failure | Exception] = {}  # answers that wait behind their session's updates
        self._deadlines: Deadlines[Waiter] = Deadlines(self._too_late)
        self._loop: asyncio.AbstractEventLoop | None = None

    def ask(
        self,
        method: Method[Any, Any],
        params: Any,
        *,
        session: str | None = None,
        patient: bool = False,
        then: Then | None = None,
    ) -> tuple[Waiter, Awaitable[None]]:
        """Sends a request now; the caller awaits `waiter.future`, and the sending only to feel back-pressure."""
        connection = self._connection
        if not connection.is_open:
            raise connection.closed_error(method.name)
        body = encode(params)
        if session is None:
            session = getattr(params, "session_id", None) or None
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        waiter = Waiter(loop.create_future(), method, session, patient, then, inside.get())
        name = self._names.get(method.name) or self._names.setdefault(method.name, encode(method.name))
        if not patient and not connection.backlog.call_opened():
            raise self._overloaded(method.name)
        waiter.id, line = self._conversation.request(name, body, waiter)
        try:
            return waiter, connection.send(line)
        except BaseException as error:
            if isinstance(error, ConnectionClosed) and connection.is_open:
                # The wire is broken and the end is on its way; when it comes it tells who died, and of what.
                loop.call_later(_END_COMES_WITHIN, self._not_sent, waiter, error)
                return waiter, READY
            self._conversation.forget(waiter.id)
            if not patient:
                connection.backlog.call_closed()
            raise

    async def call(
        self,
        method: Method[P, R],
        params: P,
        *,
        session: str | None = None,
        deadline: Deadline | None = None,
        patient: bool = False,
        then: Then | None = None,
    ) -> R:
        """Asks and awaits the answer."""
        waiter, waiting = self.ask(method, params, session=session, patient=patient, then=then)
        in_time = None
        try:
            if deadline is not None:
                in_time = self._deadlines.queue(deadline)
                in_time.add(waiter)
            if waiting is not READY:
                await (waiting if deadline is None or waiting is YIELD else _sent(waiting, waiter.future))
            return await waiter.future  # type: ignore[no-any-return]
        finally:
            if in_time is not None:
                in_time.remove(waiter)
            if not patient:
                self._connection.backlog.call_closed()
            if waiter.future.cancelled() or not waiter.future.done():
                self.abandon(waiter)

    def answered(self, waiter: Waiter, answer: Success | Failure | Exception) -> None:
        """An answer came: delivered after what came before it in its session, unless the one who waits is there."""
        lane = self._connection.lanes.active.get(waiter.session) if waiter.session is not None else None
        if lane is None or lane is waiter.within:
            self._resolve(waiter, answer)
        else:
            self._late[waiter] = answer
            self._connection.lanes.push(waiter.session, self._now, waiter)

    def _now(self, waiter: Waiter) -> None:
        answer = self._late.pop(waiter, None)
        if answer is not None:
            self._resolve(waiter, answer)

    def _resolve(self, waiter: Waiter, answer: Success | Failure | Exception) -> None:
        future = waiter.future
        if future.done():
            return
        if isinstance(answer, Success):
            try:
                future.set_result(read_result(waiter.method, answer.result))
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
                log.error("what follows the answer to %s failed", waiter.method.name, exc_info=error)

    def abandon(self, waiter: Waiter) -> None:
        """Nobody awaits the answer any more: they are told, and when it comes all the same it is dropped."""
        if self._connection.is_open and self._conversation.awaits(waiter.id):
            waiter.future.cancel()
            self._connection.send_quietly(self._conversation.cancel(waiter.id))

    def _not_sent(self, waiter: Waiter, error: ConnectionClosed) -> None:
        """The end did not come after all."""
        if not waiter.future.done():
            self._conversation.forget(waiter.id)
            self._resolve(waiter, error)

    def _too_late(self, waiter: Waiter, deadline: Deadline) -> None:
        if waiter.future.done():
            return
        transport = self._connection.transport
        words = transport.last_words()
        tail = f'; its last words: "{words}"' if words else ""
        what = f"{transport.describe()} did not answer {waiter.method.name} within {deadline.seconds:g} s"
        error = DeadlineExceeded(
            f"{what} (stage {deadline.stage}){tail}", stage=deadline.stage, seconds=deadline.seconds
        )
        waiter.future.set_exception(error)
        self._connection.send_quietly(self._conversation.cancel(waiter.id))

    def give_up(self) -> None:
        """Too much arrived while these waited."""
        for waiter in self._conversation.we_await:
            if not waiter.patient and not waiter.future.done():
                waiter.future.set_exception(self._overloaded(waiter.method.name))
                self._connection.send_quietly(self._conversation.cancel(waiter.id))

    def _overloaded(self, method: str) -> Overloaded:
        limit = self._connection.limits.max_waiting_bytes
        return Overloaded(f"{method}: more than {limit} bytes arrived and wait to be delivered; deliver them faster")

    def end(self) -> None:
        """The connection is over. Whoever waits is told, after what came before the end."""
        for waiter in self._conversation.end():
            self.answered(waiter, self._connection.closed_error(waiter.method.name, waiter.id))

    def settle(self) -> None:
        """Nothing more will be delivered: whoever still waits for their turn gets the answer now."""
        self._deadlines.close()
        for waiter in list(self._late):
            self._now(waiter)


async def _sent(waiting: Awaitable[None], future: asyncio.Future[Any]) -> None:
    """Waits for a peer that takes nothing, but no longer than for its answer: that may be too late already."""
    sending = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait((sending, future), return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not sending.done():
            sending.cancel()
