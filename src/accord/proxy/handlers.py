"""Decorators that mark the methods of a proxy as handlers, and the lookup of the handler of a message."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

from accord.errors import UsageError
from accord.model.handlers import check_parameters, find_typo
from accord.schema.method import Method

if TYPE_CHECKING:
    from accord.proxy.message import Notification, Request

P = TypeVar("P")
R = TypeVar("R")
S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, Any]])

Way = Literal["to_agent", "to_client"]
_MARK = "__accord_handles__"
_SERVED_BY: dict[Way, str] = {"to_agent": "agent", "to_client": "client"}


class Mark(NamedTuple):
    """A decorator's description of a handler."""

    way: Way
    method: Method[Any, Any] | str
    is_ordered: bool


class Handler(NamedTuple):
    """A handler of one method in one protocol version."""

    method: Method[Any, Any]
    function: Callable[[Any], Coroutine[Any, Any, Any]]
    is_ordered: bool


@overload
def to_agent(
    method: Method[P, None], *, ordered: bool = True
) -> Callable[[Callable[[S, Notification[P]], Coroutine[Any, Any, None]]], Callable[[S, Notification[P]], Any]]: ...
@overload
def to_agent(
    method: Method[P, R], *, ordered: bool = True
) -> Callable[[Callable[[S, Request[P, R]], Coroutine[Any, Any, R]]], Callable[[S, Request[P, R]], Any]]: ...
@overload
def to_agent(method: str, *, ordered: bool = True) -> Callable[[F], F]: ...
def to_agent(method: Method[Any, Any] | str, *, ordered: bool = True) -> Any:
    """Mark the handler of a method that the client sends to the agent.

    `method` is a constant of `accord.v1.methods` or `accord.v2.methods`: the handler is called in that protocol version
    (in both, if both have the same types). With a name, the handler is called in every version, with the types of that
    version, or plain data if it isn't a method of the protocol.

    Later messages of the same session wait until the handler has forwarded the message, or has ended. With
    `ordered=False` they don't."""
    return _mark("to_agent", method, ordered)


@overload
def to_client(
    method: Method[P, None], *, ordered: bool = True
) -> Callable[[Callable[[S, Notification[P]], Coroutine[Any, Any, None]]], Callable[[S, Notification[P]], Any]]: ...
@overload
def to_client(
    method: Method[P, R], *, ordered: bool = True
) -> Callable[[Callable[[S, Request[P, R]], Coroutine[Any, Any, R]]], Callable[[S, Request[P, R]], Any]]: ...
@overload
def to_client(method: str, *, ordered: bool = True) -> Callable[[F], F]: ...
def to_client(method: Method[Any, Any] | str, *, ordered: bool = True) -> Any:
    """Mark the handler of a method that the agent sends to the client. See `to_agent`."""
    return _mark("to_client", method, ordered)


def _mark(way: Way, method: Method[Any, Any] | str, is_ordered: bool) -> Callable[[Any], Any]:
    if not isinstance(method, Method | str):
        example = "SESSION_PROMPT" if way == "to_agent" else "SESSION_UPDATE"
        raise UsageError(f"@{way} needs the method to handle: @{way}(v1.methods.{example})")
    if isinstance(method, str):
        _check_name(way, method)
    if isinstance(method, Method) and method.served_by != _SERVED_BY[way]:
        other = "to_client" if way == "to_agent" else "to_agent"
        raise UsageError(f"{method.name} is sent to the {method.served_by}; use @{other}")

    def mark(function: Any) -> Any:
        if not inspect.iscoroutinefunction(function):
            raise UsageError(f"{function.__qualname__} handles messages, so it must be “async def”")
        check_parameters(function.__qualname__, function, ("self", "message"))
        function.__dict__.setdefault(_MARK, []).append(Mark(way, method, is_ordered))
        return function

    return mark


def _check_name(way: Way, name: str) -> None:
    """Raise `UsageError` for a name that looks like a misspelled method of the protocol. Others are extensions."""
    known = {known for version in (1, 2) for table in load_tables(version) for known in table}
    meant = None if name in known else find_typo(name, known)
    if meant is not None:
        raise UsageError(f"@{way}({name!r}): the protocol has no such method; did you mean {meant!r}?")


def collect(cls: type) -> list[tuple[str, Mark]]:
    """Return the marked methods of a class, with their names. Raises `UsageError` for two handlers of one method."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    found = [(name, mark) for name in names for mark in getattr(getattr(cls, name), _MARK, ())]
    seen: dict[tuple[Way, Any], str] = {}
    for name, mark in found:
        other = seen.setdefault((mark.way, mark.method), name)
        if other != name:
            raise UsageError(f"{cls.__name__}.{other} and {cls.__name__}.{name} handle the same method")
    return found


def check_watch(label: str, function: Any) -> None:
    """Check an override of `Proxy.watch`: its result isn't awaited."""
    if inspect.iscoroutinefunction(function):
        raise UsageError(f"{label} is called for every message and isn't awaited, so it must be a plain “def”")
    check_parameters(label, function, ("self", "way", "kind", "method", "body"))


class Handlers:
    """The handlers of a proxy in one protocol version."""

    def __init__(self, proxy: object, marks: list[tuple[str, Mark]], version: int) -> None:
        self._found: dict[tuple[Way, str, bool], Handler] = {}
        self.ways: set[Way] = {mark.way for _, mark in marks}
        """The directions that have handlers."""
        for name, mark in marks:
            function = getattr(proxy, name)
            for method in _methods(mark, version):
                self._found[mark.way, method.name, method.is_notification] = Handler(method, function, mark.is_ordered)

    def find(self, way: Way, method: str, is_notification: bool) -> Handler | None:
        return self._found.get((way, method, is_notification))


def _methods(mark: Mark, version: int) -> list[Method[Any, Any]]:
    """Return the methods of a version that a mark refers to: none, one, or (for a name) a request and a
    notification."""
    tables = load_tables(version)
    known = [table[name] for table in tables for name in [_name(mark.method)] if name in table]
    known = [method for method in known if method.served_by == _SERVED_BY[mark.way]]
    if isinstance(mark.method, Method):
        return [method for method in known if method == mark.method]
    plain: list[Method[Any, Any]] = [
        Method(name=mark.method, served_by="agent", params=object, result=object),
        Method(name=mark.method, served_by="agent", params=object),
    ]
    return known or plain


def _name(method: Method[Any, Any] | str) -> str:
    return method if isinstance(method, str) else method.name


def load_tables(version: int) -> tuple[dict[str, Method[Any, Any]], dict[str, Method[Any, Any]]]:
    """Return the requests and notifications of a version."""
    if version == 1:
        from accord.schema.v1 import methods as v1

        return v1.REQUESTS, v1.NOTIFICATIONS
    from accord.schema.v2 import methods as v2

    return v2.REQUESTS, v2.NOTIFICATIONS
