"""One end of a JSON-RPC conversation whose params and results stay raw JSON, over a transport.

The hub has one for each client and each agent process, a proxy one for each neighbor. Messages are handled in the
transport's callback, in wire order; nothing is awaited."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Literal, Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.errors import INVALID_REQUEST, ConnectionClosed
from accord.rpc.conversation import CANCEL, Answered, Cancelled, Conversation
from accord.rpc.envelope import (
    Failure,
    Fault,
    Malformed,
    Notification,
    Request,
    Success,
    call_head,
    drop_incomplete_response,
    read_fault,
)
from accord.rpc.fragment import read_fragment
from accord.rpc.ids import Int64, RequestId
from accord.transports.base import READY, YIELD, Transport

log: logging.Logger = logging.getLogger("accord")

Outcome = Success | Failure
OnAnswer = Callable[[Outcome], None]

CLOSE_SECONDS = 2.0
"""How long a slow peer has to read the remaining lines before the connection is closed."""
SEND_BYTES = 64 * 1024
"""How many queued bytes are sent at once when the peer reads again."""


class MessageHandler(Protocol):
    """Handles the peer's messages."""

    def on_request(self, id: RequestId, method: str, params: bytes) -> None:
        """Handle a request, which must get a response."""

    def on_notification(self, method: str, params: bytes) -> None:
        """Handle a notification."""

    def on_cancel(self, id: RequestId) -> None:
        """Handle `$/cancel_request` for an open request of the peer."""

    def on_end(self, error: Exception | None, waiting: list[OnAnswer]) -> None:
        """Handle the end of the connection. `waiting` are the callbacks of our requests that got no response."""


class Outbox:
    """Lines for a peer that may be slow. Lines that the transport can't take yet wait here, up to a limit.

    A line may be sent on behalf of a sender. Such lines aren't part of the limit: the caller limits what each sender
    has queued, so that one of them can't end the connection for the others."""

    def __init__(self, transport: Transport, max_bytes: int | None, on_overflow: Callable[[], None]) -> None:
        self.queued_bytes: int = 0
        self.on_flow: Callable[[bool], None] = lambda is_full: None
        """Called when the peer becomes slow, and when it has read everything."""
        self._transport = transport
        self._max_bytes = max_bytes
        self._on_overflow = on_overflow
        self._lines: deque[tuple[bytes, Hashable]] | None = None  # created on first use: most peers are never slow
        self._senders: dict[Hashable, int] = {}
        self._sending: asyncio.Task[None] | None = None
        self._is_open = True

    @property
    def is_full(self) -> bool:
        """Whether the peer is slow, and lines are queued."""
        return self._sending is not None

    def queued_by(self, sender: Hashable) -> int:
        """Return how many bytes of a sender are queued. `None` stands for all lines without a sender."""
        return self._senders.get(sender, 0)

    def send(self, line: bytes, sender: Hashable = None) -> None:
        """Send a line, or queue it while the peer is slow. Does nothing once the connection is closed."""
        if not self._is_open:
            return
        if self._sending is not None:
            if self._lines is None:
                self._lines = deque()
            self._lines.append((line, sender))
            self.queued_bytes += len(line)
            self._senders[sender] = self._senders.get(sender, 0) + len(line)
            if self._max_bytes is not None and sender is None and self._senders[None] > self._max_bytes:
                self.close()
                self._on_overflow()
            return
        try:
            waiting = self._transport.send(line)
        except ConnectionClosed:
            self._is_open = False
            return
        if waiting is not READY and waiting is not YIELD:
            self._sending = asyncio.get_running_loop().create_task(self._send_rest(waiting))
            self.on_flow(True)

    async def _send_rest(self, waiting: Awaitable[None]) -> None:
        try:
            await waiting
            while self._lines:
                await self._transport.send(self._take_lines(self._lines))
        except ConnectionClosed:
            self.close()
        finally:
            self._sending = None
            self.on_flow(False)

    def _take_lines(self, queue: deque[tuple[bytes, Hashable]]) -> bytes:
        lines = []
        size = 0
        while queue and size < SEND_BYTES:
            line, sender = queue.popleft()
            lines.append(line)
            size += len(line)
            self._senders[sender] -= len(line)
            if not self._senders[sender]:
                del self._senders[sender]
        self.queued_bytes -= size
        return b"".join(lines)

    async def wait_until_sent(self, timeout: float | None = None) -> None:
        """Wait while the peer is slow, at most this many seconds."""
        if self._sending is not None:
            await asyncio.wait({self._sending}, timeout=timeout)

    def close(self) -> None:
        """Drop queued lines, and all later ones."""
        self._is_open = False
        self._lines = None
        self._senders.clear()
        self.queued_bytes = 0
        if self._sending is not None and self._sending is not asyncio.current_task():
            self._sending.cancel()


class _Message(msgspec.Struct):
    """The usual shape of a message. Params, result and error aren't decoded."""

    jsonrpc: Literal["2.0"]
    id: Int64 | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_message = msgspec.json.Decoder(_Message)


def _read_usual(line: bytes) -> _Message | None:
    try:
        usual = _message.decode(line)
        if not line.isascii():
            line.decode()
    except (ValueError, RecursionError):  # a message that is nested too deeply must get an error response too
        return None
    return usual


