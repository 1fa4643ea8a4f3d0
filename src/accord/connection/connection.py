"""One conversation over one transport: reads in order, a task per request, an orderly end.

What arrives is decoded in the transport's own callback and handled there when the handler is a plain function. What
must be awaited goes through its session's lane (`lanes`), so that a session sees its updates one at a time and in wire
order, and gets the answer to a request only after the updates that came before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from accord.connection.asking import Asking, Then, Waiter
from accord.connection.backlog import Backlog, Unsent
from accord.connection.dispatch import Handler, Route, Routes, fault_of, log, method_not_found, read_params
from accord.connection.lanes import Lanes
from accord.connection.limits import Deadline, Limits
from accord.connection.opening import Opening
from accord.connection.serving import Serving, current_request
from accord.connection.tap import Tap, Watcher
from accord.errors import INVALID_REQUEST, AccordError, ConnectionClosed, PeerDied
from accord.rpc.conversation import Answered, Cancelled, Conversation, Unexpected
from accord.rpc.envelope import (
    Call,
    Fault,
    Malformed,
    Notification,
    Request,
    call_head,
    looks_like_answer,
)
from accord.rpc.envelope import answer as read_answer
from accord.rpc.glimpse import Glimpse, glimpse
from accord.rpc.ids import RequestId
from accord.schema.method import Method
from accord.schema.repair import Unreadable
from accord.schema.wire import encode
from accord.transports.base import READY, YIELD, Transport

__all__ = ["Connection", "Deadline", "Limits", "Then", "Trouble", "current_request"]

_LAST_ANSWERS = 1.0  # seconds for requests that are still being handled when the last of them was read


class Trouble(msgspec.Struct, frozen=True):
    """Something went wrong on the wire that no caller waits for. It is reported, and the connection goes on."""

    kind: Literal["stray", "oversized", "unexpected", "dropped", "refused", "handler"]
    text: str
    size: int = 0


class Connection:
    """One end of a conversation. `side` says which role we play."""

    def __init__(self, transport: Transport, *, side: Literal["agent", "client"], limits: Limits | None = None) -> None:
        self.transport = transport
        self.side = side
        self.peer = "client" if side == "agent" else "agent"
        self.limits = limits or Limits()
        self.tap = Tap()
        self.troubles: dict[str, int] = {}
        """How often each kind of trouble was met."""
        self.on_trouble: Callable[[Trouble], None] | None = None
        self.stage = "initialize"
        self.is_open = True
        """Whether anything can be asked or told."""
        self.can_answer = True
        """Whether what they asked can still be answered: so too when they only closed their half of the wire."""
        self.heard = False
        """Whether the peer has sent anything at all."""
        self.message_size = 0
        """About how many bytes the message now being delivered has."""
        conversation: Conversation[Waiter] = Conversation(batches=self.limits.batches)
        self._conversation = conversation
        self._asking = Asking(self, conversation)
        self._serving = Serving(self, conversation)
        self.backlog = Backlog(self.limits, transport.pause, transport.resume, self._asking.give_up)
        self.lanes = Lanes(self.backlog, self._handler_failed)
        self._answers = Unsent(self.backlog)
        self.call = self._asking.call
        self.ask = self._asking.ask
        self._routes: Routes | None = None
        self._opening = Opening(conversation, self.backlog, self._sort)
        self._trying_again = False
        self._heads: dict[str, bytes] = {}
        self._ended: asyncio.Future[Exception | None] | None = None
        self._end_error: Exception | None = None
        self._closing: asyncio.Task[None] | None = None
        self._closed_by: asyncio.Task[Any] | None = None

    # -- beginning

    def start(self, early: Routes) -> None:
        """Begins to receive. Until `speak` only what is in `early` is served; the rest is refused or kept."""
        self._opening.early = early
        self._opening.waiting = self.side == "client"
        self._ended = asyncio.get_running_loop().create_future()
        self.transport.max_message_bytes = self.limits.max_message_bytes
        self._conversation.reader = early.reader
        self.transport.start(self)
        self._send_straight()

    def speak(self, routes: Routes, *, null_ids: bool) -> None:
        """The version is agreed: these methods are served now, or as soon as the answer that agrees to it has left."""
        self.stage = "session"
        self._conversation.null_ids = null_ids
        if self._opening.keeps:
            asyncio.get_running_loop().call_soon(self._serve_from_now, routes)
        else:
            self._serve_from_now(routes)

    def _serve_from_now(self, routes: Routes) -> None:
        self._conversation.reader = routes.reader
        self._routes = routes
        kept = self._opening.release()
        if kept and self.can_answer:
            self._deliver_all(b"\n".join(kept) + b"\n")

    def not_speaking(self) -> None:
        """The handshake failed; the connection is as it was before it, once the answer that says so has left."""
        if not self._opening.keeps:
            self._opening.waiting = False
        elif not self._trying_again:
            self._trying_again = True
            asyncio.get_running_loop().call_soon(self._try_again)

    def refused(self, id: RequestId) -> None:
        """A request was answered no. If it was the handshake, whatever the reason, there is none."""
        if self._routes is None and self._opening.waiting and self._opening.asked == id:
            self.not_speaking()

    def _try_again(self) -> None:
        self._trying_again = False
        for line in self._opening.release():
            self._opening.line(line)

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
        lines = block.count(b"\n") or 1
        size = self.message_size = len(block) // lines or 1
        answers = looks_like_answer(block)
        if not answers:
            calls = routes.reader.block(block, lines)
            if calls is not None:
                self._deliver_calls(calls, routes, size)
                return
        for line in (block,) if lines == 1 else block.split(b"\n"):
            if line:
                answer = read_answer(line) if answers or looks_like_answer(line) else None
                waiter = self._conversation.take(answer) if answer is not None else None
                if waiter is not None:
                    self._asking.answered(waiter, answer)  # type: ignore[arg-type]
                else:
                    tried = False if lines == 1 and not answers else None
                    for message in self._conversation.receive_line(line, is_call=tried):
                        self._sort(message, routes, size)

    def _deliver_calls(self, calls: list[Any], routes: Routes, size: int) -> None:
        """The hot path: calls of known methods, read in one pass. `_deliver` is written out here."""
        by_call, lanes, backlog = routes.by_call, self.lanes.active, self.backlog
        for call in calls:
            route = by_call[type(call)]
            if call.id is not UNSET:
                self._note(call, route, size)
                continue
            params = call.params
            lane = lanes.get(params.session_id if route.by_session else None)
            if lane is not None:
                lane.items.append((route.handler, params, size))
                backlog.add(size)
            else:
                self._deliver(route, params, size)

    def _note(self, call: Call, route: Route, size: int) -> None:
        """A request of theirs, read in one pass: from now on they await an answer."""
        noted = self._conversation.note(call)
        if noted is call:
            self._accept(call.id, route, call.params, size)  # type: ignore[arg-type, attr-defined]
        else:
            self._complain(noted)  # type: ignore[arg-type]

    def _deliver_early(self, block: bytes) -> None:
        lines = [line for line in block.split(b"\n") if line.strip()]
        for index, line in enumerate(lines):
            if self._routes is not None:
                self._deliver_all(b"\n".join(lines[index:]) + b"\n")
                return
            self._opening.line(line)

    def _sort(self, message: Any, routes: Routes, size: int) -> None:
        match message:
            case Call():
                route = routes.by_call[type(message)]
                if message.id is UNSET:
                    self._deliver(route, message.params, size)  # type: ignore[attr-defined]
                else:
                    self._accept(message.id, route, message.params, size)  # type: ignore[attr-defined]
            case Answered(waiter=waiter, answer=answer):
                self._asking.answered(waiter, answer)
            case Request(id=id, method=name, params=params):
                self._sort_request(id, name, params, routes, size)
            case Notification(method=name, params=params):
                self._sort_notification(name, params, routes, size)
            case Cancelled(id=id):
                self._serving.cancel(id)
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
                self._serving.refuse(id, fault_of(error, name))
                return
            if self._routes is None:
                self._opening.waiting, self._opening.asked = True, id
            self._accept(id, route, read, size)
        elif self._routes is None:
            why = f"{name[:100]} came before initialize; send initialize first"
            self._serving.refuse(id, Fault(INVALID_REQUEST, why))
        elif routes.other_request is not None:
            other = routes.other_request
            plain = msgspec.json.decode(params)
            self._queue_request(id, lambda value: other(name, value), plain, size, _session_in(plain), name)
        else:
            self._serving.refuse(id, method_not_found(name))

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
            self._handle(lambda value: other(name, value), plain, size, _session_in(plain))
        elif not name.startswith("$/"):
            self._trouble("dropped", f"{name[:100]}: nobody here knows this notification", size)

    def _deliver(self, route: Route, params: Any, size: int) -> None:
        """A notification: in place when nothing of its session is waiting, else behind that."""
        session = params.session_id if route.by_session else None
        self._handle(route.handler, params, size, session)

    def _handle(self, handler: Handler, params: Any, size: int, session: str | None) -> None:
        if session in self.lanes.active:
            self.lanes.push(session, handler, params, size)
            return
        try:
            waiting = handler(params)
        except Exception as error:
            self._handler_failed(error)
            return
        if waiting is not None:
            self.lanes.push(session, None, waiting, size)

    def _accept(self, id: RequestId, route: Route, params: Any, size: int) -> None:
        session = getattr(params, "session_id", None) or None if route.by_session else None
        self._queue_request(id, route.handler, params, size, session, route.method.name)

    def _queue_request(
        self, id: RequestId, handler: Handler, params: Any, size: int, session: str | None, name: str
    ) -> None:
        """A request: its handler starts after everything of its session that came before."""
        if session in self.lanes.active:
            self.lanes.push(session, lambda value: self._serving.begin_behind(id, handler, value, name), params, size)
        else:
            self._serving.begin(id, handler, params, name)

    def _complain(self, malformed: Malformed) -> None:
        self._trouble("stray" if malformed.stray else "refused", malformed.answer.message)
        # A client does not answer stray text: the agent never asked anything.
        if malformed.gathering is not None or self.side == "agent" or not malformed.stray:
            self.send_quietly(self._conversation.complain(malformed))

    def oversized(self, head: bytes, size: int) -> None:
        limit = self.limits.max_message_bytes
        self._trouble("oversized", f"a message of {size} bytes was skipped; the limit is {limit}", size)
        seen = glimpse(head)
        if seen.kind == "answer":
            waiter = self._conversation.forget(seen.id)
            if waiter is not None:
                why = f"{waiter.method.name}: the answer has {size} bytes; the limit is {limit}"
                self._asking.answered(waiter, AccordError(why))
        elif not self._never_answered(seen):
            why = f"Invalid request: the message has {size} bytes; at most {limit} are read"
            self.send_quietly(self._conversation.complain(Malformed(Fault(INVALID_REQUEST, why), seen.id, False)))

    def _never_answered(self, seen: Glimpse) -> bool:
        """A notification; and to a client, stray text. What may be a request with its id at the end is answered."""
        if seen.kind == "stray":
            return self.side == "client"
        routes = self._routes or self._opening.early
        return seen.id is None and seen.method is not None and (seen.method, True) in routes.by_name

    # -- what goes out

    def tell(self, method: Method[Any, Any], params: Any) -> Awaitable[None]:
        """Sends a notification now. Awaiting only waits while the peer is slow."""
        name = method.name
        head = self._heads.get(name) or self._heads.setdefault(name, call_head(name))
        return self.send(b"%b%b}\n" % (head, encode(params)))

    def send(self, lines: bytes) -> Awaitable[None]:
        """Sends whole lines as they are."""
        if not self.is_open:
            raise self.closed_error("")
        self.tap.show("out", lines)
        return self.transport.send(lines)

    def _send_straight(self) -> None:
        """While nobody watches, sending is one call less."""
        if self.is_open and not self.tap.watchers:
            self.send = self.transport.send  # type: ignore[assignment, method-assign]

    def _send_by_us(self) -> None:
        """From now on sending goes through `send` above: somebody watches, or the connection is over."""
        self.__dict__.pop("send", None)

    def send_quietly(self, lines: bytes) -> None:
        """An answer: nobody awaits its sending, and when the peer is gone nobody misses it."""
        if lines and self.can_answer:
            try:
                waiting = self.send(lines) if self.is_open else self._send_last(lines)
            except ConnectionClosed:
                log.debug("an answer was not sent: the %s is gone", self.peer)
                return
            if waiting is not READY and waiting is not YIELD:
                self._answers.stuck(waiting, len(lines))

    def _send_last(self, lines: bytes) -> Awaitable[None]:
        """Answers what was asked before they closed their half."""
        self.tap.show("out", lines)
        return self.transport.send(lines)

    # -- the end

    def ended(self, error: Exception | None) -> None:
        """The transport is over, or at least their half of it."""
        if not self.is_open:
            return
        self._end_error = error
        self.is_open = False
        self.can_answer = error is None and self.transport.half_open and self._closing is None
        self._send_by_us()
        self._asking.end()
        if not self.can_answer:
            self._serving.cancel_all(self._closed_by)
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

    async def wait_ended(self) -> Exception | None:
        """Waits until the connection is over; gives the reason when it broke."""
        assert self._ended is not None, "the connection has not been started"
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """Ends in an orderly way: running handlers are cancelled, what they still say is sent, then the wire closes."""
        if self._closing is None:
            self._closed_by = asyncio.current_task()  # perhaps a handler: it goes on when we are done
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if not self.is_open and self.can_answer:
            await self._serving.finish(_LAST_ANSWERS, self._closed_by)
        tasks = self._serving.cancel_all(self._closed_by)
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        await self.transport.close()
        self.ended(None)
        self.can_answer = False
        await self._answers.close()
        await self.lanes.close(0.5, self._closed_by)
        self._asking.settle()
        self._closed_by = None

    # -- reports

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Shows every line, in and out, to a watcher, until what this returns is called."""
        self._send_by_us()
        stop = self.tap.add(watcher)

        def stop_watching() -> None:
            stop()
            self._send_straight()

        return stop_watching

    def _trouble(self, kind: Any, text: str, size: int = 0) -> None:
        self.troubles[kind] = self.troubles.get(kind, 0) + 1
        if self.troubles[kind] <= 20:
            log.warning("from the %s: %s", self.peer, text)
        self._report(Trouble(kind, text, size))

    def _handler_failed(self, error: BaseException) -> None:
        log.error("a handler of a notification failed", exc_info=error)
        self.troubles["handler"] = self.troubles.get("handler", 0) + 1
        self._report(Trouble("handler", f"{type(error).__name__}: {error}"))

    def _report(self, trouble: Trouble) -> None:
        if self.on_trouble is not None:
            try:
                self.on_trouble(trouble)
            except Exception as error:  # whoever watches for trouble must not make more
                log.error("a report of trouble failed", exc_info=error)


def _because(error: Fault | None) -> str:
    return f", error {error.code}: {error.message[:200]}" if error is not None else ""


def _session_in(params: Any) -> str | None:
    session = params.get("sessionId") if isinstance(params, dict) else None
    return session if isinstance(session, str) else None
