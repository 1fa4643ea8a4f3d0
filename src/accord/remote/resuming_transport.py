"""A transport that survives lost connections: it reconnects and resumes every session, without lost or duplicate
messages.

It sits above a network transport and below a connection or a relay. `Resumption` decides which messages to send and to
drop; this module manages the connections and the clock. If the server doesn't support resuming, messages pass
unchanged, and this transport ends with the network connection."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from accord.errors import AccordError, ConnectionClosed, LaunchError
from accord.remote.resumption import Phase, Resumption
from accord.transports.base import READY, Interruption, Receiver, Transport
from accord.transports.gate import Gate

Open = Callable[[], Awaitable[Transport]]

HIGH_WATER = 1024 * 1024
"""Senders wait when more bytes than this wait for a connection."""
_CLOSE_SECONDS = 2.0
_FINAL_STAGES = frozenset({"auth", "tls", "resolve"})
"""Stages whose errors aren't resolved by retrying."""
_MAX_FIRST_ATTEMPTS = 3
"""The number of attempts at `initialize` with a server that has never answered it."""


class Retry(NamedTuple):
    """When to reconnect, and when to give up."""

    back_off_seconds: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0, 2.0, 5.0, 10.0)
    """The pause before each attempt. The last one is repeated."""
    give_up_seconds: float | None = 300.0
    """How long to try after the connection was lost; None tries until the transport is closed."""
    heartbeat_seconds: float = 20.0
    """A ping is sent when nothing was received for this long."""
    timeout_seconds: float = 20.0
    """The connection counts as lost if nothing is received for this long after a ping, or after connecting."""


