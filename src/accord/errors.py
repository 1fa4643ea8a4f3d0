"""Every exception a caller can catch.

    AccordError
    ├── ProtocolError
    │   ├── LocalProtocolError       this call would violate the protocol: a bug in the calling code
    │   │   └── InvalidValue           a value that can't be sent, such as a negative number; also a `ValueError`
    │   ├── RemoteProtocolError      the peer violated it
    │   └── VersionError             the two sides share no version
    ├── UsageError                   the code uses Accord in a way that can't work; also a `TypeError`
    ├── RequestFailed                the peer responded with an error: `code`, `message`, `data`
    │   ├── AuthRequired               −32000: log in, then retry
    │   ├── NotFound                   −32002: no such session, file or terminal
    │   ├── MethodNotFound             −32601
    │   ├── InvalidParams              −32602
    │   ├── StoreFailed                −32603: sessions can't be saved: the disk is full, the file is locked, …
    │   └── RequestCancelled           −32800
    ├── CapabilityError              the peer doesn't offer this; nothing was sent
    ├── ConnectionClosed             the connection is closed
    │   └── PeerDied                   because the peer's process exited
    ├── LaunchError                  an agent couldn't be started
    ├── ConfigError                  the configuration is invalid
    │   └── RuleError                  a permission rule is invalid
    ├── DeadlineExceeded             the peer didn't respond in time; `stage` names the wait
    └── Overloaded                   more messages arrived than can be buffered while a handler waits

The class shows which side caused the error. The message says where it happened, what was wrong, and what to do. An
agent may raise any `RequestFailed` from a handler: the peer gets exactly that error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022
REQUEST_CANCELLED = -32800


class AccordError(Exception):
    """The base class of all exceptions that Accord raises on purpose."""

    stage: str = ""
    """How far the connection was: `resolve`, `spawn`, `first byte`, `initialize` or `session`; empty if unknown."""


class ProtocolError(AccordError):
    """One side violated the protocol."""


class LocalProtocolError(ProtocolError):
    """The call would violate the protocol; nothing was sent."""


class InvalidValue(LocalProtocolError, ValueError):
    """An argument or return value that the protocol doesn't allow; nothing was sent."""

    def __init__(self, message: str, *, argument: str = "") -> None:
        super().__init__(message)
        self.argument = argument
        """The invalid argument, field or key, such as `used` or `options[0].kind`; empty when unknown."""


class UsageError(AccordError, TypeError):
    """The code uses Accord in a way that can't work: a handler that isn't async, `with` instead of `async with`, …"""


class RemoteProtocolError(ProtocolError):
    """The peer violated the protocol."""


class VersionError(ProtocolError):
    """The two sides share no protocol version."""


_MAX_MESSAGE, _MAX_REASON = 10_000, 1000
_REASON_KEYS = ("details", "message", "reason", "error", "detail", "msg", "errors", "_errors", "cause", "data")


def _reason(data: Any, depth: int = 6) -> str:
    """Find the first text in `data`: itself, the first in a list, or under one of the keys that agents use.

    Both official SDKs send what isn't their own error as it is: pydantic's list of errors, Zod's tree, whose fields
    are keys, and any JSON that the text of an exception contains, such as a provider's response."""
    if isinstance(data, str):
        return data.strip()
    if depth == 0:
        return ""
    if isinstance(data, list):
        return _first_text(_reason(each, depth - 1) for each in data)
    if not isinstance(data, dict):
        return ""
    if text := _first_text(_reason(data.get(key), depth - 1) for key in _REASON_KEYS):
        return f"{_join_path(data['loc'])}{text}" if isinstance(data.get("loc"), list) else text
    if "_errors" in data:  # Zod: no error of the whole, so of a field
        return _first_text(_of_field(name, value, depth - 1) for name, value in data.items())
    return ""


def _of_field(name: str, value: Any, depth: int) -> str:
    text = _reason(value, depth) if isinstance(value, dict) else ""
    return f"{name}: {text}" if text else ""


def _join_path(path: list[Any]) -> str:
    """Return the path of pydantic to the invalid field, as a prefix."""
    return f"{'.'.join(map(str, path))}: " if path else ""


