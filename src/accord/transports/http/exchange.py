"""HTTP requests with limits on the response, so that a hostile server can neither fill the memory nor block forever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from accord.errors import AccordError, DeadlineExceeded

if TYPE_CHECKING:
    import httpx2

MAX_ERROR_BYTES = 16 * 1024
"""How many bytes of an error body are read. The rest is dropped."""


class ResponseRefused(AccordError):
    """The response to an HTTP request is too long, or has an encoding that wasn't requested."""


class Limits(NamedTuple):
    """Limits on a response."""

    max_bytes: int
    response_seconds: float
    """How long the server may take to start its response."""
    body_seconds: float
    """The time limit for the whole body."""


class Answer(NamedTuple):
    """A whole response."""

    status: int
    headers: httpx2.Headers
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


async def exchange(
    client: httpx2.AsyncClient, method: str, url: str, headers: Mapping[str, str], content: bytes, limits: Limits
) -> Answer:
    """Send a request and read its response. Raises `DeadlineExceeded`, `ResponseRefused` or `httpx2.HTTPError`."""
    # A compressed body could expand to a thousand times the bytes that are read.
    asked = {**headers, "Accept-Encoding": "identity"}
    request = client.build_request(method, url, headers=asked, content=content or None)
    stage, seconds = "response", limits.response_seconds
    try:
        async with asyncio.timeout(seconds) as deadline:
            response = await client.send(request, stream=True)
            try:
                stage, seconds = "body", limits.body_seconds
                deadline.reschedule(asyncio.get_running_loop().time() + seconds)
                return Answer(response.status_code, response.headers, await _read(response, limits.max_bytes))
            finally:
                await response.aclose()
    except TimeoutError:
        what = "didn't respond to" if stage == "response" else "didn't finish its response to"
        raise DeadlineExceeded(
            f"the server {what} a {method} within {seconds:g} s", stage=stage, seconds=seconds
        ) from None


async def read_refusal(response: httpx2.Response, seconds: float) -> str:
    """Read the beginning of the body of a response that refuses a request, as far as it arrives in time."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) >= MAX_ERROR_BYTES:
                    break
    except TimeoutError:
        pass
    return bytes(body[:MAX_ERROR_BYTES]).decode("utf-8", "replace")


async def _read(response: httpx2.Response, max_bytes: int) -> bytes:
    is_error = not 200 <= response.status_code < 300
    if not is_error and response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ResponseRefused("the server compressed its response although the client didn't request it")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if is_error and len(body) > MAX_ERROR_BYTES:
            return bytes(body[:MAX_ERROR_BYTES])
        if len(body) > max_bytes:
            raise ResponseRefused(f"the server's response has more than {max_bytes} bytes")
    return bytes(body)
