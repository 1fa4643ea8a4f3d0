"""One connection of a proxy chain, and the two conversations on it: with the peer, and with the peer's successor.

A conductor and a proxy share one connection. Plain messages belong to the proxy's client side; in both directions,
messages of its agent side are wrapped in `proxy/successor`. A port hides that difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.connection.dispatch import method_not_found
from accord.connection.relay_connection import OnAnswer, Outcome, RelayConnection
from accord.errors import INTERNAL_ERROR, INVALID_PARAMS
from accord.rpc.conversation import CANCEL
from accord.rpc.envelope import Failure, Fault
from accord.rpc.ids import RequestId
from accord.transports.base import Transport

SUCCESSOR = "proxy/successor"


class Wrapped(msgspec.Struct):
    """The params of `proxy/successor`. Its own `_meta` is for one hop only, so it isn't read."""

    method: str
    params: Raw | UnsetType = UNSET


_wrapped = msgspec.json.Decoder(Wrapped)


def wrap(method: str, params: bytes) -> bytes:
    """Create the params of `proxy/successor`."""
    name = msgspec.json.encode(method)
    return b'{"method":%b,"params":%b}' % (name, params) if params else b'{"method":%b}' % name


def unwrap(params: bytes) -> tuple[str, bytes] | None:
    """Return the method and the params that `proxy/successor` wraps; None if it is invalid."""
    try:
        found = _wrapped.decode(params)
    except (ValueError, RecursionError):
        return None
    inner = b"" if found.params is UNSET else bytes(found.params)
    inner = b"" if inner == b"null" else inner
    return (found.method, inner) if inner[:1] in (b"", b"{", b"[") else None


class PortHandler(Protocol):
    """Handles the messages that arrive on a port."""

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        """Handle a request, which must get a response."""

    def on_notification(self, method: str, params: bytes) -> None:
        """Handle a notification."""

    def on_cancel(self, id: RequestId) -> None:
        """Handle `$/cancel_request`, if the request is one of this port."""

    def on_end(self) -> None:
        """Handle the end of the connection: its open requests need no responses."""


class Port:
    """Plain messages of a connection."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.handler: PortHandler | None = None

    def request(self, method: str, params: bytes, on_answer: OnAnswer) -> int:
        """Send a request and return its id. If the peer has disconnected, `on_answer` is called at once."""
        failure = self.endpoint.failure
        if failure is not None:
            on_answer(failure)
            return -1
        return self.endpoint.connection.request(method, params, on_answer)

    def notify(self, method: str, params: bytes) -> None:
        """Send a notification. Does nothing if the peer has disconnected."""
        if self.endpoint.failure is None:
            self.endpoint.connection.notify(method, params)

    def cancel(self, id: int) -> None:
        """Cancel one of our requests on this hop."""
        self.endpoint.connection.cancel(id)

    def answer(self, id: RequestId, outcome: Outcome) -> None:
        """Send the response to a request of the peer."""
        self.endpoint.connection.answer(id, outcome)


class SuccessorPort(Port):
    """Messages of a connection that are wrapped in `proxy/successor`."""

    def request(self, method: str, params: bytes, on_answer: OnAnswer) -> int:
        return super().request(SUCCESSOR, wrap(method, params), on_answer)

    def notify(self, method: str, params: bytes) -> None:
        super().notify(SUCCESSOR, wrap(method, params))


class Endpoint:
    """A connection of a chain. Only the envelope of a message is decoded."""

    def __init__(self, transport: Transport, side: Literal["agent", "client"]) -> None:
        self.connection: RelayConnection = RelayConnection(transport, self, side=side, verbatim=True)
        self.direct: Port = Port(self)
        self.successor: Port = SuccessorPort(self)
        self.failure: Failure | None = None
        """The response to all further requests, once the peer has disconnected."""
        self.error: Exception | None = None
        self.on_ended: Callable[[], None] = lambda: None
        self._pauses: set[object] = set()

    def start(self) -> None:
        """Start receiving."""
        self.connection.start()

    def fail(self, reason: str) -> None:
        """Answer all further requests with an error: the peer exited or couldn't be started."""
        self.failure = Failure(None, Fault(INTERNAL_ERROR, reason))

    async def close(self) -> None:
        await self.connection.close()

    # -- back-pressure

    def pause(self, reason: object, paused: bool) -> None:
        """Pause or resume reading for one reason. Reading continues once no reason is left."""
        had = bool(self._pauses)
        (self._pauses.add if paused else self._pauses.discard)(reason)
        if had != bool(self._pauses) and self.connection.is_open:
            (self.connection.transport.resume if had else self.connection.transport.pause)()

    # -- called by the connection

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        port = self.direct
        if method == SUCCESSOR:
            message = unwrap(params)
            if message is None:
                fault = Fault(INVALID_PARAMS, f"{SUCCESSOR}: expected a method, and params that are an object or list")
                self.connection.answer(id, Failure(id, fault))
                return
            port, (method, params) = self.successor, message
        if port.handler is None:
            self.connection.answer(id, Failure(id, method_not_found(SUCCESSOR)))
        else:
            port.handler.on_request(id, method, params)

    def on_notification(self, method: str, params: bytes) -> None:
        port = self.direct
        if method == SUCCESSOR:
            message = unwrap(params)
            if message is None:
                return
            port, (method, params) = self.successor, message
        if port.handler is not None and method != CANCEL:  # the id in a wrapped cancellation means nothing on this hop
            port.handler.on_notification(method, params)

    def on_cancel(self, id: RequestId) -> None:
        for port in (self.direct, self.successor):
            if port.handler is not None:
                port.handler.on_cancel(id)

    def on_end(self, error: Exception | None, waiting: list[OnAnswer]) -> None:
        self.error = error
        self.fail(str(error) if error is not None else f"{self.connection.transport.describe()} closed the connection")
        assert self.failure is not None
        for answer in waiting:
            answer(self.failure)
        for port in (self.direct, self.successor):
            if port.handler is not None:
                port.handler.on_end()
        self.on_ended()


def connect_flow(chain: list[Endpoint], *, is_loop: Callable[[], bool]) -> None:
    """Propagate back-pressure: while a peer is slow, stop reading from the peers whose messages it receives.

    `chain` is in order, from the client to the agent. A slow peer pauses its right neighbor, which sends it the
    agent's messages, and the client, where all messages for the agent originate. It never pauses its left neighbor:
    that one may be busy with messages for the client, and the two would wait for each other. In a loop, the first
    endpoint is also the right neighbor of the last."""
    first = chain[0]
    for endpoint, right in zip(chain, [*chain[1:], None], strict=True):

        def flow(is_full: bool, endpoint: Endpoint = endpoint, right: Endpoint | None = right) -> None:
            if right is not None:
                right.pause(endpoint, is_full)
            if endpoint is not first or not is_full or is_loop():
                first.pause(endpoint, is_full)

        endpoint.connection.outbox.on_flow = flow
