"""The transport interface: moves whole messages without reading them.

Receiving is push-based: a transport passes each block of whole lines to its receiver as it arrives, without a task in
between. `send` does its work when called; the returned awaitable is only for back-pressure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from threading import get_ident
from typing import Literal, NamedTuple, Protocol, cast

from accord.errors import UsageError

DEFAULT_MAX_MESSAGE_BYTES = 256 * 1024 * 1024


class Receiver(Protocol):
    """Receives the messages of a transport. Called in the event loop, in wire order; must not raise."""

    def on_lines(self, block: bytes) -> None:
        """Handle one or more whole messages, one per line. The last line of a stream may lack its newline."""

    def on_oversized(self, head: bytes, size: int) -> None:
        """Handle a message that was skipped because it is too long: its first bytes, and its total length."""

    def on_end(self, error: Exception | None) -> None:
        """Handle the end of the stream. Called once; the error is None after an orderly end or our own `close`."""


class Interruption(NamedTuple):
    """A step of a transport that reconnects by itself: the network connection was lost, resumed, or given up."""

    state: Literal["lost", "resumed", "gone"]
    detail: str = ""
    attempts: int = 0
    seconds: float = 0.0
    """How long the connection was down."""


class Transport(ABC):
    """One end of a connection."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    """The longest line that is accepted; can be changed until `start`."""

    @property
    def half_open(self) -> bool:
        """Whether `send` still works after `on_end(None)`: the peer closed its output, but may still read."""
        return False

    @abstractmethod
    def start(self, receiver: Receiver) -> None:
        """Start receiving. Called once, inside the event loop."""

    @abstractmethod
    def send(self, data: bytes) -> Awaitable[None]:
        """Send whole messages, each ending with a newline, in order. Awaiting the result waits while the peer is slow.

        Raises `ConnectionClosed` once nothing can be sent. After `on_end(None)` sending may still work: if standard
        input is a file of requests, it ends long before the last of them is answered."""

    def send_notification(self, data: bytes) -> Awaitable[None]:
        """Like `send`, for callers that send notifications. A transport may treat these differently."""
        return self.send(data)

    def send_request(self, data: bytes, id: int) -> Awaitable[None]:
        """Like `send`, for one request with this id."""
        return self.send(data)

    @abstractmethod
    def flush(self) -> None:
        """Write buffered messages now, as far as the operating system accepts them."""

    @abstractmethod
    def pause(self) -> None:
        """Stop receiving until `resume`. Idempotent."""

    @abstractmethod
    def resume(self) -> None:
        """Continue receiving."""

    @abstractmethod
    async def close(self) -> None:
        """Send buffered messages, then close. The receiver gets `on_end`, and nothing after it. Idempotent."""

    def report_interruptions(self, report: Callable[[Interruption], None]) -> None:
        """Call this function when the connection is lost and resumed. Only for transports that reconnect by
        themselves; others do nothing."""

    def describe(self) -> str:
        """Describe the peer, for error messages: "`python agent.py`", "standard input and output"."""
        return "the peer"

    def stderr_tail(self) -> str:
        """Return the last part of the peer's standard error; empty if there is none."""
        return ""

    def describe_stderr(self) -> str:
        """Return a clause with the last part of the peer's standard error, for the end of an error message."""
        tail = self.stderr_tail()
        return f'; last output on stderr: "{tail}"' if tail else ""


def check_thread(expected: int) -> None:
    """Raise `UsageError` in any other thread than the one with this identifier, which runs the event loop."""
    if get_ident() != expected:
        raise UsageError(
            "called in a thread other than the event loop's; there, use asyncio.run_coroutine_threadsafe(…, loop), or "
            "loop.call_soon_threadsafe(turn.say, text) to send a message"
        )


class _Ready:
    """An awaitable that is done: awaiting it is almost free and doesn't yield to the event loop."""

    __slots__ = ()
    __await__ = iter(()).__iter__  # an exhausted iterator, which is returned without running a Python frame


class _Yield:
    """An awaitable that lets the event loop run once, so that a busy sender can't starve the reader."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


READY: Awaitable[None] = cast("Awaitable[None]", _Ready())  # its `__await__` returns no generator, only an iterator
YIELD: Awaitable[None] = _Yield()
