"""Download a file that the user asked for: over https, from a server on this machine, or from a file URL."""

from __future__ import annotations

import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from accord.errors import ConfigError
from accord.version import __version__

Progress = Callable[[str, int, int], None]
"""Called with the activity, the number of bytes transferred, and the total (0 if unknown)."""

_TIMEOUT_SECONDS = 30.0
_PROGRESS_SECONDS = 0.1
"""Seconds between two progress reports."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def fetch(url: str, into: IO[bytes], *, max_bytes: int, progress: Progress | None = None) -> None:
    """Download a URL into a file, or raise `ConfigError`."""
    check(url)
    request = urllib.request.Request(url, headers={"User-Agent": f"accord/{__version__}"})
    direct = [urllib.request.ProxyHandler({})] if urllib.parse.urlsplit(url).hostname in _LOOPBACK else []
    try:
        with urllib.request.build_opener(_Redirects(), *direct).open(request, timeout=_TIMEOUT_SECONDS) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            done = 0
            reported = 0.0
            if progress is not None:
                progress("downloading", 0, size)
            while chunk := answer.read1(1 << 16):  # returns as soon as some bytes are available
                done += len(chunk)
                if done > max_bytes:
                    raise ConfigError(f"{url}: larger than the limit of {max_bytes} bytes")
                into.write(chunk)
                if progress is not None and (done == size or time.monotonic() - reported >= _PROGRESS_SECONDS):
                    reported = time.monotonic()
                    progress("downloading", done, size)
    except (OSError, ValueError) as error:  # urllib's network errors are OSErrors
        raise ConfigError(f"{url}: cannot be fetched: {_describe(error)}") from None
    if size and done < size:
        raise ConfigError(f"{url}: cannot be fetched: the connection closed after {done} of {size} bytes")


@contextmanager
def fetched(url: str, directory: Path, *, max_bytes: int, progress: Progress | None = None) -> Iterator[Path]:
    """Download a URL to a temporary file, which is removed at the end unless it was moved.

    The file is closed, because Windows can neither open a temporary file twice nor rename an open one."""
    descriptor, name = tempfile.mkstemp(dir=directory)
    path = Path(name)
    try:
        with open(descriptor, "wb") as into:
            fetch(url, into, max_bytes=max_bytes, progress=progress)
        yield path
    finally:
        path.unlink(missing_ok=True)


def is_url(text: str) -> bool:
    return "://" in text


def check(url: str) -> None:
    """Reject URLs whose content could be changed in transit."""
    parts = urllib.parse.urlsplit(url)
    safe = parts.scheme in ("https", "file") or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not safe:
        raise ConfigError(f"{url}: only https, file, and http to this machine are allowed")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to allowed URLs only, and from https only to https."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        check(newurl)
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise ConfigError(f"{req.full_url}: insecure redirect to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _describe(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        error.close()  # it keeps the response body, and with it the connection, open
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(getattr(error.reason, "strerror", None) or error.reason)
    return str(getattr(error, "strerror", None) or error)
