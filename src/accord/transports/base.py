"""What a transport is: it moves whole messages and does not read them.

Receiving pushes: a transport hands each block of whole lines to its receiver as it arrives, with no task in between.
Sending collects: `send` does its work when called, and what it returns is awaited only to feel back-pressure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Generator
from typing import Protocol

DEFAULT_MAX_MESSAGE_BYTES = 256 * 1024 * 1024


class Receiver(Protocol):
    """Who gets what a transport receives. Called in the event loop, in wire order; must not raise."""

    def lines(self, block: bytes) -> None:
        """One or more whole messages, each a line; the last newline may be missing at the end of the stream."""

    def oversized(self, head: bytes, size: int) -> None:
        """A message past the limit was skipped: its first bytes, and how long it was in all."""

    def ended(self, error: Exception | None) -> None:
        """Nothing more will come. Called once; None after an orderly end, our own `close` included."""


class Transport(ABC):
    """One end of a wire."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    """The longest line that is passed on; may be set until `start`."""
    half_open: bool = False
    """Whether sending goes on working after `ended(None)`: they closed their half of the wire, and may still listen."""

    @abstractmethod
    def start(self, receiver: Receiver) -> None:
        """Begins to receive. Called once, inside the event loop."""

    @abstractmethod
    def send(self, data: bytes) -> Awaitable[None]:
        """Takes whole messages, each ended by a newline. They leave in order; awaiting waits while the peer is slow.

        It raises `ConnectionClosed` once nothing can be sent any more. That is not always so after `ended(None)`: a
        file of requests as standard input is over long before the last of them is answered."""

    @abstractmethod
    def flush(self) -> None:
        """Hands what was collected to the operating system now, as far as it takes it."""

    @abstractmethod
    def pause(self) -> None:
        """Stops receiving until `resume`. Repeating changes nothing."""

    @abstractmethod
    def resume(self) -> None:
        """Receives again."""

    @abstractmethod
    async def close(self) -> None:
        """Sends what was collected, then ends in an orderly way; the receiver hears `ended` and nothing after it.

        Repeating changes nothing."""

    def describe(self) -> str:
        """What the peer is, for error messages: "`python agent.py`", "standard input and output"."""
        return "the peer"

    def last_words(self) -> str:
        """What the peer last said outside the protocol (its standard error), for error messages."""
        return ""


class _Ready:
    """An awaitable that is done: awaiting it costs next to nothing and does not yield."""

    __slots__ = ()
    __await__ = iter(()).__iter__  # an iterator that is over, handed out without a Python frame


class _Yield:
    """An awaitable that lets the event loop run once, so that a busy sender cannot starve the reader."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


READY: Awaitable[None] = _Ready()  # type: ignore[assignment]
YIELD: Awaitable[None] = _Yield()
