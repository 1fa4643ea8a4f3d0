"""Fetches a file that the user asked for: over https, from this machine's own servers, or from its disk."""

from __future__ import annotations

import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import IO, Any

from accord.errors import ConfigError
from accord.version import __version__

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many bytes of it, and of how many (0 when nobody knows)."""

_PATIENCE = 30.0
_TELL = 0.1
"""Seconds between two words about how far it is."""
_HERE = ("127.0.0.1", "::1", "localhost")


def fetch(url: str, into: IO[bytes], *, most: int, progress: Progress | None = None) -> None:
    """Writes what is at a URL into a file. `ConfigError` says what went wrong."""
    check(url)
    request = urllib.request.Request(url, headers={"User-Agent": f"accord/{__version__}"})
    direct = [urllib.request.ProxyHandler({})] if urllib.parse.urlsplit(url).hostname in _HERE else []
    try:
        with urllib.request.build_opener(_Redirects(), *direct).open(request, timeout=_PATIENCE) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            done = 0
            told = 0.0
            if progress is not None:
                progress("downloading", 0, size)
            while chunk := answer.read1(1 << 16):  # what is there: nobody waits for more than one piece
                done += len(chunk)
                if done > most:
                    raise ConfigError(f"{url}: it is larger than {most} bytes, which is too much")
                into.write(chunk)
                if progress is not None and (done == size or time.monotonic() - told >= _TELL):
                    told = time.monotonic()
                    progress("downloading", done, size)
    except (OSError, ValueError) as error:  # what urllib raises about the network is an OSError
        raise ConfigError(f"{url}: cannot be fetched: {_words(error)}") from None
    if size and done < size:
        raise ConfigError(f"{url}: cannot be fetched: it broke off after {done} of {size} bytes")
    into.flush()


def is_url(text: str) -> bool:
    return "://" in text


def check(url: str) -> None:
    """Refuses what somebody on the way could change."""
    parts = urllib.parse.urlsplit(url)
    safe = parts.scheme in ("https", "file") or (parts.scheme == "http" and parts.hostname in _HERE)
    if not safe:
        raise ConfigError(f"{url}: only https, file, and http to this machine itself are fetched from")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to where we would have gone ourselves, and from https only to https."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        check(newurl)
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise ConfigError(f"{req.full_url}: it leads on to {newurl}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _words(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(getattr(error.reason, "strerror", None) or error.reason)
    return str(getattr(error, "strerror", None) or error)