class RelayConnection:
    """A conversation over a transport. `side` is our role.

    A `verbatim` connection passes messages on unchanged: params that can't be decoded aren't repaired, and absent ones
    stay absent (empty bytes)."""

    def __init__(
        self,
        transport: Transport,
        handler: MessageHandler,
        *,
        side: Literal["agent", "client"],
        verbatim: bool = False,
        max_queued_bytes: int | None = None,
        on_overflow: Callable[[], None] = lambda: None,
    ) -> None:
        self.transport = transport
        self.is_open: bool = True
        self.outbox: Outbox = Outbox(transport, max_queued_bytes, on_overflow)
        self.ended: asyncio.Event = asyncio.Event()
        self._side = side
        self._verbatim = verbatim
        self._handler = handler
        self._conversation: Conversation[OnAnswer] = Conversation()

    def start(self) -> None:
        """Start receiving."""
        self.transport.start(self)

    # -- sending

    def request(self, method: str, params: bytes, on_answer: OnAnswer, sender: Hashable = None) -> int:
        """Send a request and return its id. `on_answer` is called with the response. Empty params are left out."""
        id, line = self._conversation.request(msgspec.json.encode(method), params, on_answer)
        self.outbox.send(line, sender)
        return id

    def cancel(self, id: int) -> None:
        """Tell the peer that the response to a request is no longer needed. It may still arrive."""
        if self._conversation.awaits_response(id):
            self.outbox.send(self._conversation.cancel(id))

    def notify(self, method: str, params: bytes, sender: Hashable = None) -> None:
        """Send a notification. Empty params are left out."""
        if params:
            self.outbox.send(b"%b%b}\n" % (call_head(method), params), sender)
        else:
            self.outbox.send(b'{"jsonrpc":"2.0","method":%b}\n' % msgspec.json.encode(method), sender)

    def answer(self, id: RequestId, outcome: Outcome, sender: Hashable = None) -> None:
        """Send the response to a request of the peer, unless it has one."""
        if not self._conversation.owes_response(id):
            return
        if isinstance(outcome, Success):
            line = self._conversation.answer(id, bytes(outcome.result))
        else:
            line = self._conversation.refuse(id, Raw(outcome.raw) if outcome.raw else outcome.error)
        if line:
            self.outbox.send(line, sender)

    async def close(self) -> None:
        """Close the transport."""
        await self.outbox.wait_until_sent(CLOSE_SECONDS)
        await self.transport.close()
        self.on_end(None)

    # -- receiving

    def on_lines(self, block: bytes) -> None:
        for line in drop_incomplete_response(block).split(b"\n"):
            if line:
                try:
                    self._receive(line)
                except Exception as error:  # one message must not end the connection
                    log.error("a message couldn't be handled", exc_info=error)

    def _receive(self, line: bytes) -> None:
        usual = _read_usual(line)
        if usual is not None and (self._receive_call(usual) or self._receive_response(usual)):
            return
        for message in self._conversation.receive_line(line):
            match message:
                case Request(id=id, method=method, params=params):
                    self._handler.on_request(id, method, params)
                case Notification(method=method, params=params):
                    self._handler.on_notification(method, params)
                case Answered(waiter=waiter, answer=answer):
                    waiter(answer)
                case Cancelled(id=id):
                    self._handler.on_cancel(id)
                case Malformed():
                    self._report_malformed(message)
                case _:
                    log.debug("an unexpected response was ignored")

    def _receive_call(self, call: _Message) -> bool:
        """Handle a call of the usual shape. Returns False for everything else."""
        if call.method is UNSET or call.method == CANCEL or call.result is not UNSET or call.error is not UNSET:
            return False
        params = b"" if call.params is UNSET else bytes(call.params)
        if params[:1] != b"{" and not (self._verbatim and params[:1] in (b"", b"[")):
            return False
        if call.id is UNSET:
            self._handler.on_notification(call.method, params)
        elif self._verbatim:
            registered = self._conversation.register(Request(call.id, call.method, params))
            if isinstance(registered, Malformed):
                self._report_malformed(registered)
            else:
                self._handler.on_request(call.id, call.method, params)
        else:
            return False
        return True

    def _receive_response(self, response: _Message) -> bool:
        """Handle a response of the usual shape. Returns False for everything else."""
        if response.method is not UNSET or response.id is UNSET:
            return False
        answer: Outcome
        if response.error is UNSET and response.result is not UNSET:
            answer = Success(response.id, response.result)
        elif response.result is UNSET and response.error is not UNSET and bytes(response.error).startswith(b"{"):
            answer = Failure(response.id, read_fault(response.error), bytes(response.error))
        else:
            return False
        waiter = self._conversation.pop_waiter(response.id, None)
        if waiter is None:
            log.debug("an unexpected response was ignored")
        else:
            waiter(answer)
        return True

    def _report_malformed(self, malformed: Malformed) -> None:
        if malformed.silent or (self._side == "client" and malformed.stray and malformed.batch_responses is None):
            return  # stray output of an agent gets no response
        self.outbox.send(self._conversation.refuse_malformed(malformed))

    def on_oversized(self, head: bytes, size: int) -> None:
        limit = self.transport.max_message_bytes
        fault = Fault(INVALID_REQUEST, f"Invalid request: the message has {size} bytes; at most {limit} are read")
        seen = read_fragment(head)
        if seen.kind == "answer":
            waiter = self._conversation.pop_waiter(seen.id, None)
            if waiter is not None:
                waiter(Failure(seen.id, fault))
        elif seen.id is not None:
            self.outbox.send(self._conversation.refuse_malformed(Malformed(fault, seen.id, stray=False)))

    def on_end(self, error: Exception | None) -> None:
        if self.is_open:
            self.is_open = False
            self.outbox.close()
            self.ended.set()
            self._handler.on_end(error, self._conversation.end())
