"""Passes messages between two ports unchanged, except for the ids: each hop has its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from accord.connection.relay_connection import Outcome
from accord.proxy.endpoint import Port
from accord.rpc.envelope import Failure
from accord.rpc.ids import RequestId

Rewrite = Callable[[str, bytes], "tuple[str, bytes] | Failure"]
"""Returns the method and params to send instead, or the error to answer a request with; a notification is dropped."""


def keep(method: str, params: bytes) -> tuple[str, bytes]:
    """Return a message unchanged."""
    return method, params


class Cancellable(Protocol):
    """A request in progress."""

    def cancel(self) -> None: ...


class PassedRequest:
    """A request that was forwarded unchanged."""

    __slots__ = ("id", "target")

    def __init__(self, target: Port) -> None:
        self.target: Port = target
        self.id: int = -1

    def cancel(self) -> None:
        self.target.cancel(self.id)


class QueuedRequest:
    """A request that hasn't been forwarded yet."""

    __slots__ = ("is_cancelled",)

    def __init__(self) -> None:
        self.is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Direction:
    """Passes messages from one port to another."""

    def __init__(self, source: Port, target: Port, rewrite: Rewrite = keep) -> None:
        self.source = source
        self.target: Port = target
        self.rewrite = rewrite
        self.open: dict[RequestId, Cancellable] = {}
        """The requests of the source that have no response yet."""
        source.handler = self

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        rewritten = self.rewrite(method, params)
        if isinstance(rewritten, Failure):
            self.source.answer(id, rewritten)
        else:
            self.pass_request(id, *rewritten)

    def pass_request(self, id: RequestId, method: str, params: bytes) -> None:
        """Forward a request, and return the response unchanged."""
        passed = self.open[id] = PassedRequest(self.target)

        def respond(outcome: Outcome) -> None:
            del self.open[id]
            self.respond(id, outcome)

        passed.id = self.target.request(method, params, respond)

    def respond(self, id: RequestId, outcome: Outcome) -> None:
        """Answer a request of the source."""
        self.source.answer(id, outcome)

    def on_notification(self, method: str, params: bytes) -> None:
        rewritten = self.rewrite(method, params)
        if not isinstance(rewritten, Failure):
            self.target.notify(*rewritten)

    def on_cancel(self, id: RequestId) -> None:
        request = self.open.get(id)
        if request is not None:
            request.cancel()

    def on_end(self) -> None:
        for request in list(self.open.values()):
            request.cancel()
