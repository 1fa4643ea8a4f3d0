"""Incoming messages: decoding, sorting and delivery.

A block of lines is decoded in the transport's own callback. Calls of known methods take the fast path and are decoded
in one pass; everything else is sorted line by line. Handlers that aren't async are called directly; awaitable
results go through their session's lane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from accord.connection.diagnostics import Problems
from accord.connection.dispatch import Handler, Route, Routes, fault_of, has_session, method_not_found, read_params
from accord.connection.early_messages import EarlyMessages
from accord.connection.outgoing_requests import OutgoingRequests, Waiter
from accord.connection.peer_requests import PeerRequests
from accord.errors import INVALID_REQUEST, AccordError
from accord.rpc.conversation import Answered, Cancelled, Conversation, Unexpected, as_unexpected
from accord.rpc.envelope import (
    Call,
    Failure,
    Fault,
    Malformed,
    Notification,
    Request,
    Success,
    drop_incomplete_response,
    find_responses,
    looks_like_response,
    read_response,
    read_responses,
)
from accord.rpc.fragment import Fragment, read_fragment
from accord.rpc.ids import RequestId
from accord.schema.repair import Unreadable

if TYPE_CHECKING:
    from accord.connection.connection import Connection


class Incoming:
    """Receives the messages of one connection."""

    def __init__(
        self,
        connection: Connection,
        conversation: Conversation[Waiter],
        outgoing: OutgoingRequests,
        peer_requests: PeerRequests,
        problems: Problems,
    ) -> None:
        self.early: EarlyMessages = EarlyMessages(conversation, connection.backlog, self._sort)
        self._connection = connection
        self._conversation = conversation
        self._outgoing = outgoing
        self._peer_requests = peer_requests
        self._problems = problems
        self._lanes = connection.lanes
        self._tap = connection.tap
        self._routes: Routes | None = None  # set when the version has been negotiated
        self._is_replay_scheduled = False

    # -- start

    def speak(self, routes: Routes) -> None:
        """Serve these methods from now on, and deliver the buffered messages."""
        self._conversation.reader = routes.reader
        self._routes = routes
        buffered = self.early.release()
        if buffered and self._connection.can_answer:
            self._deliver_all(b"\n".join(buffered) + b"\n")

    def undo_handshake(self) -> None:
        """Accept `initialize` again after a failed handshake, whose error response has been sent."""
        if not self.early.has_buffered:
            self.early.is_buffering = False
        elif not self._is_replay_scheduled:
            self._is_replay_scheduled = True
            asyncio.get_running_loop().call_soon(self._replay_early)

    def _replay_early(self) -> None:
        self._is_replay_scheduled = False
        for line in self.early.release():
            self.early.receive(line)

    def on_refused(self, id: RequestId) -> None:
        """Called when a request got an error response. If it was `initialize`, the handshake has failed."""
        if self._routes is None and self.early.is_buffering and self.early.initialize_id == id:
            self.undo_handshake()

    # -- lines

    def on_lines(self, block: bytes) -> None:
        """Receive whole lines."""
        if self._tap.watchers:
            self._tap.show("in", block)
        if not block.endswith(b"\n"):
            kept = drop_incomplete_response(block)
            if len(kept) < len(block):
                self._problems.add("dropped", "the connection ended within a response", len(block) - len(kept))
            if not kept:
                return
            block = kept
        lanes = self._lanes
        lanes.collecting = True
        try:
            if self._routes is not None:
                self._deliver_all(block)
            else:
                self._connection.has_received = True
                self._deliver_early(block)
        finally:
            lanes.collecting = False
            if lanes.ready:
                lanes.work()

    def _deliver_all(self, block: bytes) -> None:
        routes = self._routes
        assert routes is not None
        # Counting looks at every byte, and most blocks are one message.
        lines = 1 if block.find(b"\n", 0, -1) < 0 else block.count(b"\n")
        size = self._connection.message_size = len(block) // lines or 1
        if looks_like_response(block):
            answers = read_responses(block, lines)
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
        """Deliver a block of calls and responses. Calls between two responses are still decoded in one pass."""
        begin = 0
        for at in [*find_responses(block), len(block)]:
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
        """Deliver line by line. Decoding them all as calls has failed."""
        alone = block.find(b"\n", 0, -1) < 0
        for line in (block,) if alone else block.split(b"\n"):
            if line:
                answer = read_response(line) if looks_like_response(line) else None
                if answer is not None:
                    self._deliver_answers([answer], routes, size)
                else:
                    for message in self._conversation.receive_line(line, is_call=False if alone else None):
                        self._sort(message, routes, size)

    def _deliver_answers(self, answers: list[Success | Failure], routes: Routes, size: int) -> None:
        pop_waiter, lanes, outgoing = self._conversation.pop_waiter, self._lanes.active, self._outgoing
        for answer in answers:
            waiter = pop_waiter(answer.id, None)
            if waiter is None:
                self._sort(as_unexpected(answer), routes, size)
            elif waiter.session in lanes:
                outgoing.deliver_response(waiter, answer)
            else:
                outgoing.resolve(waiter, answer)

    def _deliver_calls(self, calls: list[Any], routes: Routes, size: int) -> None:
        """Hot path: calls of known methods, decoded in one pass, with `_deliver` and `_handle` inlined."""
        by_call, lanes, backlog = routes.by_call, self._lanes.active, self._connection.backlog
        for call in calls:
            route = by_call[type(call)]
            if call.id is not UNSET:
                registered = self._conversation.register(call)
                if type(registered) is Malformed:
                    self._report_malformed(registered)
                else:
                    self._accept(call.id, route, call.params, size)
                continue
            params = call.params
            session = params.session_id if route.by_session else None
            lane = lanes.get(session)
            if lane is not None:
                lane.items.append((route.handler, params, size))
                backlog.add(size)
                continue
            try:
                waiting = route.handler(params)
            except (Exception, asyncio.CancelledError) as error:
                self._problems.handler_failed(error)
                continue
            if waiting is not None:
                self._lanes.push(session, None, waiting, size)

    def _deliver_early(self, block: bytes) -> None:
        lines = [line for line in block.split(b"\n") if line.strip()]
        for index, line in enumerate(lines):
            if self._routes is not None:
                self._deliver_all(b"\n".join(lines[index:]) + b"\n")
                return
            self.early.receive(line)

    # -- messages

    def _sort(self, message: Any, routes: Routes, size: int) -> None:
        match message:
            case Call():
                route = routes.by_call[type(message)]
                if message.id is UNSET:
                    self._deliver(route, message.params, size)
                else:
                    self._accept(message.id, route, message.params, size)
            case Answered(waiter=waiter, answer=answer):
                self._outgoing.deliver_response(waiter, answer)
            case Request(id=id, method=name, params=params):
                self._sort_request(id, name, params, routes, size)
            case Notification(method=name, params=params):
                self._sort_notification(name, params, routes, size)
            case Cancelled(id=id):
                self._peer_requests.cancel(id)
            case Malformed():
                self._report_malformed(message)
            case Unexpected(id=id, error=error):
                self._problems.add("unexpected", f"an unexpected response (id {id!r}{_describe_error(error)})")

    def _sort_request(self, id: RequestId, name: str, params: bytes, routes: Routes, size: int) -> None:
        route = routes.by_name.get((name, False))
        if route is not None:
            try:
                read = read_params(route.method, params)
            except Unreadable as error:
                self._peer_requests.refuse(id, fault_of(error, name))
                if routes.unreadable is not None:
                    self._report_unread(routes.unreadable, name, params, str(error), size)
                return
            if self._routes is None:
                self.early.is_buffering, self.early.initialize_id = True, id
            self._accept(id, route, read, size)
        elif self._routes is None:
            why = f"{name[:100]} arrived before initialize; send initialize first"
            self._peer_requests.refuse(id, Fault(INVALID_REQUEST, why))
        elif routes.other_request is not None:
            other = routes.other_request
            plain = msgspec.json.decode(params)
            self._queue_request(id, lambda value: other(name, value), plain, size, _session_in(plain), name)
        else:
            self._peer_requests.refuse(id, method_not_found(name))

    def _report_unread(
        self, report: Callable[[str, Any, str], None], name: str, params: bytes, why: str, size: int
    ) -> None:
        """Report a rejected request, after the earlier messages of its session."""
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
                self._problems.add("dropped", f"{name}: {error}", size)
                return
            self._deliver(route, read, size)
        elif self._routes is not None and routes.other_notification is not None:
            other = routes.other_notification
            plain = msgspec.json.decode(params)
            self._handle(lambda value: other(name, value), plain, size, _session_in(plain))
        elif not name.startswith("$/"):
            self._problems.add("dropped", f"{name[:100]}: unknown notification", size)

    def _deliver(self, route: Route, params: Any, size: int) -> None:
        """Deliver a notification: inline if nothing of its session is queued, else after the queued messages."""
        session = params.session_id if route.by_session else None
        self._handle(route.handler, params, size, session)

    def _handle(self, handler: Handler, params: Any, size: int, session: str | None) -> None:
        if session in self._lanes.active:
            self._lanes.push(session, handler, params, size)
            return
        try:
            waiting = handler(params)
        except (Exception, asyncio.CancelledError) as error:
            self._problems.handler_failed(error)
            return
        if waiting is not None:
            self._lanes.push(session, None, waiting, size)

    def _accept(self, id: RequestId, route: Route, params: Any, size: int) -> None:
        session = params.session_id or None if route.by_session and has_session(type(params)) else None
        if session in self._lanes.active:
            self._queue_request(id, route.handler, params, size, session, route.method.name)
        else:
            self._peer_requests.begin(id, route.handler, params, route.method.name)

    def _queue_request(
        self, id: RequestId, handler: Handler, params: Any, size: int, session: str | None, name: str
    ) -> None:
        """Handle a request after the earlier messages of its session."""
        if session in self._lanes.active:
            self._lanes.push(
                session, lambda value: self._peer_requests.begin_from_lane(id, handler, value, name), params, size
            )
        else:
            self._peer_requests.begin(id, handler, params, name)

    # -- invalid messages

    def _report_malformed(self, malformed: Malformed) -> None:
        found = f": {malformed.head!r}" if malformed.head else ""
        self._problems.add("stray" if malformed.stray else "refused", f"{malformed.answer.message}{found}")
        if malformed.silent:
            return
        # A client doesn't answer stray output: the agent didn't send a request.
        if malformed.batch_responses is not None or self._connection.side == "agent" or not malformed.stray:
            self._connection.send_quietly(self._conversation.refuse_malformed(malformed))

    def on_oversized(self, head: bytes, size: int) -> None:
        """Handle a message beyond the size limit, of which only the beginning was read."""
        limit = self._connection.limits.max_message_bytes
        self._problems.add("oversized", f"a message of {size} bytes was skipped; the limit is {limit}", size)
        seen = read_fragment(head)
        if seen.kind == "answer":
            waiter = self._conversation.pop_waiter(seen.id, None)
            if waiter is not None:
                why = f"{waiter.method.name}: the response has {size} bytes; the limit is {limit}"
                self._outgoing.deliver_response(waiter, AccordError(why))
        elif not self._needs_no_response(seen):
            fault = Fault(INVALID_REQUEST, f"Invalid request: the message has {size} bytes; at most {limit} are read")
            self._connection.send_quietly(self._conversation.refuse_malformed(Malformed(fault, seen.id, stray=False)))

    def _needs_no_response(self, seen: Fragment) -> bool:
        """Return whether it is a notification, or stray output sent to a client. A request whose id was truncated needs
        a response."""
        if seen.kind == "stray":
            return self._connection.side == "client"
        routes = self._routes or self.early.routes
        return seen.id is None and seen.method is not None and (seen.method, True) in routes.by_name


def _describe_error(error: Fault | None) -> str:
    return f", error {error.code}: {error.message[:200]}" if error is not None else ""


def _session_in(params: Any) -> str | None:
    session = params.get("sessionId") if isinstance(params, dict) else None
    return session if isinstance(session, str) else None
