"""What comes in, and to whom it goes.

A block of lines is read in the transport's own callback. Calls of known methods take the short way, read in one pass;
everything else is sorted line by line. A plain handler is called in place; what must be awaited goes through its
session's lane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from accord.connection.asking import Asking, Waiter
from accord.connection.dispatch import Handler, Route, Routes, fault_of, method_not_found, read_params
from accord.connection.opening import Opening
from accord.connection.serving import Serving
from accord.connection.trouble import Troubles
from accord.errors import INVALID_REQUEST, AccordError
from accord.rpc.answers import answer as read_answer
from accord.rpc.answers import answers as read_answers
from accord.rpc.answers import beginnings, looks_like_answer
from accord.rpc.conversation import Answered, Cancelled, Conversation, Unexpected, unexpected
from accord.rpc.envelope import Call, Failure, Fault, Malformed, Notification, Request, Success
from accord.rpc.glimpse import Glimpse, glimpse
from accord.rpc.ids import RequestId
from accord.schema.repair import Unreadable

if TYPE_CHECKING:
    from accord.connection.connection import Connection


class Delivering:
    """Reads for one connection: the receiver of its transport."""

    def __init__(
        self,
        connection: Connection,
        conversation: Conversation[Waiter],
        asking: Asking,
        serving: Serving,
        troubles: Troubles,
    ) -> None:
        self.opening = Opening(conversation, connection.backlog, self._sort)
        self._connection = connection
        self._conversation = conversation
        self._asking = asking
        self._serving = serving
        self._troubles = troubles
        self._lanes = connection.lanes
        self._tap = connection.tap
        self._routes: Routes | None = None  # once the version is agreed
        self._trying_again = False

    # -- beginning

    def speak(self, routes: Routes) -> None:
        """These methods are served from now on. What was kept is read now."""
        self._conversation.reader = routes.reader
        self._routes = routes
        kept = self.opening.release()
        if kept and self._connection.can_answer:
            self._deliver_all(b"\n".join(kept) + b"\n")

    def not_speaking(self) -> None:
        """The handshake failed: all is as it was before it, once the answer that says so has left."""
        if not self.opening.keeps:
            self.opening.waiting = False
        elif not self._trying_again:
            self._trying_again = True
            asyncio.get_running_loop().call_soon(self._try_again)

    def _try_again(self) -> None:
        self._trying_again = False
        for line in self.opening.release():
            self.opening.line(line)

    def refused(self, id: RequestId) -> None:
        """A request was answered no. If it was the handshake, whatever the reason, there is none."""
        if self._routes is None and self.opening.waiting and self.opening.asked == id:
            self.not_speaking()

    # -- lines

    def lines(self, block: bytes) -> None:
        """Whole lines came."""
        if self._tap.watchers:
            self._tap.show("in", block)
        lanes = self._lanes
        lanes.collecting = True
        try:
            if self._routes is not None:
                self._deliver_all(block)
            else:
                self._connection.heard = True
                self._deliver_early(block)
        finally:
            lanes.work()

    def _deliver_all(self, block: bytes) -> None:
        routes = self._routes
        assert routes is not None
        lines = block.count(b"\n") or 1
        size = self._connection.message_size = len(block) // lines or 1
        if looks_like_answer(block):
            answers = read_answers(block, lines)
            if answers is not None:
                self._deliver_answers(answers, routes, size)
                return
        else:
            calls = routes.reader.block(block, lines)
            if calls is not None:
                self._deliver_calls(calls, routes, size)
                return
        if lines > 1:
            self._deliver_mixed(block, routes, size)
        else:
            self._deliver_lines(block, routes, size)

    def _deliver_mixed(self, block: bytes, routes: Routes, size: int) -> None:
        """Calls and answers in one block: what lies between two answers is read in one pass all the same."""
        begin = 0
        for at in [*beginnings(block), len(block)]:
            if begin < at:
                calls = routes.reader.block(block[begin:at], block.count(b"\n", begin, at))
                if calls is not None:
                    self._deliver_calls(calls, routes, size)
                else:
                    self._deliver_lines(block[begin:at], routes, size)
            begin = block.find(b"\n", at) + 1 or len(block)
            if at < begin:
                self._deliver_lines(block[at:begin], routes, size)

    def _deliver_lines(self, block: bytes, routes: Routes, size: int) -> None:
        """One line after the other: anything may be among them. As calls they have been read in vain, together."""
        alone = block.find(b"\n", 0, -1) < 0
        for line in (block,) if alone else block.split(b"\n"):
            if line:
                answer = read_answer(line) if looks_like_answer(line) else None
                if answer is not None:
                    self._deliver_answers([answer], routes, size)
                else:
                    for message in self._conversation.receive_line(line, is_call=False if alone else None):
                        self._sort(message, routes, size)

    def _deliver_answers(self, answers: list[Success | Failure], routes: Routes, size: int) -> None:
        for answer in answers:
            waiter = self._conversation.take(answer)
            if waiter is not None:
                self._asking.answered(waiter, answer)
            else:
                self._sort(unexpected(answer), routes, size)

    def _deliver_calls(self, calls: list[Any], routes: Routes, size: int) -> None:
        """The hot path: calls of known methods, read in one pass. `_deliver` is written out here."""
        by_call, lanes, backlog = routes.by_call, self._lanes.active, self._connection.backlog
        for call in calls:
            route = by_call[type(call)]
            if call.id is not UNSET:
                self._note(call, route, size)
                continue
            params = call.params
            session = params.session_id if route.by_session else None
            lane = lanes.get(session)
            if lane is not None:
                lane.items.append((route.handler, params, size))
                backlog.add(size)
            else:
                self._handle(route.handler, params, size, session)

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
            self.opening.line(line)

    # -- messages

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
                self._troubles.met("unexpected", f"an answer that nobody awaits (id {id!r}{_because(error)})")

    def _sort_request(self, id: RequestId, name: str, params: bytes, routes: Routes, size: int) -> None:
        route = routes.by_name.get((name, False))
        if route is not None:
            try:
                read = read_params(route.method, params)
            except Unreadable as error:
                self._serving.refuse(id, fault_of(error, name))
                if routes.unreadable is not None:
                    self._report_unread(routes.unreadable, name, params, str(error), size)
                return
            if self._routes is None:
                self.opening.waiting, self.opening.asked = True, id
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

    def _report_unread(
        self, report: Callable[[str, Any, str], None], name: str, params: bytes, why: str, size: int
    ) -> None:
        """Tells of a request that was refused, after everything of its session that came before."""
        try:
            plain = msgspec.json.decode(params)
        except (ValueError, RecursionError):
            plain = None
        self._handle(lambda value: report(name, value, why), plain, size, _session_in(plain))

    def _sort_notification(self, name: str, params: bytes, routes: Routes, size: int) -> None:
        route = routes.by_name.get((name, True))
        if route is not None:
            try:
                read = read_params(route.method, params)
            except Unreadable as error:
                self._troubles.met("dropped", f"{name}: {error}", size)
                return
            self._deliver(route, read, size)
        elif self._routes is not None and routes.other_notification is not None:
            other = routes.other_notification
            plain = msgspec.json.decode(params)
            self._handle(lambda value: other(name, value), plain, size, _session_in(plain))
        elif not name.startswith("$/"):
            self._troubles.met("dropped", f"{name[:100]}: nobody here knows this notification", size)

    def _deliver(self, route: Route, params: Any, size: int) -> None:
        """A notification: in place when nothing of its session is waiting, else behind that."""
        session = params.session_id if route.by_session else None
        self._handle(route.handler, params, size, session)

    def _handle(self, handler: Handler, params: Any, size: int, session: str | None) -> None:
        if session in self._lanes.active:
            self._lanes.push(session, handler, params, size)
            return
        try:
            waiting = handler(params)
        except (Exception, asyncio.CancelledError) as error:
            self._troubles.handler_failed(error)
            return
        if waiting is not None:
            self._lanes.push(session, None, waiting, size)

    def _accept(self, id: RequestId, route: Route, params: Any, size: int) -> None:
        session = getattr(params, "session_id", None) or None if route.by_session else None
        self._queue_request(id, route.handler, params, size, session, route.method.name)

    def _queue_request(
        self, id: RequestId, handler: Handler, params: Any, size: int, session: str | None, name: str
    ) -> None:
        """A request: its handler starts after everything of its session that came before."""
        if session in self._lanes.active:
            self._lanes.push(session, lambda value: self._serving.begin_behind(id, handler, value, name), params, size)
        else:
            self._serving.begin(id, handler, params, name)

    # -- what is no message

    def _complain(self, malformed: Malformed) -> None:
        found = f": {malformed.head!r}" if malformed.head else ""
        self._troubles.met("stray" if malformed.stray else "refused", f"{malformed.answer.message}{found}")
        # A client does not answer stray text: the agent never asked anything.
        if malformed.gathering is not None or self._connection.side == "agent" or not malformed.stray:
            self._connection.send_quietly(self._conversation.complain(malformed))

    def oversized(self, head: bytes, size: int) -> None:
        """A message past the limit was skipped; this is how it began."""
        limit = self._connection.limits.max_message_bytes
        self._troubles.met("oversized", f"a message of {size} bytes was skipped; the limit is {limit}", size)
        seen = glimpse(head)
        if seen.kind == "answer":
            waiter = self._conversation.forget(seen.id)
            if waiter is not None:
                why = f"{waiter.method.name}: the answer has {size} bytes; the limit is {limit}"
                self._asking.answered(waiter, AccordError(why))
        elif not self._never_answered(seen):
            fault = Fault(INVALID_REQUEST, f"Invalid request: the message has {size} bytes; at most {limit} are read")
            self._connection.send_quietly(self._conversation.complain(Malformed(fault, seen.id, stray=False)))

    def _never_answered(self, seen: Glimpse) -> bool:
        """A notification; and to a client, stray text. What may be a request with its id at the end is answered."""
        if seen.kind == "stray":
            return self._connection.side == "client"
        routes = self._routes or self.opening.early
        return seen.id is None and seen.method is not None and (seen.method, True) in routes.by_name


def _because(error: Fault | None) -> str:
    return f", error {error.code}: {error.message[:200]}" if error is not None else ""


def _session_in(params: Any) -> str | None:
    session = params.get("sessionId") if isinstance(params, dict) else None
    return session if isinstance(session, str) else None
