"""One conversation over one transport: its beginning, what it sends, and an orderly end.

What comes in is for `delivering`, which keeps the order within a session by its lane (`lanes`): updates one at a time,
and the answer to a request of ours (`asking`) only after the updates that came before it. What they ask is for
`serving`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from accord.connection.asking import Asking, Then, Waiter
from accord.connection.backlog import Backlog, Unsent
from accord.connection.delivering import Delivering
from accord.connection.dispatch import Routes, log
from accord.connection.lanes import Lanes
from accord.connection.limits import Deadline, Limits
from accord.connection.serving import Serving, current_request
from accord.connection.tap import Tap, Watcher
from accord.connection.trouble import Trouble, Troubles
from accord.errors import ConnectionClosed, PeerDied
from accord.rpc.conversation import Conversation
from accord.rpc.envelope import call_head
from accord.schema.method import Method
from accord.schema.wire import encode
from accord.transports.base import READY, YIELD, Transport

__all__ = ["Connection", "Deadline", "Limits", "Then", "Trouble", "current_request"]

_LAST_ANSWERS = 1.0  # seconds for requests that are still being handled when the last of them was read


class Connection:
    """One end of a conversation. `side` says which role we play."""

    def __init__(self, transport: Transport, *, side: Literal["agent", "client"], limits: Limits | None = None) -> None:
        self.transport = transport
        self.side = side
        self.peer = "client" if side == "agent" else "agent"
        self.limits = limits or Limits()
        self.tap = Tap()
        self.stage = "initialize"
        self.is_open = True
        """Whether anything can be asked or told."""
        self.can_answer = True
        """Whether what they asked can still be answered: so too when they only closed their half of the wire."""
        self.heard = False
        """Whether the peer has sent anything at all."""
        self.message_size = 0
        """About how many bytes the message now being delivered has."""
        conversation: Conversation[Waiter] = Conversation(batches=self.limits.batches)
        troubles = Troubles(self.peer)
        self._troubles = troubles
        self._conversation = conversation
        self._asking = Asking(self, conversation)
        self._serving = Serving(self, conversation)
        self.backlog = Backlog(self.limits, transport.pause, transport.resume, self._asking.give_up)
        self.lanes = Lanes(self.backlog, troubles.handler_failed)
        self._answers = Unsent(self.backlog)
        self._delivering = Delivering(self, conversation, self._asking, self._serving, troubles)
        self.call = self._asking.call
        self.ask = self._asking.ask
        self.lines = self._delivering.lines
        self.oversized = self._delivering.oversized
        self.refused = self._delivering.refused
        self.not_speaking = self._delivering.not_speaking
        self._heads: dict[str, bytes] = {}
        self._ended: asyncio.Future[Exception | None] | None = None
        self._end_error: Exception | None = None
        self._closing: asyncio.Task[None] | None = None
        self._closed_by: asyncio.Task[Any] | None = None

    # -- beginning

    def start(self, early: Routes) -> None:
        """Begins to receive. Until `speak` only what is in `early` is served; the rest is refused or kept."""
        self._delivering.opening.early = early
        self._delivering.opening.waiting = self.side == "client"
        self._ended = asyncio.get_running_loop().create_future()
        self.transport.max_message_bytes = self.limits.max_message_bytes
        self._conversation.reader = early.reader
        self.transport.start(self)
        self._send_straight()

    def speak(self, routes: Routes, *, null_ids: bool) -> None:
        """The version is agreed, and the answer that says so has left: these methods are served from now on."""
        self.stage = "session"
        self._conversation.null_ids = null_ids
        self._delivering.speak(routes)

    # -- what goes out

    def tell(self, method: Method[Any, Any], params: Any) -> Awaitable[None]:
        """Sends a notification now. Awaiting only waits while the peer is slow."""
        name = method.name
        head = self._heads.get(name) or self._heads.setdefault(name, call_head(name))
        return self.send(b"%b%b}\n" % (head, encode(params)))

    def send(self, lines: bytes) -> Awaitable[None]:
        """Sends whole lines as they are."""
        if not self.is_open:
            raise self.closed_error("")
        self.tap.show("out", lines)
        return self.transport.send(lines)

    def _send_straight(self) -> None:
        """While nobody watches, sending is one call less."""
        if self.is_open and not self.tap.watchers:
            self.send = self.transport.send  # type: ignore[assignment, method-assign]

    def _send_by_us(self) -> None:
        """From now on sending goes through `send` above: somebody watches, or the connection is over."""
        self.__dict__.pop("send", None)

    def send_quietly(self, lines: bytes) -> None:
        """An answer: nobody awaits its sending, and when the peer is gone nobody misses it."""
        if lines and self.can_answer:
            try:
                waiting = self.send(lines) if self.is_open else self._send_last(lines)
            except ConnectionClosed:
                log.debug("an answer was not sent: the %s is gone", self.peer)
                return
            if waiting is not READY and waiting is not YIELD:
                self._answers.stuck(waiting, len(lines))

    def _send_last(self, lines: bytes) -> Awaitable[None]:
        """Answers what was asked before they closed their half."""
        self.tap.show("out", lines)
        return self.transport.send(lines)

    # -- the end

    def ended(self, error: Exception | None) -> None:
        """The transport is over, or at least their half of it."""
        if not self.is_open:
            return
        self._end_error = error
        self.is_open = False
        self.can_answer = error is None and self.transport.half_open and self._closing is None
        self._send_by_us()
        self._asking.end()
        if not self.can_answer:
            self._serving.cancel_all(self._closed_by)
            self._serving.close()
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(error)

    def closed_error(self, method: str, id: int | None = None) -> ConnectionClosed:
        """What to raise now that the connection is over: where it mattered, and why it ended."""
        where = f"while {method} (id {id}) was open" if id is not None else f"before {method}" if method else "already"
        error = self._end_error
        if isinstance(error, PeerDied):
            how = "hung up" if error.status is None else "ended"  # a process may live on without us
            return PeerDied(
                f"the {self.peer} {how} {where}: {error}",
                command=error.command,
                status=error.status,
                stderr=error.stderr,
                stage=self.stage,
            )
        if error is not None:
            return ConnectionClosed(f"the connection to the {self.peer} broke {where}: {error}")
        words = self.transport.last_words()
        tail = f'; its last words: "{words}"' if words else ""
        return ConnectionClosed(f"the connection to the {self.peer} ended {where}{tail}")

    async def wait_ended(self) -> Exception | None:
        """Waits until the connection is over; gives the reason when it broke."""
        assert self._ended is not None, "the connection has not been started"
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """Ends in an orderly way: running handlers are cancelled, what they still say is sent, then the wire closes."""
        if self._closing is None:
            self._closed_by = asyncio.current_task()  # perhaps a handler: it goes on when we are done
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if not self.is_open and self.can_answer:
            await self._serving.finish(_LAST_ANSWERS, self._closed_by)
        tasks = self._serving.cancel_all(self._closed_by)
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        await self.transport.close()
        self.ended(None)
        self.can_answer = False
        await self._answers.close()
        await self._serving.finish(1, self._closed_by)  # what began meanwhile has been cancelled too
        await self.lanes.close(0.5, self._closed_by)
        self._serving.close()
        self._asking.settle()
        self._closed_by = None

    # -- reports

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Shows every line, in and out, to a watcher, until what this returns is called."""
        self._send_by_us()
        stop = self.tap.add(watcher)

        def stop_watching() -> None:
            stop()
            self._send_straight()

        return stop_watching

    @property
    def troubles(self) -> dict[str, int]:
        """How often each kind of trouble was met."""
        return self._troubles.counts

    @property
    def first_stray(self) -> str:
        """What was wrong with the first line that is no message; nothing when all are."""
        return self._troubles.first_stray

    @property
    def on_trouble(self) -> Callable[[Trouble], None] | None:
        """Called with each trouble as it is met."""
        return self._troubles.report

    @on_trouble.setter
    def on_trouble(self, report: Callable[[Trouble], None] | None) -> None:
        self._troubles.report = report
