"""The arguments of handlers (a request or a notification in transit), and the two peers of a proxy."""

from __future__ import annotations

import asyncio
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import msgspec

from accord.connection.dispatch import encode_result, fault_of, read_result
from accord.connection.relay_connection import Outcome
from accord.errors import RemoteProtocolError, RequestFailed, UsageError
from accord.model.values import short
from accord.proxy import rewrite
from accord.rpc.envelope import Failure, Success
from accord.rpc.ids import RequestId
from accord.schema.method import Method
from accord.schema.wire import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from accord.proxy.endpoint import Port
    from accord.proxy.handled_direction import HandledDirection
    from accord.proxy.order import MessageOrder

P = TypeVar("P")
R = TypeVar("R")


def as_error(failure: Failure, method: str) -> RequestFailed:
    """Convert an error response to an exception."""
    fault = failure.error
    data = None if fault.data is msgspec.UNSET else fault.data
    return RequestFailed.of(fault.code, fault.message, data, method)


class Notification(Generic[P]):
    """A notification in transit. It is dropped unless it is forwarded."""

    def __init__(self, direction: HandledDirection, method: Method[P, Any], raw: bytes, params: P) -> None:
        self.method: str = method.name
        self.params = params
        """The params, which may be changed in place."""
        self.raw = raw
        """The params as received."""
        self._direction = direction
        self._kind = method.params

    async def forward(self, params: P | None = None) -> None:
        """Forward it, with these params or else its own. Unchanged parts keep their bytes."""
        self._direction.target.notify(self.method, self._encode(params))
        await self._direction.target.endpoint.connection.outbox.wait_until_sent()

    def _encode(self, params: P | None) -> bytes:
        return rewrite.write(self.params if params is None else params, self._kind, self.raw)


class Request(Generic[P, R]):
    """A request in transit. The handler returns its result, or raises an error."""

    def __init__(
        self, direction: HandledDirection, id: RequestId, method: Method[P, R], raw: bytes, params: P, key: str
    ) -> None:
        self.id = id
        self.method: str = method.name
        self.params = params
        """The params, which may be changed in place."""
        self.raw = raw
        """The params as received."""
        self.key = key
        """The session that it belongs to; empty if it has none."""
        self.holds: list[tuple[MessageOrder, str]] = []
        """The sessions whose messages wait for this request, each with the direction of the messages."""
        self._direction = direction
        self._method = method
        self._task: asyncio.Task[None] | None = None
        self._forwarded: tuple[int, asyncio.Future[Outcome]] | None = None
        self._outcome: Outcome | None = None
        self._result_kind: Any = method.result
        self._error: BaseException | None = None

    async def forward(self, params: P | None = None) -> R:
        """Forward it, with these params or else its own, and wait for the result.

        Raises `RequestFailed` if the response is an error. An uncaught error is returned unchanged to the sender."""
        raw = rewrite.write(self.params if params is None else params, self._method.params, self.raw)
        outcome = self._outcome = await self._send(raw)
        if isinstance(outcome, Failure):
            self._error = as_error(outcome, self.method)
            raise self._error
        self._result_kind = self._direction.result_kind(self._method)
        try:
            result: R = rewrite.read(self._result_kind, bytes(outcome.result))
        except ValueError as error:
            raise RemoteProtocolError(f"{self.method}: the response can't be read: {error}") from None
        return result

    async def _send(self, raw: bytes) -> Outcome:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        id = self._direction.send(self, raw, future)
        self._forwarded = (id, future)
        try:
            return await future
        except asyncio.CancelledError:
            self._direction.target.cancel(id)
            raise
        finally:
            self._forwarded = None

    # -- for the library: the direction calls these

    def start(self, task: asyncio.Task[None]) -> None:
        """Store the task that handles this request, so that it can be cancelled."""
        self._task = task

    def release(self) -> None:
        """Release the messages that wait for this request."""
        holds, self.holds = self.holds, []
        for order, key in holds:
            order.release(key)

    def cancel(self) -> None:
        """Cancel the forwarded request, which still gets a response; if there is none, cancel the handler."""
        if self._forwarded is not None:
            self._direction.target.cancel(self._forwarded[0])
        elif self._task is not None:
            self._task.cancel()

    def outcome_of(self, result: Any) -> Outcome:
        """Encode the handler's result. Unchanged parts of the successor's result keep their bytes."""
        if result is None:
            raise UsageError(
                f"the handler of {self.method} returned None; end it with “return await request.forward()”, or return "
                "a result of your own"
            )
        if isinstance(result, CoroutineType):
            result.close()
            raise UsageError(f"the handler of {self.method} returned {short(result)}; write “return await …”")
        if isinstance(self._outcome, Success):
            answer = Success(self.id, rewrite.write(result, self._result_kind, bytes(self._outcome.result)))
        else:
            answer = Success(self.id, encode_result(result))
        self._direction.check_result(self.method, self._outcome, answer)
        return answer

    def failure_of(self, error: BaseException) -> Failure:
        """Encode the handler's error. The successor's error is returned unchanged."""
        if error is self._error and isinstance(self._outcome, Failure):
            return self._outcome
        return Failure(self.id, fault_of(error, self.method))


class ProxyPeer:
    """A neighbor of a proxy, to which the proxy can send its own messages."""

    def __init__(self, port: Port, calls: set[asyncio.Future[Outcome]], on_change: Callable[[], None]) -> None:
        """`calls` are our open requests to this peer; `on_change` is called when their number changes."""
        self._port = port
        self._calls = calls
        self._on_change = on_change

    @overload
    async def request(self, method: Method[P, R], params: P) -> R: ...
    @overload
    async def request(self, method: str, params: Any = None) -> Any: ...
    async def request(self, method: Method[Any, Any] | str, params: Any = None) -> Any:
        """Send a request and return its result. With a name, params and result are plain data."""
        name = method if isinstance(method, str) else method.name
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def settle(outcome: Outcome) -> None:
            if not future.done():
                future.set_result(outcome)

        id = self._port.request(name, _encode(params), settle)
        self._calls.add(future)
        self._on_change()
        try:
            outcome = await future
        except asyncio.CancelledError:
            self._port.cancel(id)
            raise
        finally:
            self._calls.discard(future)
            self._on_change()
        if isinstance(outcome, Failure):
            raise as_error(outcome, name)
        return msgspec.json.decode(outcome.result) if isinstance(method, str) else read_result(method, outcome.result)

    @overload
    async def notify(self, method: Method[P, None], params: P) -> None: ...
    @overload
    async def notify(self, method: str, params: Any = None) -> None: ...
    async def notify(self, method: Method[Any, Any] | str, params: Any = None) -> None:
        """Send a notification. Waits while the peer is slow."""
        self._port.notify(method if isinstance(method, str) else method.name, _encode(params))
        await self._port.endpoint.connection.outbox.wait_until_sent()


def _encode(params: Any) -> bytes:
    return b"" if params is None else encode(params)
