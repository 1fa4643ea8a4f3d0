"""Method → decode → handler → encode. Here alone an exception becomes a wire error.

Decoding is strict first and forgiving second; encoding keeps unknown variants as they came."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Union, get_args

import msgspec
from msgspec import UNSET

from accord.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    ConnectionClosed,
    RemoteProtocolError,
    RequestFailed,
)
from accord.rpc.envelope import Fault, Reader, sound
from accord.schema.method import Method
from accord.schema.repair import Unreadable
from accord.schema.repair import read as repair_read
from accord.schema.wire import encode as encode_message

log = logging.getLogger("accord")

Handler = Callable[[Any], Union[Awaitable[Any], Any]]
"""Takes the params and gives the result, plainly or to be awaited. A handler of a notification gives nothing."""


class Answer:
    """A result with something to do once it has been sent."""

    __slots__ = ("result", "then")

    def __init__(self, result: Any, then: Callable[[], None]) -> None:
        self.result = result
        self.then = then


class Route:
    """A method that is served here, and by what."""

    __slots__ = ("by_session", "handler", "method")

    def __init__(self, method: Method[Any, Any], handler: Handler) -> None:
        self.method = method
        self.handler = handler
        self.by_session = _has_session(method.params)


class Routes:
    """Everything that is served on a connection, and the reader that knows their types."""

    def __init__(
        self,
        table: Mapping[Method[Any, Any], Handler],
        *,
        other_request: Callable[[str, Any], Any] | None = None,
        other_notification: Callable[[str, Any], Any] | None = None,
        unreadable: Callable[[str, Any, str], None] | None = None,
    ) -> None:
        """`unreadable` is told of each known request that is refused unread: its method, its params and why."""
        self.by_name = {(method.name, method.is_notification): Route(method, h) for method, h in table.items()}
        # A name that is both request and notification cannot be told by the method alone: left to the slow path, which
        # also makes sure that what is handed on unread (`Raw`) is sound.
        names = [method.name for method in table]
        quick = [m for m in table if names.count(m.name) == 1 and m.params is not msgspec.Raw]
        self.reader = Reader(
            {m.name: m.params for m in quick if not m.is_notification},
            {m.name: m.params for m in quick if m.is_notification},
        )
        self.by_call = {
            call: next(r for (n, _), r in self.by_name.items() if n == name) for call, name in self.reader.calls.items()
        }
        self.other_request = other_request
        self.other_notification = other_notification
        self.unreadable = unreadable


def _has_session(params: Any) -> bool:
    """Whether a call belongs to a session: its params, or any member of their union, name one."""
    if isinstance(params, type):
        return "session_id" in getattr(params, "__struct_fields__", ())
    return any(_has_session(member) for member in get_args(params))


def read_params(method: Method[Any, Any], params: bytes) -> Any:
    """The params of a call, forgivingly. Raises `Unreadable`."""
    if method.params is msgspec.Raw:
        return msgspec.Raw(params)
    try:
        return repair_read(method.params, msgspec.json.decode(params))
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable("", "params are nested too deeply") from None
    except Exception as error:  # a fault of ours, found by odd input; it must not end the connection
        log.error("%s: its params could not be read", method.name, exc_info=error)
        raise Unreadable("", "params cannot be read") from None


def read_result(method: Method[Any, Any], result: bytes | msgspec.Raw) -> Any:
    """The result of a call of ours: strictly, else forgivingly. Null is an empty object."""
    text = b"{}" if len(result) == 4 and bytes(result) == b"null" else result
    try:
        return decoder(method.result).decode(text)  # type: ignore[arg-type]
    except (ValueError, RecursionError):
        pass
    try:
        return repair_read(method.result, msgspec.json.decode(_Sound.decode(text)))
    except Unreadable as error:
        raise RemoteProtocolError(f"{method.name}: the answer cannot be read: {error}") from None
    except Exception:  # whatever it is, it fails this call and nothing else
        raise RemoteProtocolError(f"{method.name}: the answer cannot be read") from None


@cache  # one decoder per result type
def decoder(wanted: Any) -> Any:
    return _Sound if wanted is msgspec.Raw else msgspec.json.Decoder(wanted)


class _Sound:
    """Reads nothing, but makes sure that whoever will can."""

    @staticmethod
    def decode(text: bytes | msgspec.Raw) -> msgspec.Raw:
        whole = sound(text)
        if whole is None:
            raise ValueError("not JSON")
        return msgspec.Raw(whole)


def encode_result(result: Any) -> bytes:
    return b"{}" if result is None else encode_message(result)


def fault_of(error: BaseException, method: str) -> Fault:
    """What an exception is on the wire."""
    match error:
        case RequestFailed():
            code = error.code if type(error.code) is int and -(2**31) <= error.code < 2**31 else INTERNAL_ERROR
            return Fault(code, str(error.message), UNSET if error.data is None else error.data)
        case asyncio.CancelledError():
            return Fault(REQUEST_CANCELLED, "Request cancelled")
        case Unreadable():
            return Fault(INVALID_PARAMS, f"{method}: {error}", {"path": error.where} if error.where else UNSET)
        case _:
            # A handler that was still speaking when the peer went is no fault of anyone's.
            level = logging.DEBUG if isinstance(error, ConnectionClosed) else logging.ERROR
            log.log(level, "%s failed", method, exc_info=error)
            return Fault(INTERNAL_ERROR, f"{method} failed: {type(error).__name__}{_words(error)}")


def _words(error: BaseException) -> str:
    try:
        return f": {error}"
    except Exception:  # an exception may fail to say what it is
        return ""


def method_not_found(method: str) -> Fault:
    return Fault(METHOD_NOT_FOUND, f"Method not found: {method[:100]}", {"method": method[:100]})
