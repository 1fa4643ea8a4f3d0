"""Every exception a caller can catch.

    AccordError
    ├── ProtocolError
    │   ├── LocalProtocolError       we were about to break the protocol: a bug in the calling code
    │   ├── RemoteProtocolError      they broke it
    │   └── VersionError             the two sides share no version
    ├── RequestFailed                they answered no; `code`, `message` and `data` are theirs
    │   ├── AuthRequired               −32000: log in, then ask again
    │   ├── NotFound                   −32002: a session, file or terminal that is not there
    │   ├── MethodNotFound             −32601
    │   ├── InvalidParams              −32602
    │   ├── StoreFailed                −32603: sessions cannot be kept: the disk is full, the file is locked, …
    │   └── RequestCancelled           −32800
    ├── CapabilityError              the peer did not offer this, so nothing was sent
    ├── ConnectionClosed             the connection is over
    │   └── PeerDied                   because the process at the other end is gone
    ├── LaunchError                  an agent could not be started
    ├── ConfigError                  what was configured cannot be read, or not be used
    │   └── RuleError                  because of a permission rule
    ├── DeadlineExceeded             a machine did not answer in time; `stage` names the wait
    └── Overloaded                   more arrived than may be kept while a handler waits

Whose fault it is shows in the class; the message says where, what was found, and what to do. An agent may raise any
`RequestFailed` from a handler: the peer gets exactly that error."""

from __future__ import annotations

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
    """The root of everything raised on purpose."""


class ProtocolError(AccordError):
    """Someone broke the protocol."""


class LocalProtocolError(ProtocolError):
    """We were about to break the protocol; nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol."""


class VersionError(ProtocolError):
    """The two sides share no protocol version."""


class RequestFailed(AccordError):
    """The peer answered a request with an error; or, raised by a handler, the error to answer with."""

    default_code = INTERNAL_ERROR

    def __init__(self, message: str, *, code: int | None = None, data: Any = None, method: str | None = None) -> None:
        self.code = self.default_code if code is None else code
        self.message = message
        self.data = data
        self.method = method
        super().__init__(message)

    def __str__(self) -> str:
        place = f"{self.method}: " if self.method and not self.message.startswith(self.method) else ""
        return f"{place}{self.message} (code {self.code})"

    @staticmethod
    def of(code: int, message: str, data: Any = None, method: str | None = None) -> RequestFailed:
        """The exception class that belongs to a code."""
        return _BY_CODE.get(code, RequestFailed)(message, code=code, data=data, method=method)


class AuthRequired(RequestFailed):
    """Authentication is needed first."""

    default_code = AUTH_REQUIRED


class NotFound(RequestFailed):
    """What the request named does not exist."""

    default_code = RESOURCE_NOT_FOUND


class MethodNotFound(RequestFailed):
    """The peer does not serve this method."""

    default_code = METHOD_NOT_FOUND


class InvalidParams(RequestFailed):
    """The peer could not accept the parameters."""

    default_code = INVALID_PARAMS


class StoreFailed(RequestFailed):
    """Sessions cannot be kept, or not be read; the message names the file, the reason and what to do."""


class RequestCancelled(RequestFailed):
    """The request was cancelled before it was done."""

    default_code = REQUEST_CANCELLED


_BY_CODE: dict[int, type[RequestFailed]] = {
    cls.default_code: cls for cls in (AuthRequired, NotFound, MethodNotFound, InvalidParams, RequestCancelled)
}


class CapabilityError(AccordError):
    """The peer did not offer what was asked for; nothing was sent."""


class ConnectionClosed(AccordError):
    """The connection is over, so this cannot be done any more."""


class PeerDied(ConnectionClosed):
    """The process at the other end is gone."""

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
    """An agent could not be started: the command is missing, not executable, or not understood."""

    def __init__(self, message: str, *, command: str = "", stage: str = "spawn") -> None:
        super().__init__(message)
        self.command = command
        self.stage = stage


class ConfigError(AccordError):
    """A file of the configuration, or what it names, is at fault. Says where, what was found and what was expected."""


class RuleError(ConfigError):
    """A permission rule, or a file of them, cannot be read. Says where, what was found, and what was expected."""

    def __init__(self, message: str, *, where: str = "", line: int | None = None, key: str = "") -> None:
        self.message = message
        self.where = where
        """The file or the option it stands in."""
        self.line = line
        self.key = key
        """Which part of a rule is at fault."""
        place = [where] if where else []
        place += [f"line {line}"] if line else []
        super().__init__(": ".join([*place, message]))

    def at(self, where: str, line: int | None = None) -> RuleError:
        """The same fault, told with its place."""
        return RuleError(self.message, where=where, line=line, key=self.key)


class DeadlineExceeded(AccordError):
    """A machine did not answer in time."""

    def __init__(self, message: str, *, stage: str, seconds: float) -> None:
        super().__init__(message)
        self.stage = stage
        self.seconds = seconds


class Overloaded(AccordError):
    """More messages arrived than may be kept while a handler waits for an answer."""
