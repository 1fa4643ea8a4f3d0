"""Dispatch: maps a method and its params to a handler, and the handler's result or error to a response.

Params are decoded strictly, then leniently if that fails; unknown variants are encoded as they were received. This is
the only place where an exception becomes a wire error."""

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
    InvalidValue,
    RemoteProtocolError,
    RequestFailed,
    end_at_author,
)
from accord.rpc.envelope import Call, Fault, Reader, repair_json, without_surrogates
from accord.schema.method import Method
from accord.schema.repair import Unreadable
from accord.schema.repair import read as repair_read
from accord.schema.wire import encode, encode_strictly

log: logging.Logger = logging.getLogger("accord")

Handler = Callable[[Any], Union[Awaitable[Any], Any]]
"""Takes the params and returns the result or an awaitable. A handler of a notification returns None."""


class Answer:
    """A result, and a function to call once it has been sent."""

    __slots__ = ("result", "then")

    def __init__(self, result: Any, then: Callable[[], None]) -> None:
        self.result: Any = result
        self.then: Callable[[], None] = then


class Route:
    """A served method and its handler."""

    __slots__ = ("by_session", "handler", "method")

    def __init__(self, method: Method[Any, Any], handler: Handler) -> None:
        self.method: Method[Any, Any] = method
        self.handler: Handler = handler
        self.by_session: bool = _may_have_session(method.params)


class Routes:
    """The methods served on a connection, and the reader that decodes them."""

    def __init__(
        self,
        table: Mapping[Method[Any, Any], Handler],
        *,
        other_request: Callable[[str, Any], Any] | None = None,
        other_notification: Callable[[str, Any], Any] | None = None,
        unreadable: Callable[[str, Any, str], None] | None = None,
    ) -> None:
        """`unreadable` is called for each known request whose params can't be read: with its method, its params and the
        reason."""
        self.by_name: dict[tuple[str, bool], Route] = {
            (method.name, method.is_notification): Route(method, h) for method, h in table.items()
        }
        # The fast path can't handle a name that is both a request and a notification, because only the method tells
        # them apart there, nor `Raw` params, which the slow path checks.
        names = [method.name for method in table]
        quick = [m for m in table if names.count(m.name) == 1 and m.params is not msgspec.Raw]
        self.reader: Reader = Reader(
            {m.name: m.params for m in quick if not m.is_notification},
            {m.name: m.params for m in quick if m.is_notification},
        )
        self.by_call: dict[type[Call], Route] = {
            call: next(r for (n, _), r in self.by_name.items() if n == name) for call, name in self.reader.calls.items()
        }
        self.other_request = other_request
        self.other_notification = other_notification
        self.unreadable = unreadable


def _may_have_session(params: Any) -> bool:
    """Return whether calls belong to a session: their params, or any member of their union, have a session id."""
    if isinstance(params, type):
        return has_session(params)
    return any(_may_have_session(member) for member in get_args(params))


def _has_session(params: type) -> bool:
    """Return whether params of this type have a session id."""
    return issubclass(params, msgspec.Struct) and "session_id" in params.__struct_fields__


has_session: Callable[[type], bool] = cache(_has_session)


def read_params(method: Method[Any, Any], params: bytes) -> Any:
    """Decode the params of a call leniently. Raises `Unreadable`."""
    if method.params is msgspec.Raw:
        return msgspec.Raw(params)
    try:
        return repair_read(method.params, msgspec.json.decode(params))
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable("", "params are nested too deeply") from None
    except Exception as error:  # a bug in the library, triggered by unusual input; it must not end the connection
        log.error("%s: its params could not be read", method.name, exc_info=error)
        raise Unreadable("", "params cannot be read") from None


def read_result(method: Method[Any, Any], result: bytes | msgspec.Raw) -> Any:
    """Decode the result of one of our calls: strictly, else leniently. Null counts as an empty object."""
    text = b"{}" if len(result) == 4 and bytes(result) == b"null" else result
    try:
        return decoder(method.result).decode(text)
    except RecursionError:
        raise RemoteProtocolError(f"{method.name}: the response is nested too deeply") from None
    except ValueError:
        pass
    try:
        return repair_read(method.result, msgspec.json.decode(_JsonCheck.decode(text)))
    except Unreadable as error:
        raise RemoteProtocolError(f"{method.name}: the response can't be read: {error}") from None
    except Exception:  # fails only this call
        raise RemoteProtocolError(f"{method.name}: the response can't be read") from None


def _make_decoder(result_type: Any) -> Any:
    return _JsonCheck if result_type is msgspec.Raw else msgspec.json.Decoder(result_type)


decoder: Callable[[Any], Any] = cache(_make_decoder)  # one per result type


class _JsonCheck:
    """Checks JSON without decoding it, so that it can be decoded later."""

    @staticmethod
    def decode(text: bytes | msgspec.Raw) -> msgspec.Raw:
        whole = repair_json(text)
        if whole is None:
            raise ValueError("not JSON")
        return msgspec.Raw(whole)


def encode_result(result: Any) -> bytes:
    if result is None:
        return b"{}"
    try:
        return encode_strictly(result)
    except Exception:  # the strict encoder is faster; this one repairs lone surrogates and explains errors
        return encode(result)


def fault_of(error: BaseException, method: str) -> Fault:
    """Convert an exception to a wire error that can always be encoded."""
    fault = _fault_of(error, method)
    message: str = without_surrogates(fault.message)
    return Fault(fault.code, message, _sendable(fault.data, method))


def _sendable(data: Any, method: str) -> Any:
    if data is UNSET:
        return UNSET
    try:
        return msgspec.Raw(encode(data))
    except InvalidValue as error:
        log.error("%s: the error's data can't be sent and was dropped: %s", method, error)
        return UNSET


def _fault_of(error: BaseException, method: str) -> Fault:
    match error:
        case RequestFailed():
            code = error.code if type(error.code) is int and -(2**31) <= error.code < 2**31 else INTERNAL_ERROR
            message = _format(error.message) or error.default_message
            return Fault(code, message, UNSET if error.data is None else error.data)
        case asyncio.CancelledError():
            return Fault(REQUEST_CANCELLED, "Request cancelled")
        case Unreadable():
            return Fault(INVALID_PARAMS, f"{method}: {error}", {"path": error.where} if error.where else UNSET)
        case _:
            # A handler that was still sending when the peer disconnected isn't an error.
            level = logging.DEBUG if isinstance(error, ConnectionClosed) else logging.ERROR
            log.log(level, "%s failed", method, exc_info=end_at_author(error))
            return Fault(INTERNAL_ERROR, f"{method} failed: {type(error).__name__}{_describe_exception(error)}")


def _describe_exception(error: BaseException) -> str:
    text = _format(error)
    return f": {text}" if text else ""


def _format(value: object) -> str:
    try:
        return str(value)
    except Exception:  # a failing `__str__`, too many digits, …
        return ""


def method_not_found(method: str) -> Fault:
    return Fault(METHOD_NOT_FOUND, f"Method not found: {method[:100]}", {"method": method[:100]})
