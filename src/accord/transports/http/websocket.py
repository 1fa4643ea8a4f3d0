"""The client's side of a WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from accord.errors import ConnectionClosed, LaunchError
from accord.transports.base import Receiver, Transport
from accord.transports.http.inbox import Inbox, in_one_line
from accord.transports.http.limits import MIB
from accord.transports.http.options import (
    HttpOptions,
    explain_failure,
    explain_status,
    make_client,
    require_httpx2,
)
from accord.transports.http.outbox import Outbox
from accord.transports.http.small_reads import limit_reads

if TYPE_CHECKING:
    from httpx2.websockets import AsyncWebSocketSession

_DRAIN_SECONDS = 5.0
_MAX_UNSENT_BYTES = 1024 * MIB


class WebSocketTransport(Transport):
    """A connection to an agent over WebSocket. `connect` opens it."""

    def __init__(self, url: str, headers: Mapping[str, str], options: HttpOptions) -> None:
        self.connection_id: str = ""
        """The server's id of this connection, from the upgrade response."""
        self._url = url
        self._headers = options.all_headers(headers)
        self._options = options
        self._inbox = Inbox()
        self._outbox = Outbox(MIB, _MAX_UNSENT_BYTES)
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @classmethod
    async def connect(
        cls, url: str, *, headers: Mapping[str, str] | None = None, options: HttpOptions | None = None
    ) -> WebSocketTransport:
        """Connect to `ws://…` or `wss://…`. Raises `LaunchError` with the stage that failed."""
        self = cls(url, headers or {}, options or HttpOptions())
        self._running = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(self._options.connect_seconds):  # the response to the upgrade may never arrive
                await asyncio.shield(self._opened)
        except BaseException as error:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            if isinstance(error, TimeoutError):
                raise explain_failure(url, error) from error
            raise
        return self

    # -- the transport

    def start(self, receiver: Receiver) -> None:
        self._inbox.start(receiver, self.max_message_bytes)

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
        self._inbox.end(None)
        self._closing.set()
        if self._running is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self._running)

    def describe(self) -> str:
        return f"the agent at {self._url}"

    # -- the socket

    async def _run(self) -> None:
        """Open the socket, transfer messages, and close it, all in one task, as the library requires."""
        try:
            require_httpx2()
            import httpx2

            client = make_client(
                self._options,
                self._headers,
                httpx2.Cookies(dict(self._options.cookies)),
                url=self._url,
                for_websocket=True,
            )
        except Exception as error:
            self._opened.set_exception(error)
            return
        from httpx2.websockets import WebSocketUpgradeError

        lost: str | None = "the connection to the server was lost"
        try:
            async with (
                client,
                client.websocket(
                    self._url,
                    # The limit of the library closes the socket. Ours, in the inbox, skips the message; up to twice its
                    # size there is a choice.
                    max_message_size_bytes=2 * self.max_message_bytes,
                    keepalive_ping_interval_seconds=None,  # see `_ping`
                ) as socket,
            ):
                assert socket.response is not None
                self.connection_id = socket.response.headers.get("acp-connection-id", "")
                limit_reads(socket)
                self._opened.set_result(None)
                lost = await self._move(socket)
        except WebSocketUpgradeError as error:
            location = error.response.headers.get("location", "")
            self._fail(explain_status(self._url, error.response.status_code, location=location))
        except Exception as error:
            self._fail(explain_failure(self._url, error))
        finally:
            self._outbox.close(lost or "the server closed the connection")
            self._inbox.end(None if lost is None else ConnectionClosed(lost))

    def _fail(self, error: LaunchError) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)

    async def _move(self, socket: AsyncWebSocketSession) -> str | None:
        """Transfer messages until either side closes. Returns why the connection was lost; None after an orderly
        end."""
        reading = asyncio.create_task(self._read(socket))
        tasks: set[asyncio.Task[Any]] = {
            reading,
            asyncio.create_task(self._write(socket)),
            asyncio.create_task(self._ping(socket)),
            asyncio.create_task(self._closing.wait()),
        }
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        if self._closing.is_set():
            return None
        for end in ends:
            if isinstance(end, str):
                return end or None
        return "the connection to the server was lost"

    async def _read(self, socket: AsyncWebSocketSession) -> str:
        from httpx2.websockets import HTTPXWSException, WebSocketDisconnect
        from wsproto.events import TextMessage

        while True:
            await self._inbox.wait_flowing()
            try:
                event = await socket.receive()
            except WebSocketDisconnect as end:
                reason = f": {end.reason}" if end.reason else ""
                return "" if end.code == 1000 else f"the server closed the connection (code {end.code}){reason}"
            except (HTTPXWSException, OSError):
                return "the connection to the server was lost"
            if isinstance(event, TextMessage):  # binary frames are ignored
                await self._inbox.wait_flowing()
                self._inbox.deliver(in_one_line(event.data.encode()))

    async def _write(self, socket: AsyncWebSocketSession) -> str | None:
        while (line := await self._outbox.next()) is not None:
            try:
                await socket.send_text(line.decode("utf-8", "replace"))
            except Exception:
                # The library raises various exceptions if the socket is closed. The reader reports the reason.
                await asyncio.sleep(1)
                return "the connection to the server was lost"
            self._outbox.note_sent(line)
        await self._closing.wait()
        return None

    async def _ping(self, socket: AsyncWebSocketSession) -> str:
        """Detect a connection that was lost silently.

        The library's own pings can't be used: it reads the response only after messages that aren't read while paused,
        and would close a healthy connection."""
        while True:
            await asyncio.sleep(self._options.silence_seconds / 3)
            await self._inbox.wait_flowing()
            answered = await socket.ping()
            deadline = self._options.silence_seconds * 2 / 3
            while not answered.is_set():
                try:
                    await asyncio.wait_for(answered.wait(), deadline)
                except TimeoutError:
                    if self._inbox.is_flowing:
                        return f"the server didn't respond for {self._options.silence_seconds:g} s"
                    await self._inbox.wait_flowing()
