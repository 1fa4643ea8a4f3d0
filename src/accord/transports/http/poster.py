"""The short requests of a Streamable HTTP connection: the first check, the POSTs, and the final DELETE."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.errors import DeadlineExceeded
from accord.transports.http.admission import IDEMPOTENCY_KEY, JSON
from accord.transports.http.exchange import MAX_ERROR_BYTES, Answer, Limits, ResponseRefused, exchange
from accord.transports.http.message_head import MessageHead
from accord.transports.http.options import HttpOptions, explain_failure, explain_status, make_client
from accord.transports.http.routing import ACKNOWLEDGING_METHODS

if TYPE_CHECKING:
    import httpx2

_DELETE_SECONDS = 5.0
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.05, 2.0
_MAX_TRIES = 3
BUSY = frozenset({429, 500, 502, 503, 504})
"""Temporary error statuses of a POST: a proxy or the server is busy."""


class Poster:
    """Sends requests with limits on their responses, and repeats them where that is safe. Each has these `headers`."""

    def __init__(self, url: str, options: HttpOptions, headers: Callable[[], Mapping[str, str]]) -> None:
        import httpx2

        self.features: frozenset[str] = frozenset()
        """The server's features besides the protocol, once they are known."""
        self._url = url
        self._options = options
        self._headers = headers
        self._client = make_client(options, headers(), httpx2.Cookies(dict(options.cookies)), url=url)
        self._key = secrets.token_hex(8)
        self._count = 0

    @property
    def cookies(self) -> httpx2.Cookies:
        """The cookies of the connection, which grow with its responses."""
        return self._client.cookies

    async def probe(self) -> None:
        """Check the address, the certificate and the token before anything is sent. Raises `LaunchError`.

        An endpoint refuses a GET that doesn't accept an event stream; any other client error is fine too."""
        import httpx2

        seconds = self._options.connect_seconds
        limits = Limits(MAX_ERROR_BYTES, seconds, seconds)
        try:
            response = await exchange(self._client, "GET", self._url, {"Accept": JSON}, b"", limits)
        except DeadlineExceeded as error:
            raise explain_failure(self._url, TimeoutError()) from error
        except ResponseRefused:
            raise explain_status(self._url, 200) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise explain_failure(self._url, error) from error
        if response.status in (401, 403, 404, 407) or not 400 <= response.status < 500:
            location = response.headers.get("location", "")
            raise explain_status(self._url, response.status, response.text[:1000], location)

    async def initialize(self, body: bytes, max_bytes: int) -> Answer:
        """POST the first message, once."""
        return await self._post(body, {}, "", max_bytes, tries=1)

    async def post(self, body: bytes, head: MessageHead, headers: Mapping[str, str], max_bytes: int) -> Answer:
        """POST a message. While a server or a proxy is only busy, responses and notifications are sent again."""
        self._count += 1
        key, loop = f"{self._key}-{self._count}", asyncio.get_running_loop()
        pause, give_up_at = _FIRST_PAUSE_SECONDS, loop.time() + self._options.resume_seconds
        while True:
            response = await self._post(body, headers, key, max_bytes, tries=_MAX_TRIES)
            if response.status not in BUSY or not self.can_repeat(head) or loop.time() >= give_up_at:
                return response
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def can_repeat(self, head: MessageHead) -> bool:
        """Return whether a refused message can be sent again, although it may arrive twice.

        A peer ignores a second response with the same id. Requests aren't repeated; their callers get the error."""
        if head.kind == "request":
            return head.method in ACKNOWLEDGING_METHODS
        return head.kind == "response" or IDEMPOTENCY_KEY in self.features

    async def _post(self, body: bytes, extra: Mapping[str, str], key: str, max_bytes: int, *, tries: int) -> Answer:
        """POST a message. It is sent again only if the server hasn't received it, or recognizes a repetition."""
        import httpx2

        headers = {**self._headers(), **extra, "Content-Type": JSON, "Accept": f"{JSON}, text/event-stream"}
        if key:
            headers[IDEMPOTENCY_KEY] = key
        limits = Limits(max_bytes, self._options.response_seconds, self._options.body_seconds)
        while True:
            tries -= 1
            try:
                return await exchange(self._client, "POST", self._url, headers, body, limits)
            except httpx2.ConnectError:
                if tries <= 0:
                    raise
            except httpx2.TransportError as error:
                if tries <= 0 or not (IDEMPOTENCY_KEY in self.features or _is_goaway(error)):
                    raise

    async def delete(self) -> None:
        """Inform the server that the connection has ended. Errors are ignored."""
        import httpx2

        limits = Limits(MAX_ERROR_BYTES, _DELETE_SECONDS, _DELETE_SECONDS)
        with suppress(httpx2.HTTPError, DeadlineExceeded, ResponseRefused, OSError):
            await exchange(self._client, "DELETE", self._url, self._headers(), b"", limits)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _is_goaway(error: BaseException) -> bool:
    """Return whether the server closed the HTTP/2 connection in an orderly way, without processing the request."""
    from h2.events import ConnectionTerminated

    seen: BaseException | None = error
    while seen is not None:
        if any(isinstance(arg, ConnectionTerminated) and not arg.error_code for arg in seen.args):
            return True
        seen = seen.__cause__
    return False
