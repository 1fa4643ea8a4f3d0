"""A transport that counts what passes through it, and notes when its connection was last active."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from accord.server.connections import LiveConnection
from accord.server.metrics import Metrics
from accord.transports.base import Receiver, Transport


class MeteredTransport(Transport):
    """Forwards everything to another transport, and counts it."""

    def __init__(
        self, inner: Transport, connection: LiveConnection, metrics: Metrics, clock: Callable[[], float]
    ) -> None:
        self._inner = inner
        self._connection = connection
        self._metrics = metrics
        self._clock = clock
        self._receiver: Receiver | None = None

    @property
    def half_open(self) -> bool:
        return self._inner.half_open

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._inner.max_message_bytes = self.max_message_bytes
        self._inner.start(self)

    def on_lines(self, block: bytes) -> None:
        self._connection.active_at = self._clock()
        self._metrics.count_received(block)
        assert self._receiver is not None
        self._receiver.on_lines(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        assert self._receiver is not None
        self._receiver.on_oversized(head, size)

    def on_end(self, error: Exception | None) -> None:
        assert self._receiver is not None
        self._receiver.on_end(error)

    def send(self, data: bytes) -> Awaitable[None]:
        self._note_sent(data)
        return self._inner.send(data)

    def send_notification(self, data: bytes) -> Awaitable[None]:
        self._note_sent(data)
        return self._inner.send_notification(data)

    def send_request(self, data: bytes, id: int) -> Awaitable[None]:
        self._note_sent(data)
        return self._inner.send_request(data, id)

    def flush(self) -> None:
        self._inner.flush()

    def pause(self) -> None:
        self._inner.pause()

    def resume(self) -> None:
        self._inner.resume()

    async def close(self) -> None:
        await self._inner.close()

    def describe(self) -> str:
        return self._inner.describe()

    def stderr_tail(self) -> str:
        return self._inner.stderr_tail()

    def _note_sent(self, data: bytes) -> None:
        self._connection.active_at = self._clock()
        self._metrics.count_sent(data)
