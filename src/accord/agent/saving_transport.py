"""A transport that saves updates before it sends them, for agents with a durable store.

Messages are held until the store has saved the updates that they report. A single message is saved at once; the
messages of a burst, which the inner transport would collect anyway, are saved together. So everything that a client has
received is in the store, even if the process is killed at any moment. Responses and requests stay behind the updates
before them.

If the store can't save (the disk is full), updates stay in memory and further ones raise `StoreFailed`. The turn then
fails, and its error is sent ahead of the held messages, so that the client learns about it. Saving is retried until it
succeeds; then everything is sent in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from enum import Enum, auto
from time import perf_counter
from typing import NamedTuple

from accord.connection.dispatch import fault_of, log
from accord.errors import ConnectionClosed, StoreFailed
from accord.rpc.envelope import failure
from accord.store.base import SessionStore
from accord.transports.base import READY, Receiver, Transport
from accord.transports.gate import Gate
from accord.transports.sink import AGE_SECONDS, BURST_SECONDS, LARGE_BYTES

RETRY_SECONDS = 0.5
"""How long to wait before retrying after saving has failed."""
_LAST_SAVE_SECONDS = 6.0


class _Kind(Enum):
    """The kind of a message, which determines how it is handled while the store can't save."""

    NOTIFICATION = auto()
    """Held back: it reports something that must be saved first."""
    REQUEST = auto()
    """Fails at once, because its answer may depend on held updates."""
    OTHER = auto()
    """Sent ahead of held messages: a response, or the state that ends a turn."""


class _Held(NamedTuple):
    data: bytes
    kind: _Kind
    id: int = -1
    """The id of a request."""


