"""Check single values; errors name the argument.

Values are checked when an author passes them, so that nothing invalid reaches the wire. All functions raise
`InvalidValue`."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from types import CoroutineType
from typing import Any

from accord.errors import InvalidValue

UINT16 = 2**16 - 1
UINT32 = 2**32 - 1
INT64 = 2**63 - 1
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>$")


def word(argument: str, value: Any, known: frozenset[str]) -> str:
    """Check a value of the protocol, or a custom one, which begins with an underscore."""
    if type(value) is str and (value in known or value.startswith("_")):
        return value
    custom = "a custom value that begins with '_'"
    allowed = f"may be {', '.join(sorted(known))}, or {custom}{guess(value, known)}" if known else f"must be {custom}"
    raise InvalidValue(f"{argument} is {short(value)}; it {allowed}", argument=argument)


def guess(value: Any, known: Collection[str]) -> str:
    """Return a hint for an unknown value, such as `; did you mean 'read'?`; empty if no known value is similar."""
    if not isinstance(value, str):
        return ""
    from difflib import get_close_matches  # only errors need it

    close = get_close_matches(value, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def count(argument: str, value: Any, maximum: int = INT64) -> int:
    """Check a non-negative integer."""
    if type(value) is int and 0 <= value <= maximum:
        return value
    raise InvalidValue(f"{argument} is {short(value)}; it must be an integer from 0 to {maximum}", argument=argument)


def number(argument: str, value: Any, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """Check a finite number."""
    try:
        if type(value) in (int, float) and math.isfinite(value) and minimum <= value <= maximum:
            checked: float = value
            return checked
    except OverflowError:
        pass  # an integer too large for a float
    bounds = f" from {minimum:g} to {maximum:g}" if math.isfinite(maximum) else ""
    raise InvalidValue(f"{argument} is {short(value)}; it must be a number{bounds}", argument=argument)


def text(argument: str, value: Any) -> str:
    """Check a string."""
    if isinstance(value, str):
        return value
    raise InvalidValue(f"{argument} is {short(value)}; it must be a string", argument=argument)


def optional_text(argument: str, value: Any) -> str | None:
    """Check a string that may be left out."""
    return None if value is None else text(argument, value)


def texts(argument: str, value: Any) -> list[str]:
    """Check a list of strings. A single string would be read letter by letter."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidValue(f"{argument} is {short(value)}; it must be a list of strings", argument=argument)
    return [text(f"{argument}[{index}]", item) for index, item in enumerate(value)]


def meta(value: Any) -> Any:
    """Check metadata: None, or a dict with strings as keys."""
    if value is not None and not (isinstance(value, dict) and all(isinstance(key, str) for key in value)):
        raise InvalidValue(f"meta is {short(value)}; it must be a dict with strings as keys", argument="meta")
    return value


def extension(method: Any, params: Any) -> None:
    """Check a call of a method that the protocol doesn't define. JSON-RPC allows an object or a list as params."""
    text("method", method)
    if isinstance(params, str | bytes | int | float):
        raise InvalidValue(f"params is {short(params)}; it must be a dict, a list or an object", argument="params")


def path(argument: str, value: str) -> str:
    """Check that a path can be sent unchanged: replacing a character would make it name another file."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValue(
            f"{argument} is {short(value)}, which isn't valid Unicode and can't be sent", argument=argument
        ) from None
    return value


def url(argument: str, value: Any) -> str:
    """Check an absolute URL."""
    from urllib.parse import urlsplit  # most programs never need it

    try:
        parts = urlsplit(value) if isinstance(value, str) else None
    except ValueError:
        parts = None
    if parts is None or not parts.scheme or not (parts.netloc or parts.path) or any(c.isspace() for c in value):
        raise InvalidValue(f"{argument} is {short(value)}; it must be an absolute URL", argument=argument)
    return str(value)


def short(value: Any) -> str:
    """Format a value for an error message. Never raises, however broken the value is."""
    if isinstance(value, CoroutineType):
        return f"{value.__qualname__}(…) without “await”"
    try:
        formatted = repr(value)
    except Exception:  # nested too deeply, too many digits, a failing `__repr__`, …
        return f"a value of type {type(value).__name__}"
    if _ADDRESS.search(formatted):  # the standard representation of an object tells an author nothing more
        return f"an object of type {type(value).__name__}"
    return formatted if len(formatted) <= 60 else f"{formatted[:60]}…"
