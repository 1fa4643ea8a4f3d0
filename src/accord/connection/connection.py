"""One conversation over one transport: reads in order, a task per request, an orderly end.

What arrives is decoded in the transport's own callback and handled there when the handler is a plain function. What
must be awaited goes through its session's lane (`lanes`), so that a session sees its updates one at a time and in wire
order, and gets the answer to a request only after the updates that came before it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET

from accord.connection.backlog import Backlog
from accord.connection.dispatch import (
    Answer,
    Route,
    Routes,
    encode_result,
    fault_of,
    log,
    method_not_found,
    read_params,
    read_result,
)
from accord.connection.lanes import Lanes, inside
from accord.connection.limits import Deadline, Limits
from accord.connection.tap import Tap, Watcher
from accord.errors import (
    INVALID_REQUEST,
    AccordError,
    ConnectionClosed,
    DeadlineExceeded,
    LocalProtocolError,
    Overloaded,
    PeerDied,
    RequestFailed,
)
from accord.rpc.conversation import Answered, Cancelled, Conversation, Unexpected
from accord.rpc.envelope import (
    Call,
    Fault,
    Malformed,
    Notification,
    Request,
    RequestId,
    Success,
    call_head,
    readable_id,
)
from accord.schema.method import Method
from accord.schema.repair import Unreadable
from accord.schema.wire import encode as encode_message
from accord.transports.base import READY, Transport

P = TypeVar("P")
R = TypeVar("R")

current_request: ContextVar[RequestId] = ContextVar("accord_request", default=None)
"""The id of the request whose handler is running."""

_UNKNOWN: Method[Any, Any] = Method(name="", served_by="both", params=dict, result=object)  # type: ignore[arg-type]


Then = Callable[["asyncio.Future[Any]"], None]


class Trouble(msgspec.Struct, frozen=True):
    """Something went wrong on the wire that no caller waits for. It is reported, and the connection goes on."""

    kind: Literal["stray", "oversized", "unexpected", "dropped", "refused", "handler"]
    text: str
    size: int = 0


class _Waiter:
    """One of our open requests."""

    __slots__ = ("abandoned", "future", "id", "method", "patient", "session", "then", "within")

    def __init__(
        self, future: asyncio.Future[Any], method: Method[Any, Any], session: str | None, patient: bool
    ) -> None:
        self.future = future
        self.method = method
        self.session = session
        self.patient = patient
        self.within = inside.get()
        self.then: Then | None = None
        self.abandoned = False
        self.id = -1


class Connection:
    """One end of a conversation. `side` says which role we play."""

    def __init__(self, transport: Transport, *, side: Literal["agent", "client"], limits: Limits | None = None) -> None:
        self.transport = transport
        self.side = side
        self.peer = "client" if side == "agent" else "agent"
        self.limits = limits or Limits()
        self.tap = Tap()
        self.troubles: dict[str, int] = {}
        self.on_trouble: Callable[[Trouble], None] | None = None
        self.stage = "initialize"
        self.heard = False
        """Whether the peer has sent anything at all."""
        self.message_size = 0
        """About how many bytes the message now being delivered has."""
        self.backlog = Backlog(self.limits, transport.pause, transport.resume, self._give_up)
        self._conversation: Conversation[_Waiter] = Conversation()
        self._lanes = Lanes(self.backlog, self._handler_failed)
        self._routes: Routes | None = None
        self._early: Routes | None = None
        self._opening = False
        self._held: list[bytes] = []
        self._tasks: dict[RequestId, asyncio.Task[None]] = {}
        self._cancelled_early: set[RequestId] = set()
        self._heads: dict[str, bytes] = {}
        self._names: dict[str, bytes] = {}
        self._ended: asyncio.Future[Exception | None] | None = None
        self._end_error: Exception | None = None
        self._over = False
        self._closing: asyncio.Task[None] | None = None

    # -- beginning

    def start(self, early: Routes) -> None:
        """Begins to receive. Until `speak` only what is in `early` is served; the rest is refused or kept."""
        self._early = early
        self._ended = asyncio.get_running_loop().create_future()
        self._ended.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.transport.max_message_bytes = self.limits.max_message_bytes
        self._conversation.reader = early.reader
        self.transport.start(self)

    def speak(self, routes: Routes, *, null_ids: bool) -> None:
        """The version is agreed: from now on these methods are served. What was kept meanwhile is read now."""
        self._conversation.reader = routes.reader
        self._conversation.null_ids = null_ids
        self._routes = routes
        self._opening = False
        self.stage = "session"
        held, self._held = self._held, []
        for block in held:
            self._deliver_all(block)

    def not_speaking(self) -> None:
        """The handshake failed; the connection stays as it was before it."""
        self._opening = False
        held, self._held = self._held, []
        for block in held:
            self._deliver_early(block)

    @property
    def is_open(self) -> bool:
        return not self._over

    # -- what comes in (the transport's receiver)

    def lines(self, block: bytes) -> None:
        if self.tap.watchers:
            self.tap.show("in", block)
        if self._routes is not None:
            self._deliver_all(block)
        else:
            self.heard = True
            self._deliver_early(block)

    def _deliver_all(self, block: bytes) -> None:
        routes = self._routes
        assert routes is not None
        by_call = routes.by_call
        size = self.message_size = len(block) // (block.count(b"\n") or 1) or 1
        for message in self._conversation.receive(block):
            if isinstance(message, Call):
                route = by_call[type(message)]
                params = message.params  # type: ignore[attr-defined]
                if message.id is UNSET:
                    self._deliver(route, params, size)
                else:
                    self._accept(message.id, route, params, size)
            else:
                self._sort(message, routes, size)

    def _deliver_early(self, block: bytes) -> None:
        """Before the version is agreed: one line at a time, because a line may change how the next is read."""
        assert self._early is not None
        lines = [line for line in block.split(b"\n") if line.strip()]
        for index, line in enumerate(lines):
            if self._routes is not None:
                self._deliver_all(b"\n".join(lines[index:]))
                return
            if self._opening and b'"method"' in line[:200] and not self._is_early(line):
                self._held.append(line)
                continue
            for message in self._conversation.receive_line(line):
                if isinstance(message, Call):
                    route = self._early.by_call[type(message)]
                    self._opening = self._opening or route.method.name == "initialize"
                    self._accept(message.id, route, message.params, 0)  # type: ignore[arg-type, attr-defined]
                else:
                    self._sort(message, self._early, 0)

    def _is_early(self, line: bytes) -> bool:
        assert self._early is not None
        return self._early.reader.line(line) is not None

    def _sort(self, message: Any, routes: Routes, size: int) -> None:
        match message:
            case Answered(waiter=waiter, answer=answer):
                self._answered(waiter, answer)
            case Request(id=id, method=name, params=params):
                self._sort_request(id, name, params, routes, size)
            case Notification(method=name, params=params):
                self._sort_notification(name, params, routes, size)
            case Cancelled(id=id):
                self._cancel_task(id)
            case Malformed():
                self._complain(message)
            case Unexpected(id=id, error=error):
                self._trouble("unexpected", f"an answer that nobody awaits (id {id!r}{_because(error)})")

    def _sort_request(self, id: RequestId, name: str, params: bytes, routes: Routes, size: int) -> None:
        route = routes.by_name.get((name, False))
        if route is not None:
            try:
                read = read_params(route.method, params)
            except Unreadable as error:
                self._refuse(id, fault_of(error, name))
                return
            if name == "initialize" and self._routes is None:
                self._opening = True
            self._accept(id, route, read, size)
        elif self._routes is None:
            self._refuse(id, Fault(INVALID_REQUEST, f"{name[:100]} came before initialize; send initialize first"))
        elif routes.other_request is not None:
            other = routes.other_request
            plain = msgspec.json.decode(params)
            self._accept(id, Route(_UNKNOWN, lambda value: other(name, value)), plain, size, _session_in(plain), name)
        else:
            self._refuse(id, method_not_found(name))

    def _sort_notification(self, name: str, params: bytes, routes: Routes, size: int) -> None:
        route = routes.by_name.get((name, True))
        if route is not None:
            try:
                read = read_params(route.method, params)
            except Unreadable as error:
                self._trouble("dropped", f"{name}: {error}", size)
                return
            self._deliver(route, read, size)
        elif self._routes is not None and routes.other_notification is not None:
            other = routes.other_notification
            plain = msgspec.json.decode(params)
            self._deliver(Route(_UNKNOWN, lambda value: other(name, value)), plain, size, _session_in(plain))
        elif not name.startswith("$/"):
            self._trouble("dropped", f"{name[:100]}: nobody here knows this notification", size)

    def _deliver(self, route: Route, params: Any, size: int, session: str | None = None) -> None:
        """A notification: in place when nothing of its session is waiting, else behind that."""
        if route.by_session:
            session = getattr(params, "session_id", None)
        if self._lanes.get(session) is not None:
            self._lanes.push(session, lambda: route.handler(params), size)
            return
        try:
            waiting = route.handler(params)
        except Exception as error:
            self._handler_failed(error)
            return
        if waiting is not None:
            self._lanes.push(session, lambda: waiting, size)

    def _accept(
        self, id: RequestId, route: Route, params: Any, size: int, session: str | None = None, name: str = ""
    ) -> None:
        """A request: its handler starts after everything of its session that came before."""
        if route.by_session:
            session = getattr(params, "session_id", None)
        name = name or route.method.name
        if self._lanes.get(session) is not None:
            self._lanes.push(session, lambda: self._begin(id, route, params, name), size)
        else:
            self._begin(id, route, params, name)

    def _begin(self, id: RequestId, route: Route, params: Any, name: str) -> None:
        if id in self._cancelled_early:
            self._cancelled_early.discard(id)
            self._refuse(id, fault_of(asyncio.CancelledError(), name))
            return
        if not self._conversation.owes(id):
            return
        try:
            result = route.handler(params)
            if not inspect.isawaitable(result):
                self._answer(id, result, name)
                return
        except Exception as error:
            self._refuse(id, fault_of(error, name))
            return
        task = asyncio.get_running_loop().create_task(self._serve(id, result, name))
        self._tasks[id] = task

    async def _serve(self, id: RequestId, result: Awaitable[Any], name: str) -> None:
        current_request.set(id)
        try:
            self._answer(id, await result, name)
        except asyncio.CancelledError as cancelled:
            if self._conversation.owes(id):
                self._refuse(id, fault_of(cancelled, name))
            if self._over:
                raise
        except Exception as error:
            self._refuse(id, fault_of(error, name))
        finally:
            self._tasks.pop(id, None)

    def _answer(self, id: RequestId, result: Any, name: str) -> None:
        then = None
        if isinstance(result, Answer):
            result, then = result.result, result.then
        try:
            body = encode_result(result)
        except Exception as error:
            log.error("%s: the result cannot be encoded", name, exc_info=error)
            self._refuse(id, fault_of(RequestFailed(f"{name}: the result cannot be encoded: {error}"), name))
            return
        if self._conversation.owes(id):
            self._send_quietly(self._conversation.answer(id, body))
        if then is not None:
            then()

    def _refuse(self, id: RequestId, fault: Fault) -> None:
        if not self._conversation.owes(id):
            return
        try:
            line = self._conversation.refuse(id, fault)
        except Exception:  # data that cannot be encoded must not leave the peer waiting
            line = (
                self._conversation.refuse(id, Fault(fault.code, fault.message)) if self._conversation.owes(id) else b""
            )
        self._send_quietly(line)

    def _cancel_task(self, id: RequestId) -> None:
        task = self._tasks.get(id)
        if task is not None:
            task.cancel()
        else:
            self._cancelled_early.add(id)

    def _complain(self, malformed: Malformed) -> None:
        self._trouble("stray" if malformed.stray else "refused", malformed.answer.message)
        # A client does not answer stray text: the agent never asked anything.
        if malformed.gathering is not None or self.side == "agent" or not malformed.stray:
            self._send_quietly(self._conversation.complain(malformed))

    def oversized(self, head: bytes, size: int) -> None:
        limit = self.limits.max_message_bytes
        self._trouble("oversized", f"a message of {size} bytes was skipped; the limit is {limit}", size)
        id = readable_id(head)
        if b'"method"' in head and b'"id"' not in head[: head.find(b'"params"') if b'"params"' in head else len(head)]:
            return  # a notification is never answered
        fault = Fault(INVALID_REQUEST, f"Invalid request: the message has {size} bytes; at most {limit} are read")
        if b'"method"' not in head and id is not None:
            waiter = self._conversation.forget(id)
            if waiter is not None:
                self._fail(
                    waiter, AccordError(f"{waiter.method.name}: the answer has {size} bytes; the limit is {limit}")
                )
                return
        self._send_quietly(self._conversation.complain(Malformed(fault, id, stray=False)))

    # -- what goes out

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
        """Asks and awaits the answer. Cancelling this sends `$/cancel_request`.

        `patient` marks a call that may stay open for as long as people and models take: it does not keep reading
        going when too much is pending. `then` is called with the answer in its place among the other messages, before
        any later one is delivered."""
        waiter, waiting = self.ask(method, params, session=session, patient=patient, then=then)
        try:
            if deadline is None:
                if waiting is not READY:
                    await waiting
                return await waiter.future  # type: ignore[no-any-return]
            try:
                async with asyncio.timeout(deadline.seconds):
                    await waiting
                    return await waiter.future  # type: ignore[no-any-return]
            except TimeoutError:
                raise self._too_late(method.name, deadline) from None
        finally:
            if not waiter.future.done() or waiter.future.cancelled():
                self._abandon(waiter)
            if not patient:
                self.backlog.call_closed()

    def ask(
        self,
        method: Method[Any, Any],
        params: Any,
        *,
        session: str | None = None,
        patient: bool = False,
        then: Then | None = None,
    ) -> tuple[_Waiter, Awaitable[None]]:
        """Sends a request now; the caller awaits `waiter.future`, and the sending only to feel back-pressure."""
        if self._over:
            raise self.closed_error(method.name)
        body = encode_message(params)
        if session is None:
            session = getattr(params, "session_id", None)
        waiter = _Waiter(asyncio.get_running_loop().create_future(), method, session or None, patient)
        waiter.then = then
        name = self._names.get(method.name) or self._names.setdefault(method.name, encode_message(method.name))
        waiter.id, line = self._conversation.request(name, body, waiter)
        if not patient:
            self.backlog.call_opened()
        return waiter, self.send(line)

    def tell(self, method: Method[Any, Any], params: Any) -> Awaitable[None]:
        """Sends a notification now. Awaiting only waits while the peer is slow."""
        name = method.name
        head = self._heads.get(name) or self._heads.setdefault(name, call_head(name))
        return self.send(head + encode_message(params) + b"}\n")

    def send(self, lines: bytes) -> Awaitable[None]:
        """Sends whole lines as they are."""
        if self._over:
            raise self.closed_error("")
        if self.tap.watchers:
            self.tap.show("out", lines)
        return self.transport.send(lines)

    def _send_quietly(self, lines: bytes) -> None:
        """An answer: nobody awaits its sending, and when the peer is gone nobody misses it."""
        if lines and not self._over:
            try:
                self.send(lines)
            except ConnectionClosed:
                log.debug("an answer was not sent: the %s is gone", self.peer)

    # -- answers to us

    def _answered(self, waiter: _Waiter, answer: Any) -> None:
        lane = self._lanes.get(waiter.session) if waiter.session is not None else None
        if lane is not None and lane is not waiter.within:
            self._lanes.push(waiter.session, lambda: self._resolve(waiter, answer))
        else:
            self._resolve(waiter, answer)

    def _resolve(self, waiter: _Waiter, answer: Any) -> None:
        future = waiter.future
        if future.done():
            return
        if isinstance(answer, Success):
            try:
                future.set_result(read_result(waiter.method, answer.result))
            except AccordError as error:
                future.set_exception(error)
        elif isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            fault: Fault = answer.error
            data = None if fault.data is UNSET else fault.data
            future.set_exception(RequestFailed.of(fault.code, fault.message, data, waiter.method.name))
        if waiter.then is not None:
            waiter.then(future)

    def _fail(self, waiter: _Waiter, error: Exception) -> None:
        self._answered(waiter, error)

    def _abandon(self, waiter: _Waiter) -> None:
        """Nobody awaits the answer any more: they are told, and when it comes all the same it is dropped."""
        if waiter.abandoned or self._over or not self._conversation.awaits(waiter.id):
            return
        waiter.abandoned = True
        waiter.future.cancel()
        self._send_quietly(self._conversation.cancel(waiter.id))

    def _give_up(self) -> None:
        limit = self.limits.max_waiting_bytes
        for waiter in self._conversation.we_await:
            if not waiter.patient and not waiter.future.done():
                name = waiter.method.name
                waiter.future.set_exception(
                    Overloaded(f"{name}: more than {limit} bytes arrived before the answer; deliver them faster")
                )

    # -- the end

    def ended(self, error: Exception | None) -> None:
        """The transport is over. Whoever waits is told, after what came before the end."""
        if self._over:
            return
        self._end_error = error
        self._over = True
        for waiter in self._conversation.end():
            self._fail(waiter, self.closed_error(waiter.method.name, waiter.id))
        for task in list(self._tasks.values()):
            task.cancel()
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(error)

    def closed_error(self, method: str, id: int | None = None) -> ConnectionClosed:
        """What to raise now that the connection is over: where it mattered, and why it ended."""
        where = f"while {method} (id {id}) was open" if id is not None else f"before {method}" if method else "already"
        error = self._end_error
        if isinstance(error, PeerDied):
            return PeerDied(
                f"the {self.peer} ended {where}: {error}",
                command=error.command,
                status=error.status,
                stderr=error.stderr,
                stage=self.stage,
            )
        if error is not None:
            return ConnectionClosed(f"the connection to the {self.peer} broke {where}: {error}")
        words = self.transport.last_words()
        tail = f'; its last words: "{words}"' if words else ""
        return ConnectionClosed(f"the connection to the {self.peer} ended {where}{tail}")

    def _too_late(self, method: str, deadline: Deadline) -> DeadlineExceeded:
        words = self.transport.last_words()
        tail = f'; its last words: "{words}"' if words else ""
        what = f"{self.transport.describe()} did not answer {method} within {deadline.seconds:g} s"
        return DeadlineExceeded(
            f"{what} (stage {deadline.stage}){tail}", stage=deadline.stage, seconds=deadline.seconds
        )

    async def wait_ended(self) -> Exception | None:
        """Waits until the connection is over; gives the reason when it broke."""
        assert self._ended is not None, "the connection has not been started"
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """Ends in an orderly way: running handlers are cancelled, what they still say is sent, then the wire closes."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        here = asyncio.current_task()
        tasks = [task for task in self._tasks.values() if task is not here]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        await self.transport.close()
        self.ended(None)
        await self._lanes.close(grace=0.5)

    # -- reports

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Shows every line, in and out, to a watcher, until what this returns is called."""
        return self.tap.add(watcher)

    def _trouble(self, kind: Any, text: str, size: int = 0) -> None:
        self.troubles[kind] = self.troubles.get(kind, 0) + 1
        if self.troubles[kind] <= 20:
            log.warning("from the %s: %s", self.peer, text)
        if self.on_trouble is not None:
            self.on_trouble(Trouble(kind, text, size))

    def _handler_failed(self, error: BaseException) -> None:
        if isinstance(error, LocalProtocolError):
            log.error("a handler of a notification broke the protocol: %s", error)
        else:
            log.error("a handler of a notification failed", exc_info=error)
        self.troubles["handler"] = self.troubles.get("handler", 0) + 1
        if self.on_trouble is not None:
            self.on_trouble(Trouble("handler", f"{type(error).__name__}: {error}"))


def _because(error: Fault | None) -> str:
    return f", error {error.code}: {error.message[:200]}" if error is not None else ""


def _session_in(params: Any) -> str | None:
    session = params.get("sessionId") if isinstance(params, dict) else None
    return session if isinstance(session, str) else None
