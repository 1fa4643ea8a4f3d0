"""Incoming messages of a transport that receives them one by one: delivery, limits, pausing and the end."""

from __future__ import annotations

import asyncio

from accord.transports.base import Receiver
from accord.transports.framing import HEAD_BYTES


class Inbox:
    """Passes messages to a receiver. Readers wait while there is no receiver, or while it is paused."""

    def __init__(self) -> None:
        self.max_message_bytes: int = 0
        self.has_ended: bool = False
        self._receiver: Receiver | None = None
        self._paused = False
        self._waiting: list[asyncio.Future[None]] = []

    def start(self, receiver: Receiver, max_message_bytes: int) -> None:
        """Start delivering."""
        self._receiver = receiver
        self.max_message_bytes = max_message_bytes
        if not self._paused:
            self._release()

    @property
    def is_flowing(self) -> bool:
        """Whether a message would be delivered at once."""
        return self.has_ended or (self._receiver is not None and not self._paused)

    async def wait_flowing(self) -> None:
        """Wait until messages are accepted, or the end."""
        while not self.is_flowing:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def pause(self) -> None:
        """Deliver nothing until `resume`. Idempotent."""
        self._paused = True

    def resume(self) -> None:
        """Deliver again. Idempotent."""
        self._paused = False
        if self._receiver is not None:
            self._release()

    def deliver(self, message: bytes) -> None:
        """Deliver one message, which has no line end. Nothing is delivered after the end."""
        if self._receiver is None or self.has_ended:
            return
        if len(message) > self.max_message_bytes:
            self._receiver.on_oversized(message[:HEAD_BYTES], len(message))
        elif message:
            self._receiver.on_lines(message + b"\n")

    def end(self, error: Exception | None) -> None:
        """Report the end, once, and release waiting readers."""
        if not self.has_ended:
            self.has_ended = True
            self._release()
            if self._receiver is not None:
                self._receiver.on_end(error)

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


def in_one_line(message: bytes) -> bytes:
    """Return a JSON text without line ends. They occur only between tokens, because strings escape them."""
    if b"\n" in message or b"\r" in message:
        message = message.replace(b"\r", b" ").replace(b"\n", b" ")
    return message.strip()
