"""Limits on the resources of a client, so that it can't starve the others.

Limits on one connection, such as the length of its streams, belong to the transport (`transports/http`)."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable

import msgspec

from accord.server.request import Refusal, Request

MAX_BUCKETS = 10_000
_RETRY = [(b"retry-after", b"1")]


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a server. 0 seconds means no limit."""

    max_body_bytes: int = 64 * 1024 * 1024
    max_header_bytes: int = 16 * 1024
    max_headers: int = 64
    max_sockets: int = 2000
    """TCP connections in total."""
    max_sockets_per_address: int = 500
    max_connections: int = 1000
    """ACP connections in total: WebSockets, and HTTP connections between `initialize` and `DELETE`."""
    max_connections_per_principal: int = 250
    max_sessions_per_principal: int = 1000
    requests_per_second: float = 200.0
    """HTTP requests per second of one principal; bursts may have five times as many."""
    failures_per_minute: float = 30.0
    """Failed logins from one address."""
    header_seconds: float = 10.0
    """Time limit for the headers of a request, and for an idle HTTP/1.1 connection to send the next one."""
    body_seconds: float = 60.0
    idle_seconds: float = 0.0
    """Time limit for an ACP connection without messages."""
    lifetime_seconds: float = 0.0
    """Time limit for any ACP connection."""


class RateLimiter:
    """Token buckets by key: each refills steadily, up to the size of a burst. Full buckets are removed."""

    def __init__(self, per_second: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def level(self, key: str) -> float:
        """Return the number of tokens left."""
        left, at = self._buckets.get(key, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - at) * self._per_second)

    def take(self, key: str) -> bool:
        """Take a token; return False if there is none."""
        left = self.level(key)
        if left < 1:
            return False
        self._buckets[key] = (left - 1, self._clock())
        self._buckets.move_to_end(key)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return True


class SocketGate:
    """Counts TCP connections, in total and by address, before anything is read from them."""

    def __init__(self, limits: ServerLimits) -> None:
        self.refused: int = 0
        self._limits = limits
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        return self._open.total()

    def admit(self, address: str) -> bool:
        """Count a new connection; return False if it has to be closed instead."""
        if self.count >= self._limits.max_sockets or self._open[address] >= self._limits.max_sockets_per_address:
            self.refused += 1
            return False
        self._open[address] += 1
        return True

    def release(self, address: str) -> None:
        """Forget a connection that was admitted."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


def check_headers(request: Request, limits: ServerLimits) -> None:
    """Refuse requests that no well-behaved client sends: too many headers, ambiguous lengths, compressed bodies."""
    if len(request.headers) > limits.max_headers:
        raise Refusal(431, f"A request can have at most {limits.max_headers} headers.", why="headers")
    size = sum(len(name) + len(value) + 4 for name, value in request.headers)
    if size > limits.max_header_bytes:
        raise Refusal(431, f"The headers of a request can have at most {limits.max_header_bytes} bytes.", why="headers")
    lengths, codings = request.values("content-length"), request.values("transfer-encoding")
    # A proxy in front may have used the other one, and would treat the rest of the body as another request.
    if lengths and codings:
        raise Refusal(400, "Send either Content-Length or Transfer-Encoding, not both.", why="smuggling")
    if len(lengths) > 1 or len(codings) > 1:
        raise Refusal(400, "The length of the request is ambiguous.", why="smuggling")
    if lengths and not (lengths[0].isascii() and lengths[0].isdigit()):
        raise Refusal(400, "Content-Length isn't a number.", why="smuggling")
    if lengths and int(lengths[0][:20]) > limits.max_body_bytes:
        message = (
            f"A message can have at most {limits.max_body_bytes} bytes. To change it: accord serve --max-body BYTES"
        )
        raise Refusal(413, message, why="body")
    encodings = [value.strip().lower() for value in request.values("content-encoding")]
    if any(encoding not in ("", "identity") for encoding in encodings):
        raise Refusal(
            415, "Compressed requests aren't accepted.", why="compressed", headers=[(b"accept-encoding", b"identity")]
        )


def refuse_rate(message: str) -> Refusal:
    """Return the refusal of a client that exceeds a rate or count."""
    return Refusal(429, message, why="rate", headers=_RETRY)