class ResumingTransport(Transport):
    """A transport over a series of connections. `first` is the first of them, `open` opens another one."""

    def __init__(
        self,
        first: Transport,
        open: Open,
        *,
        on_change: Callable[[Interruption], None] | None = None,
        retry: Retry | None = None,
        client_id: str | None = None,
        resets: bool = True,
    ) -> None:
        """`resets` is whether the receiver supports `_accord/snapshot`, as our own client does."""
        self._on_change = on_change
        self.retry: Retry = retry or Retry()
        self._open = open
        self._state = Resumption(client_id or str(uuid.uuid4()), resets=resets)
        self._is_plain = False
        self._link = _Link(self, first)
        self._inner = first
        self._receiver: Receiver | None = None
        self._loop: asyncio.AbstractEventLoop
        self._gate: Gate
        self._paused = False
        self._ended: str = ""  # why sending is no longer possible; empty while it is
        self._heard = True  # whether anything was received since the watchdog last looked
        self._is_probing = False  # whether the watchdog has sent a ping
        self._watchdog: asyncio.TimerHandle | None = None
        self._reconnecting: asyncio.Task[None] | None = None
        self._attempts = 0
        self._lost_at: float | None = None
        """When the connection was reported as lost; None while it isn't."""
        self._settled: asyncio.Future[str] | None = (
            None  # the result of an attempt to reconnect: empty, or the reason why it failed
        )
        self._tasks: set[asyncio.Task[None]] = set()

    # -- transport

    def start(self, receiver: Receiver) -> None:
        self._loop = asyncio.get_running_loop()
        self._gate = Gate(self._loop)
        self._receiver = receiver
        self._attach(self._inner)
        self._watch()

    def send(self, data: bytes) -> Awaitable[None]:
        if self._is_plain:
            return self._inner.send(data)
        if self._ended:
            raise ConnectionClosed(self._ended)
        self._state.send(data)
        return self._send_out()

    def flush(self) -> None:
        self._inner.flush()

    def pause(self) -> None:
        self._paused = True
        self._inner.pause()

    def resume(self) -> None:
        self._paused = False
        self._heard = True
        self._inner.resume()

    async def close(self) -> None:
        self._ended = self._ended or "the connection was closed on this side"
        self._stop()
        await self._inner.close()
        self._end(None)
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=_CLOSE_SECONDS)

    def report_interruptions(self, report: Callable[[Interruption], None]) -> None:
        self._on_change = report

    def describe(self) -> str:
        return self._inner.describe()

    def stderr_tail(self) -> str:
        return self._inner.stderr_tail()

    @property
    def supports_resuming(self) -> bool:
        """Whether the server supports resuming; False until it has answered `initialize`."""
        return bool(self._state.is_supported)

    # -- messages

    def _attach(self, inner: Transport) -> None:
        """Use a connection from now on."""
        self._inner, self._link = inner, _Link(self, inner)
        inner.max_message_bytes = self.max_message_bytes
        inner.report_interruptions(self._link.report)
        self._heard, self._is_probing = True, False
        inner.start(self._link)
        if self._paused:
            inner.pause()

    def receive(self, block: bytes) -> None:
        """Handle lines from the current connection."""
        if self._is_plain:
            if self._receiver is not None:
                self._receiver.on_lines(block)
            return
        self._heard = True
        state = self._state
        above = state.receive(block)
        # Send the waiting lines first: the receiver may send more while it handles these.
        self._send_out()
        if state.is_supported is False:
            self._pass_unchanged()
        elif self._settled is not None and not self._settled.done():
            self._check_attempt(self._settled)
        receiver = self._receiver
        if above and receiver is not None:
            receiver.on_lines(above)

    def _send_out(self) -> Awaitable[None]:
        """Send the messages that are ready. If the connection breaks, they are sent again on the next one."""
        out = self._state.take()
        if out:
            try:
                return self._inner.send(out[0] if len(out) == 1 else b"".join(out))
            except ConnectionClosed:
                return READY  # its `on_end` follows
        if self._state.unsent_bytes > HIGH_WATER:
            self._gate.shut()
            return self._gate
        if not self._gate.is_open:
            self._gate.open()
        return READY

    def skip(self, head: bytes, size: int) -> None:
        """Report a message of the current connection that is too long."""
        self._heard = True
        if self._receiver is not None:
            self._receiver.on_oversized(head, size)

    def _pass_unchanged(self) -> None:
        """Forward everything unchanged from now on: the server doesn't support resuming."""
        self._stop()
        self._is_plain = True

    # -- a lost connection

    def lose(self, error: Exception | None, why: str = "") -> None:
        """Handle the end of the current connection."""
        if not self._state.can_reconnect or self._ended or self._is_plain:
            self._ended = self._ended or "the connection is closed"
            self._stop()
            self._end(error)
            return
        reason = why or (str(error) if error is not None else "the server closed the connection")
        self._state.disconnect()
        self._drop()
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(reason)
        elif self._reconnecting is None:
            self._reconnecting = self._loop.create_task(self._reconnect(reason))
            self.report(Interruption("lost", reason))

    async def _reconnect(self, reason: str) -> None:
        """Try until a connection is resumed, or until it's time to give up."""
        begin = time.monotonic()
        self._attempts = attempts = 0
        is_new = self._state.is_supported is None
        while not self._ended:
            back_off = self.retry.back_off_seconds
            await asyncio.sleep(back_off[min(attempts, len(back_off) - 1)])
            self._attempts = attempts = attempts + 1
            try:
                inner = await self._open()
            except LaunchError as error:
                reason = str(error)
                if error.stage in _FINAL_STAGES:
                    break
            except (AccordError, OSError) as error:
                reason = str(error)
            else:
                self._settled = self._loop.create_future()
                self._state.connect()
                self._attach(inner)
                self._send_out()
                reason = await self._settled
                if not reason:
                    return
            limit = self.retry.give_up_seconds
            if self._state.refusal or (is_new and attempts >= _MAX_FIRST_ATTEMPTS):
                break
            if limit is not None and time.monotonic() - begin >= limit:
                break
        self._reconnecting = None
        if not self._ended:
            self._ended = f"couldn't reconnect: {reason}"
            self.report(Interruption("gone", reason, attempts, time.monotonic() - begin))
            self._stop()
            self._end(ConnectionClosed(self._ended))

    def _check_attempt(self, attempt: asyncio.Future[str]) -> None:
        """Record whether an attempt to reconnect has succeeded or failed."""
        state = self._state
        if state.phase is Phase.LIVE:
            # The task of the attempt runs later, and the connection may be lost again before that.
            self._reconnecting = None
            attempt.set_result("")
            self.report(Interruption("resumed", "", self._attempts, time.monotonic() - (self._lost_at or 0.0)))
        elif state.refusal or state.rejection:
            reason = state.refusal or state.rejection
            state.disconnect()
            self._drop()
            attempt.set_result(reason)

    def _drop(self) -> None:
        """Drop the current connection, and close it without waiting, because its peer may not respond."""
        self._link.owner = None
        task = self._loop.create_task(self._close_inner(self._inner))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close_inner(self, inner: Transport) -> None:
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await inner.close()
        except (TimeoutError, AccordError, OSError):
            return

    def report(self, change: Interruption) -> None:
        """Report a change, once: the current connection may have tried to continue before it was lost."""
        if change.state == "lost":
            if self._lost_at is not None:
                return
            self._lost_at = time.monotonic()
        else:
            self._lost_at = None
        if self._on_change is not None:
            self._on_change(change)

    # -- heartbeat

    def _watch(self) -> None:
        """Watch for a dead peer: send a ping after some silence, and drop the connection if there is no response."""
        if self._ended or self._is_plain:
            return
        state, retry = self._state, self.retry
        delay = retry.heartbeat_seconds
        if self._heard or self._paused:
            self._is_probing = False
        elif state.phase is Phase.LIVE and not self._is_probing:
            self._is_probing, delay = True, retry.timeout_seconds
            state.ping()
            self._send_out()
        elif state.phase is not Phase.NEW and state.phase is not Phase.CUT:
            self.lose(None, "the server doesn't respond")
        self._heard = False
        if state.phase in (Phase.INITIALIZING, Phase.RESUMING):
            delay = retry.timeout_seconds
        self._watchdog = self._loop.call_later(delay, self._watch)

    # -- the end

    def _stop(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._reconnecting is not None and self._reconnecting is not asyncio.current_task():
            self._reconnecting.cancel()
            self._reconnecting = None
        if self._receiver is not None:
            self._gate.open(ConnectionClosed(self._ended) if self._ended else None)

    def _end(self, error: Exception | None) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_end(error)


class _Link:
    """Receives messages of one connection. Passes nothing on once another connection has replaced it."""

    def __init__(self, owner: ResumingTransport, inner: Transport) -> None:
        self.owner: ResumingTransport | None = owner
        self.inner = inner

    def on_lines(self, block: bytes) -> None:
        if self.owner is not None:
            self.owner.receive(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        if self.owner is not None:
            self.owner.skip(head, size)

    def on_end(self, error: Exception | None) -> None:
        if self.owner is not None:
            self.owner.lose(error)

    def report(self, change: Interruption) -> None:
        if self.owner is not None:
            self.owner.report(change)