def _first_text(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")


def _truncate(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"


class RequestFailed(AccordError):
    """The peer responded with an error. If a handler raises it, it is the response."""

    default_code = INTERNAL_ERROR
    default_message = "the request failed"

    def __init__(
        self, message: str | None = None, *, code: int | None = None, data: Any = None, method: str | None = None
    ) -> None:
        self.code: int = self.default_code if code is None else code
        self.message: str = self.default_message if message is None else message
        self.data = data
        self.method = method
        super().__init__(self.message)

    @property
    def reason(self) -> str:
        """The cause from `data`, where SDKs put the original exception; empty if there is none."""
        return _reason(self.data)

    @property
    def explanation(self) -> str:
        """The message, followed by the reason unless the message contains it. One line, truncated."""
        whole = _truncate(self.message, _MAX_MESSAGE)
        message, reason = " ".join(whole.split()), _truncate(" ".join(self.reason.split()), _MAX_REASON)
        if not reason or reason.casefold() in message.casefold():
            return whole
        if reason.casefold().startswith(message.casefold()):
            return reason
        return f"{message}: {reason}"

    def __str__(self) -> str:
        if self.method is None:  # raised on this side: the code adds nothing
            return self.explanation
        place = "" if self.message.startswith(self.method) else f"{self.method}: "
        return f"{place}{self.explanation} (code {self.code})"

    @staticmethod
    def of(code: int, message: str, data: Any = None, method: str | None = None) -> RequestFailed:
        """Create the exception for a code."""
        return _BY_CODE.get(code, RequestFailed)(message, code=code, data=data, method=method)


class AuthRequired(RequestFailed):
    """The peer requires a login first."""

    default_code = AUTH_REQUIRED
    default_message = "authentication required"


class NotFound(RequestFailed):
    """The session, file or terminal doesn't exist."""

    default_code = RESOURCE_NOT_FOUND
    default_message = "not found"


class MethodNotFound(RequestFailed):
    """The peer doesn't support the method."""

    default_code = METHOD_NOT_FOUND
    default_message = "method not found"


class InvalidParams(RequestFailed):
    """The parameters are invalid."""

    default_code = INVALID_PARAMS
    default_message = "invalid parameters"


class StoreFailed(RequestFailed):
    """Sessions can't be saved or read; the message names the file, the reason and what to do."""


class RequestCancelled(RequestFailed):
    """The request was cancelled."""

    default_code = REQUEST_CANCELLED
    default_message = "the request was cancelled"


_BY_CODE: dict[int, type[RequestFailed]] = {
    cls.default_code: cls for cls in (AuthRequired, NotFound, MethodNotFound, InvalidParams, RequestCancelled)
}


class CapabilityError(AccordError):
    """The peer doesn't offer the capability; nothing was sent."""


class ConnectionClosed(AccordError):
    """The connection is closed."""


class PeerDied(ConnectionClosed):
    """The peer's process exited."""

    def __init__(
        self,
        message: str,
        *,
        command: str = "",
        status: int | None = None,
        stderr: str = "",
        stage: str = "",
    ) -> None:
        super().__init__(message)
        self.command = command
        self.status = status
        """The exit status; negative for a signal, as in `subprocess`."""
        self.stderr = stderr
        """The last lines it wrote to standard error."""
        self.stage = stage


class LaunchError(AccordError):
    """An agent couldn't be started: the command is missing, not executable, or invalid."""

    def __init__(self, message: str, *, command: str = "", stage: str = "spawn") -> None:
        super().__init__(message)
        self.command = command
        self.stage = stage


class ConfigError(AccordError):
    """A configuration file, or something it names, is invalid. The message says where and what was expected."""


class RuleError(ConfigError):
    """A permission rule, or a file of rules, is invalid. The message says where and what was expected."""

    def __init__(self, message: str, *, where: str = "", line: int | None = None, key: str = "") -> None:
        self.message = message
        self.where = where
        """The file or the option that contains the rule."""
        self.line = line
        self.key = key
        """The invalid part of the rule."""
        place = [where] if where else []
        place += [f"line {line}"] if line else []
        super().__init__(": ".join([*place, message]))

    def at(self, where: str, line: int | None = None) -> RuleError:
        """Return the same error with its location."""
        return RuleError(self.message, where=where, line=line, key=self.key)


class DeadlineExceeded(AccordError):
    """The peer didn't respond in time."""

    def __init__(self, message: str, *, stage: str, seconds: float) -> None:
        super().__init__(message)
        self.stage = stage
        self.seconds = seconds


class Overloaded(AccordError):
    """More messages arrived than can be buffered while a handler waits for a response."""


_PACKAGES = ("agent", "client", "codec", "connection", "mcp", "model", "proxy", "schema", "testing", "transports")
_LIBRARY = ("accord.sync", "accord.v1", "accord.v2", *(f"accord.{package}." for package in _PACKAGES))


def end_at_author(error: BaseException) -> BaseException:
    """Cut the traceback of an invalid call after the line that made it: the frames below it are ours and don't help.

    If none of the author's lines is left, as for a return value, the traceback is removed."""
    if isinstance(error, (LocalProtocolError, UsageError, CapabilityError)):
        last, trace = None, error.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_globals.get("__name__")
            if not (isinstance(name, str) and name.startswith(_LIBRARY)):
                last = trace
            trace = trace.tb_next
        if last is None:
            error.__traceback__ = None
        else:
            last.tb_next = None
    return error
