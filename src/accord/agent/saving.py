"""Nothing leaves before it is kept: a transport around another, for agents whose sessions must outlive their process.

What is sent waits here until the store has saved what it tells of: at once when a message comes alone, together in a
burst, as the transport underneath would have collected it anyway. So whatever a client has received is in the store, at
whatever instant the process is killed; and answers and requests stay behind the updates before them.

When the store cannot save (the disk is full), updates stay here, in memory, and whoever says more gets `StoreFailed`:
the turn ends, and its error goes past what is held, so that the client hears of it. Saving is tried again until it
works; then everything goes out in its order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from time import perf_counter
from typing import Any

import msgspec

from accord.connection.dispatch import log
from accord.errors import ConnectionClosed, StoreFailed
from accord.rpc.envelope import Fault, failure
from accord.store.base import SessionStore
from accord.transports.base import READY, Receiver, Transport
from accord.transports.gate import Gate
from accord.transports.writing import AGE_SECONDS, BURST_SECONDS, LARGE

AGAIN_SECONDS = 0.5
"""How often saving is tried again once it has failed."""
_LAST_TRY = 6.0


class _Line(msgspec.Struct):
    """What must be known of a line to decide whether it may pass what is held."""

    id: Any = None
    method: str = ""
    params: Any = None


class SavingTransport(Transport):
    """Sends what a store has saved."""

    def __init__(self, inner: Transport, store: SessionStore) -> None:
        self._inner = inner
        self._store = store
        self._held: list[bytes] = []
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

    # -- what passes through

    @property
    def max_message_bytes(self) -> int:
        return self._inner.max_message_bytes

    @max_message_bytes.setter
    def max_message_bytes(self, size: int) -> None:
        self._inner.max_message_bytes = size

    @property
    def half_open(self) -> bool:  # type: ignore[override]
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

    def last_words(self) -> str:
        return self._inner.last_words()

    # -- sending

    def send(self, data: bytes) -> Awaitable[None]:
        if self._failure is not None:
            return self._send_while_failing(data)
        if not self._held:
            if not self._store.unsaved:
                return self._inner.send(data)
            now = self._held_at = perf_counter()
            alone = now - self._sent_at >= BURST_SECONDS
        else:
            now, alone = perf_counter(), False
        self._held.append(data)
        self._size += len(data)
        if self._saving is not None:
            return self._gate
        if alone or self._size >= LARGE or now - self._held_at >= AGE_SECONDS:
            waiting = self._let_out()
            if self._failure is not None and _is_held(data):
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
        """Raises `StoreFailed` when what was said before cannot be kept, so that no more need be begun."""
        if self._failure is not None:
            self._try_again()
        if self._failure is not None:
            raise self._failure

    async def settle(self) -> None:
        """Waits until what was said is kept. Raises `StoreFailed` when it cannot be."""
        self.check()
        if self._store.unsaved:
            await (self._gate if self._saving is not None else self._let_out())
        self.check()

    def _end_of_pass(self) -> None:
        self._scheduled = False
        if self._held and self._saving is None and self._failure is None:
            self._let_out_quietly()

    def _let_out_quietly(self) -> None:
        """The same as `_let_out`, where nobody waits for it."""
        try:
            self._let_out()
        except ConnectionClosed:
            log.debug("the client was gone before it was told everything")

    def _let_out(self) -> Awaitable[None]:
        """Saves, and sends what is held; what is said while that takes its time waits behind it."""
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
        self._saving.add_done_callback(self._saved)
        return self._gate

    def _saved(self, saving: asyncio.Future[None]) -> None:
        self._saving = None
        if saving.cancelled():
            self._gate.open()
        elif (error := saving.exception()) is None:
            self._let_out_quietly()  # and saves what was said meanwhile
        else:
            failed = error if isinstance(error, StoreFailed) else StoreFailed(f"sessions cannot be kept: {error}")
            self._fail(failed)
            self._gate.open(failed)

    def _send_held(self) -> Awaitable[None]:
        held, self._held, self._size = self._held, [], 0
        self._failure = None
        if not self._gate.is_open:
            self._gate.open()
        if not held:
            return READY
        waiting = self._inner.send(held[0] if len(held) == 1 else b"".join(held))
        self._inner.flush()
        self._sent_at = perf_counter()
        return waiting

    # -- when it cannot be saved

    def _fail(self, error: StoreFailed) -> None:
        """Lets past what a client needs to hear; updates stay."""
        if self._failure is None:
            log.error("%s", error.message)
            self._loop.call_later(AGAIN_SECONDS, self._later)
        self._failure = error
        held, self._held = self._held, []
        for lines in held:
            if _is_held(lines):
                self._held.append(lines)
            elif (id := _asks(lines)) is not None:
                refusal = failure(id, Fault(error.code, error.message))
                self._loop.call_soon(self._receiver.lines, refusal + b"\n")
            else:
                with suppress(ConnectionClosed):
                    self._inner.send(lines)
        self._size = sum(map(len, self._held))

    def _send_while_failing(self, data: bytes) -> Awaitable[None]:
        self._try_again()
        if self._failure is None:
            return self.send(data)
        if _is_held(data):
            self._held.append(data)
            self._size += len(data)
            raise self._failure
        if _asks(data) is not None:
            raise self._failure
        return self._inner.send(data)

    def _try_again(self) -> None:
        if self._saving is None and perf_counter() - self._tried_at >= AGAIN_SECONDS / 2:
            self._let_out_quietly()

    def _later(self) -> None:
        if self._failure is not None and not self._closed:
            self._try_again()
            if self._failure is not None:
                self._loop.call_later(AGAIN_SECONDS, self._later)
            else:
                log.warning("sessions can be kept again; what was held back has been sent")

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            try:
                if self._failure is None and self._saving is None:
                    self._let_out()
                if self._store.unsaved:
                    waiting = self._store.save()
                    if waiting is not None:
                        await asyncio.wait_for(waiting, _LAST_TRY)
                    self._send_held()
            except (StoreFailed, TimeoutError) as error:
                log.error("what was said last could not be kept: %s", error)
            except ConnectionClosed:
                log.debug("the client was gone before it was told everything")
        await self._inner.close()


# What is handed to `send` at once is of one kind: the first line tells which.


def _is_held(line: bytes) -> bool:
    """Whether a line tells what is to be kept first: a notification, but for states and withdrawn requests."""
    seen = _decode(line)
    if not seen.method or seen.id is not None or seen.method == "$/cancel_request":
        return False
    update = seen.params.get("update") if isinstance(seen.params, dict) else None
    return not (isinstance(update, dict) and update.get("sessionUpdate") == "state_update")


def _asks(line: bytes) -> Any:
    """The id of a request; None for anything else."""
    seen = _decode(line)
    return seen.id if seen.method else None


def _decode(lines: bytes) -> _Line:
    try:
        return msgspec.json.decode(lines.partition(b"\n")[0], type=_Line)
    except msgspec.DecodeError:
        return _Line()  # the answers to a batch
