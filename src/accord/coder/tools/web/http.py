"""HTTP requests to checked addresses: no proxies, no cookies, no redirects, and limits for time and size."""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from accord.coder.tools.base import ToolError
from accord.coder.tools.text import format_size
from accord.coder.tools.web.addresses import Target
from accord.version import __version__, install_command

if TYPE_CHECKING:
    import httpx2

MAX_BODY_BYTES = 5_000_000
TIMEOUT_SECONDS = 30.0
ACCEPT = "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1"
_TEXT_TYPES = ("json", "xml", "javascript", "ecmascript", "yaml", "toml", "x-sh", "sql", "graphql", "x-ndjson", "csv")


class Body(NamedTuple):
    """A response body."""

    url: str
    status: int
    reason: str
    kind: str
    """The content type, without parameters, in lower case."""
    charset: str | None
    data: bytes
    is_truncated: bool


def make_client(encrypted: bool) -> httpx2.AsyncClient:
    """Return a client for one server. It ignores proxy settings: a proxy would resolve the name again, unchecked."""
    try:
        import httpx2
    except ImportError:
        raise ToolError(f"web access needs a package that is not installed: {install_command('coder')}") from None
    # Loading certificates is slow, and plain HTTP doesn't need them.
    return httpx2.AsyncClient(verify=encrypted, follow_redirects=False, trust_env=False, timeout=TIMEOUT_SECONDS)


@asynccontextmanager
async def open_response(
    where: Target,
    addresses: Sequence[str],
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> AsyncIterator[httpx2.Response]:
    """Open a response from the first of the checked addresses that can be reached.

    Each server gets its own client, so that no cookies or connections are shared."""
    async with make_client(where.scheme == "https") as client:
        response = await _send(client, where, addresses, method, headers or {}, content)
        import httpx2

        try:
            yield response
        except httpx2.HTTPError as error:
            raise ToolError(f"{where.url}: the connection broke: {_describe(error)}") from None
        finally:
            await response.aclose()


async def _send(
    client: httpx2.AsyncClient,
    where: Target,
    addresses: Sequence[str],
    method: str,
    own_headers: Mapping[str, str],
    content: bytes | None,
) -> httpx2.Response:
    import httpx2

    headers = {
        "Host": where.authority,
        "User-Agent": f"accord/{__version__}",
        "Accept": ACCEPT,
        "Accept-Encoding": "gzip, identity",
        **own_headers,
    }
    last_error: Exception | None = None
    for address in addresses:
        extensions = {"sni_hostname": where.host}
        request = client.build_request(
            method, where.at(address), headers=headers, content=content, extensions=extensions
        )
        try:
            return await client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            last_error = error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ToolError(f"couldn't fetch {where.url}: {_describe(error)}") from None
    raise ToolError(f"couldn't reach {where.host}: {_describe(last_error)}")


def _describe(error: Exception | None) -> str:
    return str(error) or type(error).__name__


async def read_body(where: Target, response: httpx2.Response) -> Body:
    """Read a text response, up to the size limit."""
    kind, _, rest = response.headers.get("content-type", "").partition(";")
    kind = kind.strip().lower()
    if kind and not _is_text(kind):
        size = response.headers.get("content-length", "")
        length = f" of {format_size(int(size))}" if size.isdigit() else ""
        raise ToolError(f"{where.url} is {kind}{length}, not text; only text can be fetched")
    data, is_truncated = await _data(where, response)
    found = re.search(r"charset\s*=\s*[\"']?([^\s;\"']+)", rest, re.I)
    charset = found[1] if found else None
    if not kind and b"\0" in data[:8_192]:
        raise ToolError(f"{where.url} has no content type and looks binary; only text can be fetched")
    return Body(where.url, response.status_code, response.reason_phrase, kind, charset, data, is_truncated)


async def _data(where: Target, response: httpx2.Response) -> tuple[bytes, bool]:
    """Read and decompress the body. Decompressed here, with a limit: a few bytes can expand to very many."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise ToolError(f"{where.url} is compressed with {coding[:40]}, which wasn't requested")
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32) if coding not in ("identity", "") else None
    data = bytearray()
    received = 0
    async for piece in response.aiter_raw():
        received += len(piece)
        if decompressor is None:
            data += piece
        else:
            try:
                data += decompressor.decompress(piece, MAX_BODY_BYTES + 1 - len(data))
            except zlib.error as error:
                raise ToolError(f"{where.url} is not compressed as its headers say: {error}") from None
        if len(data) > MAX_BODY_BYTES or received > MAX_BODY_BYTES:
            return bytes(data[:MAX_BODY_BYTES]), True
    return bytes(data), False


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind == "message/rfc822" or any(word in kind for word in _TEXT_TYPES)
