"""HTTP transports that record to a cassette or replay one. Every provider's library sends its requests through them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from accord.coder.models.cassette import Cassette, Exchange

KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
KEY_PARAMETERS = ("key", "api_key", "access_token")


def cassette_transport(
    cassette: Cassette, inner: httpx2.AsyncBaseTransport | None, base_url: str
) -> httpx2.AsyncBaseTransport:
    """Return a transport for a cassette. `inner` sends the requests that are recorded; by default as httpx does."""
    if not cassette.is_recording:
        return Replayer(cassette)
    return Recorder(cassette, inner or httpx2.AsyncHTTPTransport(proxy=find_proxy(base_url)))


class Recorder(httpx2.AsyncBaseTransport):
    """Sends requests, and saves each exchange when its response has been read or closed."""

    def __init__(self, cassette: Cassette, inner: httpx2.AsyncBaseTransport) -> None:
        self._cassette = cassette
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        request.headers["accept-encoding"] = "identity"  # so that the recorded bytes are text
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = RecordedStream(response.stream, self, request, body, response)
        return response

    def save(
        self, request: httpx2.Request, body: bytes, response: httpx2.Response, data: bytes, complete: bool
    ) -> None:
        keys = _keys(request)
        self._cassette.add(
            Exchange(
                method=request.method,
                path=_path(request),
                request=self._cassette.canonical(body, keys),
                status=response.status_code,
                content_type=response.headers.get("content-type", ""),
                response=self._cassette.redact(data.decode("utf-8", "surrogateescape"), keys),
                complete=complete,
                retry_after=response.headers.get("retry-after"),
            )
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class RecordedStream(httpx2.AsyncByteStream):
    """Passes a response on, and saves the exchange when it ends."""

    def __init__(
        self,
        inner: httpx2.AsyncByteStream,
        recorder: Recorder,
        request: httpx2.Request,
        body: bytes,
        response: httpx2.Response,
    ) -> None:
        self._inner = inner
        self._recorder = recorder
        self._request, self._body, self._response = request, body, response
        self._chunks: list[bytes] = []
        self._is_saved = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._chunks.append(chunk)
            yield chunk
        self._save(complete=True)

    async def aclose(self) -> None:
        self._save(complete=False)
        await self._inner.aclose()

    def _save(self, *, complete: bool) -> None:
        if not self._is_saved:
            self._is_saved = True
            self._recorder.save(self._request, self._body, self._response, b"".join(self._chunks), complete)


class Replayer(httpx2.AsyncBaseTransport):
    """Answers requests from a cassette, and never opens a connection."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = self._cassette.canonical(await request.aread(), _keys(request))
        asked = (request.method, _path(request), body)
        exchange = self._cassette.find(*asked)
        if exchange is None:
            return _refuse(self._cassette.explain_miss(*asked))
        headers = {"content-type": exchange.content_type}
        if exchange.retry_after is not None:
            headers["retry-after"] = exchange.retry_after
        return httpx2.Response(exchange.status, headers=headers, stream=ReplayedStream(exchange))


class ReplayedStream(httpx2.AsyncByteStream):
    """The recorded bytes of a response. One that was cut off ends with an error, as its connection did."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._exchange.response.encode("utf-8", "surrogateescape")
        if not self._exchange.complete:
            raise httpx2.ReadError("the recorded response ends here")


def _refuse(message: str) -> httpx2.Response:
    """Return an error in the form of every provider. Unlike a lost connection, it isn't retried."""
    error = {"type": "cassette_error", "message": message, "code": 400, "status": "INVALID_ARGUMENT"}
    body = json.dumps({"type": "error", "error": error}).encode()
    return httpx2.Response(400, headers={"content-type": "application/json"}, content=body)


def _keys(request: httpx2.Request) -> set[str]:
    """Return the keys that a request carries."""
    found = {request.headers[name].removeprefix("Bearer ") for name in KEY_HEADERS if name in request.headers}
    found |= {value for name, value in parse_qsl(request.url.query.decode()) if name in KEY_PARAMETERS}
    return {key for key in found if key}


def _path(request: httpx2.Request) -> str:
    """Return path and query without keys. The host may differ when the cassette is replayed."""
    query = urlencode(
        [(name, value) for name, value in parse_qsl(request.url.query.decode()) if name not in KEY_PARAMETERS]
    )
    return request.url.path + (f"?{query}" if query else "")


def find_proxy(base_url: str) -> str | None:
    """Return the proxy from the environment. httpx ignores it for a client with its own transport."""
    parts = urlsplit(base_url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
