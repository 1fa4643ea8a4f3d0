"""One event stream of a Streamable HTTP connection, on the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.transports.base import Interruption
from accord.transports.http.admission import CONNECTION_ID, EVENT_STREAM, SESSION_ID
from accord.transports.http.exchange import read_refusal
from accord.transports.http.stream_buffer import EventId, read_event_id

if TYPE_CHECKING:
    import httpx2

_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.05, 2.0

MakeClient = Callable[[], "httpx2.AsyncClient"]
OnEvent = Callable[["ClientStream", bytes, "EventId | None"], Awaitable[None]]
OnEnd = Callable[["ClientStream", "str | None"], None]
OnChange = Callable[[Interruption], None]


class StreamRefused(Exception):
    """The server refused the GET."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"HTTP {status}: {' '.join(text.split())[:300]}")
        self.status = status


class ClientStream:
    """Receives the events of the connection (`session` is None) or of one session.

    It has its own HTTP client. The library never tells the server that one stream of an HTTP/2 connection is closed, so
    the whole connection has to be closed with it."""

    def __init__(
        self,
        session: str | None,
        *,
        url: str,
        connection_id: str,
        headers: Callable[[], Mapping[str, str]],
        make_client: MakeClient,
        on_event: OnEvent,
        on_end: OnEnd,
        on_change: OnChange | None,
        resume_seconds: float,
        max_event_bytes: int,
        refusal_seconds: float,
    ) -> None:
        """`on_end` gets the reason if messages may have been lost, and None after an orderly end. `on_change` is
        called when a dropped stream isn't continued at once, and when it is.

        `resume_seconds` is how long to try to continue a dropped stream; 0 if the server doesn't support it.
        `refusal_seconds` is how long to wait for the reason of a refusal."""
        self.session = session
        self.last_number: int = 0
        """The number of the last event, if the server counts them."""
        self.is_open: bool = False
        self.is_busy_at: float = 0.0
        """When the last event arrived, in the time of the event loop."""
        self._url = url
        self._names = {CONNECTION_ID: connection_id} | ({} if session is None else {SESSION_ID: session})
        self._headers = headers
        self._make_client = make_client
        self._on_event = on_event
        self._on_end = on_end
        self._on_change = on_change
        self._resume_seconds = resume_seconds
        self._max_event_bytes = max_event_bytes
        self._refusal_seconds = refusal_seconds
        self._last_id = ""
        self._attempts = 0
        """How often the stream could not be continued since it was dropped."""
        self._dropped_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._advanced = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def wait_open(self) -> None:
        """Wait until the server has accepted the stream. Raises `StreamRefused` or the error of the HTTP library."""
        await asyncio.shield(self._opened)

    async def wait_number(self, number: int) -> None:
        """Wait until an event has been received, or the stream has ended."""
        while self.last_number < number and not self._task.done():
            self._advanced.clear()
            await self._advanced.wait()

    async def close(self) -> None:
        """Stop receiving."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def stop(self) -> None:
        """Stop receiving, without waiting for it."""
        self._task.cancel()

    async def _run(self) -> None:
        lost: str | None = "the connection to the server was lost"
        try:
            lost = await self._receive_all()
        finally:
            self.is_open = False
            self._advanced.set()
            if not self._opened.done():
                self._opened.cancel()
            elif not self._opened.cancelled():
                self._opened.exception()  # otherwise asyncio logs it if no caller waited
        self._on_end(self, lost)

    async def _receive_all(self) -> str | None:
        import httpx2

        pause, give_up_at = _FIRST_PAUSE_SECONDS, 0.0
        is_orderly = False
        while True:
            try:
                await self._receive()
                is_orderly, problem = True, "the server ended the connection"
            except StreamRefused as refusal:
                if not self._opened.done():
                    self._opened.set_exception(refusal)
                    return None
                if refusal.status == 404 and is_orderly and self.session is not None:
                    return None  # the server ended this stream, and no longer has its events
                problem = f"the server refused to continue: {refusal}"
                if refusal.status not in (409, 429, 502, 503, 504):
                    return "the server ended the connection" if is_orderly else problem
            except httpx2.HTTPError as error:
                if not self._opened.done():
                    self._opened.set_exception(error)
                    return None
                is_orderly, problem = False, f"the connection to the server was lost: {error or type(error).__name__}"
            if self._opened.done() and self.is_open:
                self._dropped_at = self._loop.time()
                self.is_open, pause, give_up_at = False, _FIRST_PAUSE_SECONDS, self._dropped_at + self._resume_seconds
            else:
                self._attempts += 1
                if self._attempts == 1:
                    self._report(Interruption("lost", problem))
            if not self._resume_seconds:
                return None if is_orderly and self.session is not None else problem
            if self._loop.time() >= give_up_at:
                return problem
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def _report(self, change: Interruption) -> None:
        if self._on_change is not None:
            self._on_change(change)

    async def _receive(self) -> None:
        import httpx2

        headers = {**self._headers(), **self._names, "Accept": EVENT_STREAM, "Cache-Control": "no-store"}
        if self._opened.done() and self._resume_seconds:
            headers["Last-Event-ID"] = self._last_id or "0"
        async with self._make_client() as client, client.stream("GET", self._url, headers=headers) as response:
            if response.status_code != 200:
                raise StreamRefused(response.status_code, await read_refusal(response, self._refusal_seconds))
            self.is_open = True
            if self._attempts:
                self._report(Interruption("resumed", "", self._attempts + 1, self._loop.time() - self._dropped_at))
                self._attempts = 0
            if not self._opened.done():
                self._opened.set_result(None)
            async for event in httpx2.EventSource(response, max_event_size=self._max_event_bytes):
                if event.data:
                    id = read_event_id(event.id) if event.id else None
                    self.is_busy_at = self._loop.time()
                    await self._on_event(self, event.data.encode(), id)
                    self._last_id = event.id
                    if id is not None:
                        self.last_number = id.number
                        self._advanced.set()
