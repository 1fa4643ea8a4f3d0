"""Passes messages from one port to another, through the handlers of a proxy."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from accord.connection.relay_connection import Outcome
from accord.errors import REQUEST_CANCELLED, Overloaded, UsageError
from accord.proxy import rewrite
from accord.proxy.endpoint import Port
from accord.proxy.handlers import Handler, Way, load_tables
from accord.proxy.hop import Direction, PassedRequest, QueuedRequest, Rewrite
from accord.proxy.message import Notification, Request
from accord.proxy.order import EVERYTHING, MessageOrder, session_of
from accord.rpc.envelope import Failure, Fault, Success
from accord.rpc.ids import RequestId
from accord.schema.method import Method

if TYPE_CHECKING:
    from accord.proxy.side import ProxySide

log: logging.Logger = logging.getLogger("accord")

INITIALIZE = "initialize"
SOFT_LIMIT = 1024 * 1024
"""The number of bytes that may wait behind a handler before reading stops."""
HARD_LIMIT = 64 * 1024 * 1024
"""The number of bytes that may wait while the handler itself waits for a response, which is behind them."""


class HandledDirection(Direction):
    """One direction of a proxy. Messages without a handler pass unchanged."""

    opposite: HandledDirection

    def __init__(
        self,
        side: ProxySide,
        way: Way,
        source: Port,
        target: Port,
        calls: set[asyncio.Future[Outcome]],
        rewrite: Rewrite,
    ) -> None:
        """`calls` are the proxy's own open requests to the source."""
        super().__init__(source, target, rewrite)
        self.order: MessageOrder = MessageOrder(self.limit)
        self.way: Way = way
        self._side = side
        self._calls = calls
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Cancel all handlers."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def limit(self) -> None:
        """Stop reading while too many bytes wait behind handlers.

        While the proxy waits for a response of the source, reading continues: the response may be behind the queued
        messages."""
        queued = self.order.queued_bytes
        if queued > HARD_LIMIT:
            for call in self._calls:
                if not call.done():
                    call.set_exception(Overloaded(f"more than {HARD_LIMIT} bytes arrived while a handler waited"))
        waits = any(not call.done() for call in self._calls)
        self.source.endpoint.pause(self, queued > SOFT_LIMIT and not waits)

    # -- receiving

    def on_notification(self, method: str, params: bytes) -> None:
        if self._side.is_watching:
            self._side.watch(self.way, "notification", method, params)
        handler = self._side.handlers.find(self.way, method, True)
        if handler is None and self.order.is_idle:
            self.target.notify(method, params)
            return
        key = session_of(params)
        if handler is None:
            self.order.add(key, len(params), lambda: self.target.notify(method, params))
        else:
            self.order.add(key, len(params), partial(self._handle_notification, handler, params, key))

    def pass_request(self, id: RequestId, method: str, params: bytes) -> None:
        if self._side.is_watching:
            self._side.watch(self.way, "request", method, params)
        if method == INITIALIZE and self.way == "to_agent":
            self._side.prepare(params)
        handler = self._side.handlers.find(self.way, method, False)
        if handler is None and self.order.is_idle:
            self._pass(id, method, params)
            return
        key = session_of(params)
        queued = self.open[id] = QueuedRequest()

        def handle() -> None:
            if queued.is_cancelled:
                self._finish(id, Failure(id, Fault(REQUEST_CANCELLED, "Request cancelled")))
            elif handler is None:
                self._pass(id, method, params)
            else:
                self._handle_request(handler, id, params, key)

        self.order.add(key, len(params), handle)

    def _pass(self, id: RequestId, method: str, params: bytes) -> None:
        """Forward a request unchanged. Its response stays behind the messages before it."""
        passed = self.open[id] = PassedRequest(self.target)
        key = session_of(params) if self.opposite.way in self._side.handlers.ways else ""

        def respond(outcome: Outcome) -> None:
            self._observe_response(method, outcome)
            self.opposite.order.add(key, _size(outcome), partial(self._finish, id, outcome))

        passed.id = self.target.request(method, params, respond)

    def _finish(self, id: RequestId, outcome: Outcome) -> None:
        self.open.pop(id, None)
        self.source.answer(id, outcome)

    def _observe_response(self, method: str, outcome: Outcome) -> None:
        if method == INITIALIZE and self.way == "to_agent" and isinstance(outcome, Success):
            self._side.agree(bytes(outcome.result))
        if not self._side.is_watching:
            return
        if isinstance(outcome, Success):
            self._side.watch(self.opposite.way, "result", method, bytes(outcome.result))
        else:
            self._side.watch(self.opposite.way, "error", method, outcome.raw or msgspec.json.encode(outcome.error))

    # -- handlers of notifications

    def _handle_notification(self, handler: Handler, raw: bytes, key: str) -> None:
        params = _read_params(handler, raw)
        if params is None:
            self.target.notify(handler.method.name, raw)
            return
        if handler.is_ordered:
            self.order.hold(key)
        self._start(self._run_notification(handler, Notification(self, handler.method, raw, params), key))

    async def _run_notification(self, handler: Handler, notification: Notification[Any], key: str) -> None:
        try:
            await handler.function(notification)
        except Exception as error:
            log.error("the handler of %s failed; the notification is dropped", handler.method.name, exc_info=error)
        finally:
            if handler.is_ordered:
                self.order.release(key)

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- handlers of requests

    def _handle_request(self, handler: Handler, id: RequestId, raw: bytes, key: str) -> None:
        params = _read_params(handler, raw)
        if params is None:
            self._pass(id, handler.method.name, raw)
            return
        request: Request[Any, Any] = Request(self, id, handler.method, raw, params, key)
        if handler.is_ordered:
            self.order.hold(key)
            request.holds.append((self.order, key))
        self.open[id] = request
        request.start(self._start(self._run_request(handler, request)))

    async def _run_request(self, handler: Handler, request: Request[Any, Any]) -> None:
        outcome: Outcome
        try:
            outcome = request.outcome_of(await handler.function(request))
        except (Exception, asyncio.CancelledError) as error:
            outcome = request.failure_of(error)
        self._finish(request.id, outcome)
        request.release()

    def send(self, request: Request[Any, Any], raw: bytes, future: asyncio.Future[Outcome]) -> int:
        """Forward a handled request. Its response keeps its position among the other messages of its session."""

        def respond(outcome: Outcome) -> None:
            self._observe_response(request.method, outcome)
            self.opposite.order.add(request.key, _size(outcome), partial(deliver, outcome))

        def deliver(outcome: Outcome) -> None:
            if not future.done():
                # Until the handler has answered. The session of a new one is known only then, so hold all of them.
                key = request.key or EVERYTHING
                self.opposite.order.hold(key)
                request.holds.append((self.opposite.order, key))
                future.set_result(outcome)

        id = self.target.request(request.method, raw, respond)
        if id >= 0:
            request.release()
        return id

    def result_kind(self, method: Method[Any, Any]) -> Any:
        """Return the type of a result. That of `initialize` depends on the version that the agent has chosen."""
        return (
            load_tables(self._side.version or 1)[0][INITIALIZE].result if method.name == INITIALIZE else method.result
        )

    def check_result(self, method: str, forwarded: Outcome | None, answer: Success) -> None:
        """Check a handler's result of `initialize`, which also describes the components behind the proxy."""
        if method != INITIALIZE:
            return
        if not isinstance(forwarded, Success):
            raise UsageError(
                "the handler for initialize must forward it, because the response also describes the agent"
            )
        if read_version(bytes(forwarded.result)) != read_version(bytes(answer.result)):
            raise UsageError("the handler for initialize can't change the protocol version")


def _read_params(handler: Handler, raw: bytes) -> Any:
    """Decode params for a handler; None if they are invalid, so that the message passes unchanged."""
    try:
        return rewrite.read(handler.method.params, raw or b"{}")
    except ValueError as error:
        log.debug("%s passes without its handler: %s", handler.method.name, error)
        return None


def _size(outcome: Outcome) -> int:
    return len(outcome.result) if isinstance(outcome, Success) else len(outcome.raw)


def read_version(result: bytes) -> Any:
    """Return the protocol version in the params or the result of `initialize`; None if there is none."""
    try:
        found = msgspec.json.decode(result)
    except (ValueError, RecursionError):
        return None
    return found.get("protocolVersion") if isinstance(found, dict) else None