class SavingTransport(Transport):
    """Wraps a transport and sends updates only after a store has saved them."""

    def __init__(self, inner: Transport, store: SessionStore) -> None:
        self._inner = inner
        self._store = store
        self._held: list[_Held] = []
        self._size = 0
        self._scheduled = False
        self._saving: asyncio.Future[None] | None = None
        self._failure: StoreFailed | None = None
        self._tried_at = 0.0
        self._sent_at = 0.0
        self._held_at = 0.0
        self._closed = False
        self._loop: asyncio.AbstractEventLoop
        self._gate: Gate
        self._receiver: Receiver

    # -- passed through to the inner transport

    @property
    def max_message_bytes(self) -> int:
        return self._inner.max_message_bytes

    @max_message_bytes.setter
    def max_message_bytes(self, size: int) -> None:
        self._inner.max_message_bytes = size

    @property
    def half_open(self) -> bool:
        return self._inner.half_open

    def start(self, receiver: Receiver) -> None:
        self._loop = asyncio.get_running_loop()
        self._gate = Gate(self._loop)
        self._receiver = receiver
        self._inner.start(receiver)

    def pause(self) -> None:
        self._inner.pause()

    def resume(self) -> None:
        self._inner.resume()

    def describe(self) -> str:
        return self._inner.describe()

    def stderr_tail(self) -> str:
        return self._inner.stderr_tail()

    # -- sending

    def send(self, data: bytes) -> Awaitable[None]:
        return self._send(_Held(data, _Kind.OTHER))

    def send_notification(self, data: bytes) -> Awaitable[None]:
        return self._send(_Held(data, _Kind.NOTIFICATION))

    def send_request(self, data: bytes, id: int) -> Awaitable[None]:
        return self._send(_Held(data, _Kind.REQUEST, id))

    def _send(self, message: _Held) -> Awaitable[None]:
        if self._failure is not None:
            return self._send_while_failing(message)
        if not self._held:
            if not self._store.unsaved:
                return self._inner.send(message.data)
            now = self._held_at = perf_counter()
            alone = now - self._sent_at >= BURST_SECONDS
        else:
            now, alone = perf_counter(), False
        self._held.append(message)
        self._size += len(message.data)
        if self._saving is not None:
            return self._gate
        if alone or self._size >= LARGE_BYTES or now - self._held_at >= AGE_SECONDS:
            waiting = self._let_out()
            if self._failure is not None and message.kind is _Kind.NOTIFICATION:
                raise self._failure
            return waiting
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._end_of_pass)
        return READY

    def flush(self) -> None:
        if self._held and self._saving is None:
            self._let_out()
        self._inner.flush()

    def check(self) -> None:
        """Raise `StoreFailed` if earlier updates can't be saved, so that no new work is started."""
        if self._failure is not None:
            self._try_again()
        if self._failure is not None:
            raise self._failure

    async def settle(self) -> None:
        """Wait until everything is saved. Raises `StoreFailed` if that fails."""
        self.check()
        if self._store.unsaved:
            await (self._gate if self._saving is not None else self._let_out())
        self.check()

    def _end_of_pass(self) -> None:
        self._scheduled = False
        if self._held and self._saving is None and self._failure is None:
            self._let_out_quietly()

    def _let_out_quietly(self) -> None:
        """Like `_let_out`, for callers that can't handle a closed connection."""
        try:
            self._let_out()
        except ConnectionClosed:
            log.debug("the client disconnected before all updates were sent")

    def _let_out(self) -> Awaitable[None]:
        """Save, then send the held messages. Messages that arrive while saving is in progress wait too."""
        self._tried_at = perf_counter()
        try:
            waiting = self._store.save()
        except StoreFailed as error:
            self._fail(error)
            return READY
        if waiting is None:
            return self._send_held()
        self._gate.shut()
        self._saving = asyncio.ensure_future(waiting)
        self._saving.add_done_callback(self._on_saved)
        return self._gate

    def _on_saved(self, saving: asyncio.Future[None]) -> None:
        self._saving = None
        if saving.cancelled():
            self._gate.open()
        elif (error := saving.exception()) is None:
            self._let_out_quietly()  # also saves updates that arrived meanwhile
        else:
            failed = error if isinstance(error, StoreFailed) else StoreFailed(f"couldn't save sessions: {error}")
            self._fail(failed)
            self._gate.open(failed)

    def _send_held(self) -> Awaitable[None]:
        held, self._held, self._size = self._held, [], 0
        self._failure = None
        if not self._gate.is_open:
            self._gate.open()
        if not held:
            return READY
        waiting = self._inner.send(held[0].data if len(held) == 1 else b"".join([each.data for each in held]))
        self._inner.flush()
        self._sent_at = perf_counter()
        return waiting

    # -- while the store can't save

    def _fail(self, error: StoreFailed) -> None:
        """Enter the failing state: keep held updates, fail requests, and send everything else ahead of them."""
        if self._failure is None:
            log.error("%s", error.message)
            self._loop.call_later(RETRY_SECONDS, self._later)
        self._failure = error
        held, self._held = self._held, []
        for message in held:
            if message.kind is _Kind.NOTIFICATION:
                self._held.append(message)
            elif message.kind is _Kind.REQUEST:
                refusal = failure(message.id, fault_of(error, "session/update"))
                self._loop.call_soon(self._receiver.on_lines, refusal + b"\n")
            else:
                with suppress(ConnectionClosed):
                    self._inner.send(message.data)
        self._size = sum(len(message.data) for message in self._held)

    def _send_while_failing(self, message: _Held) -> Awaitable[None]:
        self._try_again()
        if self._failure is None:
            return self._send(message)
        if message.kind is _Kind.NOTIFICATION:
            self._held.append(message)
            self._size += len(message.data)
        if message.kind is not _Kind.OTHER:
            raise self._failure
        return self._inner.send(message.data)

    def _try_again(self) -> None:
        if self._saving is None and perf_counter() - self._tried_at >= RETRY_SECONDS / 2:
            self._let_out_quietly()

    def _later(self) -> None:
        if self._failure is not None and not self._closed:
            self._try_again()
            if self._failure is not None:
                self._loop.call_later(RETRY_SECONDS, self._later)
            else:
                log.warning("sessions can be saved again; held updates have been sent")

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            try:
                if self._failure is None and self._saving is None:
                    self._let_out()
                if self._store.unsaved:
                    waiting = self._store.save()
                    if waiting is not None:
                        await asyncio.wait_for(waiting, _LAST_SAVE_SECONDS)
                    self._send_held()
            except (StoreFailed, TimeoutError) as error:
                log.error("couldn't save the last updates: %s", error)
            except ConnectionClosed:
                log.debug("the client disconnected before all updates were sent")
        await self._inner.close()
