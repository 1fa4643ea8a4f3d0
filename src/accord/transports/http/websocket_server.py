"""The server's side of a WebSocket, over ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from accord.errors import ConnectionClosed
from accord.transports.base import Receiver, Transport
from accord.transports.eager_tasks import EagerTasks
from accord.transports.http.inbox import Inbox, in_one_line
from accord.transports.http.limits import HttpLimits
from accord.transports.http.message_head import read_head
from accord.transports.http.outbox import Outbox

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

NORMAL, GOING_AWAY, PROTOCOL_ERROR, POLICY, TOO_BIG, INTERNAL = 1000, 1001, 1002, 1008, 1009, 1011
_REASON_BYTES = 123  # the maximum in a close frame
_DRAIN_SECONDS = 5.0
_CLOSE_SECONDS = 5.0
"""How long the close frame may wait behind what a client doesn't read."""


class WebSocketServerTransport(Transport):
    """A client that is connected over WebSocket. `run` does its I/O."""

    def __init__(
        self, receive: Receive, send: Send, limits: HttpLimits, tasks: EagerTasks, *, reads_binary: bool = False
    ) -> None:
        """`tasks` may be shared by all connections. `reads_binary` accepts messages in binary frames too."""
        self._receive = receive
        self._reads_binary = reads_binary
        self._send = send
        self._limits = limits
        self._tasks = tasks
        self._inbox = Inbox()
        self._outbox = Outbox(limits.waiting_bytes, limits.stream_bytes, self._start_writing)
        self._is_writing = False
        self._writer: asyncio.Task[None] | None = None  # of a client that reads slowly
        self._sent = 0
        self._close_code, self._close_reason = NORMAL, ""
        self._disconnected = False
        self._input_ended = False
        loop = asyncio.get_running_loop()
        self._finished: asyncio.Future[None] = loop.create_future()  # nothing more will be written
        self._done: asyncio.Future[None] = loop.create_future()

    # -- the transport

    @property
    def half_open(self) -> bool:
        return self._input_ended

    def start(self, receiver: Receiver) -> None:
        self._inbox.start(receiver, min(self.max_message_bytes, self._limits.body_bytes))

    def send(self, data: bytes) -> Awaitable[None]:
        return self._outbox.send(data)

    def flush(self) -> None:
        """Do nothing: the writer sends at once."""

    def pause(self) -> None:
        self._inbox.pause()

    def resume(self) -> None:
        self._inbox.resume()

    async def close(self) -> None:
        self._outbox.refuse("the connection was closed on this side")
        await self._outbox.wait_sent(_DRAIN_SECONDS)
        self.stop()
        await asyncio.shield(self._done)

    def describe(self) -> str:
        return "the client behind the WebSocket"

    # -- for the endpoint

    def end_input(self) -> None:
        """Accept no more messages. Running work is ended by its owner, and may still send its last messages."""
        self._input_ended = True
        self._close_code, self._close_reason = GOING_AWAY, "the server is shutting down"
        self._inbox.end(None)

    def stop(self, code: int = NORMAL, reason: str = "") -> None:
        """Close without waiting for unsent messages. Only the first call's reason is used."""
        if not self._inbox.has_ended:
            self._close_code, self._close_reason = code, reason
        self._input_ended = False
        self._outbox.close(reason or "the connection was closed on this side")
        self._inbox.end(None)
        if not self._finished.done():  # a writer may wait for a client that doesn't read
            self._finished.set_result(None)

    async def run(self) -> None:
        """Receive and send until either side closes."""
        reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait({reading, self._finished}, return_when=asyncio.FIRST_COMPLETED)
            if not self._disconnected:
                await self._close_socket()
        finally:
            tasks = [reading] if self._writer is None else [reading, self._writer]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._lose(None)
            if not self._done.done():
                self._done.set_result(None)

    async def _close_socket(self) -> None:
        reason = self._close_reason.encode()[:_REASON_BYTES].decode("utf-8", "ignore")
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._send({"type": "websocket.close", "code": self._close_code, "reason": reason})
        except Exception:  # servers raise different exceptions for a socket that is already closed
            return

    async def _read(self) -> None:
        first = True
        while True:
            await self._inbox.wait_flowing()
            if first:
                try:
                    event = await asyncio.wait_for(self._receive(), self._limits.initialize_seconds)
                except TimeoutError:
                    self.stop(POLICY, "initialize didn't arrive in time")
                    return
            else:
                event = await self._receive()
            if event["type"] == "websocket.disconnect":
                self._disconnected = True
                self._lose(event)
                return
            text = event.get("text")
            # The protocol ignores binary frames. Bridges from WebSocket to standard input don't.
            data = (event.get("bytes") if self._reads_binary else None) if text is None else text.encode()
            message = in_one_line(data or b"")
            if not message:
                continue
            if first:
                head = read_head(message)
                if head is None or head.method != "initialize" or head.kind != "request":
                    self.stop(PROTOCOL_ERROR, "the first message must be an initialize request")
                    return
                first = False
            await self._inbox.wait_flowing()
            self._inbox.deliver(message)

    def _start_writing(self) -> None:
        """Write waiting messages inline until the client is slow, because a task for each message would cost more."""
        if self._is_writing or self._finished.done():
            return
        if self._outbox.is_finished:
            self._finished.set_result(None)
            return
        self._is_writing = True
        self._writer = self._tasks.start(self._write())
        if self._writer is not None:
            self._watch(self._writer, self._sent)

    async def _write(self) -> None:
        try:
            while (line := self._outbox.take()) is not None:
                await self._send({"type": "websocket.send", "text": line.decode("utf-8", "replace")})
                self._sent += 1
                self._outbox.note_sent(line)
        except Exception as error:  # servers raise different exceptions for a closed socket
            # Later, because a sender doesn't expect the end of the connection inside `send`.
            asyncio.get_running_loop().call_soon(self._fail, f"can't send to the client: {error}")
            return  # and write nothing more
        self._is_writing = False
        if self._outbox.is_finished and not self._finished.done():
            self._finished.set_result(None)

    def _watch(self, writer: asyncio.Task[None], sent: int) -> None:
        """Drop the client if nothing can be sent for too long."""

        def check() -> None:
            if writer.done():
                return
            if self._sent == sent:
                writer.cancel()
                self._fail("the client stopped reading")
            else:
                self._watch(writer, self._sent)

        asyncio.get_running_loop().call_later(self._limits.stall_seconds, check)

    def _fail(self, why: str) -> None:
        self._disconnected = True
        self._lose(None, why)
        if not self._finished.done():
            self._finished.set_result(None)

    def _lose(self, event: MutableMapping[str, Any] | None, why: str = "") -> None:
        code = NORMAL if event is None else event.get("code") or NORMAL
        # 1005 is a close without a code. 1006 is a broken connection; hypercorn also reports it for orderly ends.
        error = (
            None
            if code in (NORMAL, GOING_AWAY, 1005, 1006) and not why
            else ConnectionClosed(why or f"the client closed the WebSocket with code {code}")
        )
        self._outbox.close(why or "the client has disconnected")
        self._inbox.end(error)
