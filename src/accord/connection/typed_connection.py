"""A connection with the types of one protocol version. The base of `accord.v1` and `accord.v2`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import cache
from types import FunctionType, ModuleType, TracebackType
from typing import Any, ClassVar, Literal, Self, TypeVar, Union

import msgspec

from accord.connection.connection import Connection
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.connection.limits import Deadline, Limits
from accord.errors import (
    INVALID_REQUEST,
    InvalidValue,
    LocalProtocolError,
    MethodNotFound,
    RequestFailed,
    UsageError,
    end_at_author,
)
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.transports.base import Transport

P = TypeVar("P")
R = TypeVar("R")


Result = Union[R, Awaitable[R]]
"""The return value of a handler: a result from plain handlers, an awaitable from async ones."""

_EXTENSIONS = frozenset({"extension_request", "extension_notification"})


class Handlers:
    """Base class of typed handlers. Checks the names of a subclass: a misspelled handler would never be called."""

    _served: ClassVar[frozenset[str]] = _EXTENSIONS
    _side: ClassVar[str] = ""

    def __init_subclass__(cls, *, methods: ModuleType | None = None, side: str | None = None) -> None:
        super().__init_subclass__()
        if methods is not None and side is not None:
            names = [python_name(method) for method in _all(methods) if method.served_by == side]
            cls._side, cls._served = side, cls._served.union(names)
            return
        for name, value in vars(cls).items():
            if not isinstance(value, FunctionType) or name.startswith("_"):
                continue
            if name in _EXTENSIONS:
                _check_parameters(f"{cls.__name__}.{name}", value, "self", "method", "params")
            elif name in cls._served:
                _check_parameters(f"{cls.__name__}.{name}", value, "self", "params")
            else:
                cls._check_name(name)

    @classmethod
    def _check_name(cls, name: str) -> None:
        from difflib import get_close_matches  # only classes with extra methods need it

        close = get_close_matches(name, cls._served, n=1, cutoff=0.8)
        if close:
            raise UsageError(
                f"{cls.__name__}.{name} is never called: {cls._side}s have no such method; did you mean {close[0]}?"
            )


def _check_parameters(label: str, function: FunctionType, *names: str) -> None:
    """Raise `UsageError` unless a method can be called with these arguments."""
    if "__wrapped__" in vars(function):
        return  # a decorator: its parameters aren't known here
    given = inspect.signature(function)
    try:
        given.bind(*names)
    except TypeError:
        raise UsageError(
            f"{label} has the parameters ({', '.join(given.parameters)}); it is called with ({', '.join(names)})"
        ) from None


class TypedConnection:
    """One side of a conversation, with typed calls and typed handlers.

    `handlers` is any object, preferably of a subclass of `AgentHandlers` or `ClientHandlers`. A protocol method is
    served if the object has a method of the same name, with underscores instead of slashes: `session_update`. Handlers
    may be plain or async and take only the params. Methods that the protocol doesn't define go to
    `extension_request(method, params)` and `extension_notification(method, params)`."""

    def __init__(
        self,
        transport: Transport,
        handlers: object,
        *,
        methods: ModuleType,
        side: Literal["agent", "client"],
        null_ids: bool,
        unstable: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if not isinstance(transport, Transport):
            raise InvalidValue(
                f"transport is a {type(transport).__name__}; it must be a Transport; to start a command: "
                "await SubprocessTransport.launch(['python', 'agent.py'])",
                argument="transport",
            )
        if isinstance(handlers, type):
            raise InvalidValue(
                f"handlers is the class {handlers.__name__}; it must be an object, such as {handlers.__name__}()",
                argument="handlers",
            )
        self.connection: Connection = Connection(transport, side=side, limits=limits)
        self._unstable = unstable
        self._null_ids = null_ids
        self._once = null_ids  # version 1 also allows only one `initialize`
        self._handlers = handlers
        served = [method for method in _all(methods) if method.served_by == side and (unstable or not method.unstable)]
        self._initialize = next((method for method in served if method.name == "initialize"), None)
        self._table: dict[Method[Any, Any], Handler] = {}
        for method in served:
            handler = self._find_handler(python_name(method))
            if handler is not None:
                self._table[method] = handler
                required = None if method.result is None else _required_result(method.result)
                if required is not None:
                    self.connection.required_results[method.name] = required

    def start(self) -> None:
        """Start receiving. An agent serves only `initialize` until that has succeeded."""
        if self.connection.side == "client":
            self.connection.start(Routes({}))
            self._speak()
        else:
            self.connection.start(Routes({INITIALIZE: self._first}))

    def _speak(self) -> None:
        table = self._table
        if self._initialize is not None and self._once:
            table = {**table, self._initialize: _already}
        routes = Routes(
            table,
            other_request=self._find_handler("extension_request"),
            other_notification=self._find_handler("extension_notification"),
        )
        self.connection.speak(routes, null_ids=self._null_ids)

    def _find_handler(self, name: str) -> Any:
        """Return the author's handler of this name; None if there is none."""
        return getattr(self._handlers, name, None)

    async def _first(self, raw: msgspec.Raw) -> Any:
        assert self._initialize is not None
        params = repair_read(self._initialize.params, msgspec.json.decode(raw))
        handler = self._table.get(self._initialize)
        if handler is None:
            raise MethodNotFound("Method not found: initialize")
        result = handler(params)
        if isinstance(result, Awaitable):
            result = await result
        # Send the response first: building the decoders of all other methods takes a while.
        return Answer(result, self._speak)

    def call(self, method: Method[P, R], params: P, *, deadline: Deadline | None = None) -> Coroutine[Any, Any, R]:
        """Call any method of the version."""
        if not isinstance(method, Method):
            raise InvalidValue(
                f"method is {method!r}; it must be a constant such as v1.methods.SESSION_NEW; for a name, use "
                "request(name, params)",
                argument="method",
            )
        if method.unstable:
            self._check(method)
        return self.connection.call(method, params, deadline=deadline, long_running=method.name == "session/prompt")

    def tell(self, method: Method[Any, Any], params: Any) -> Awaitable[None]:
        """Send any notification of the version."""
        if method.unstable:
            self._check(method)
        return self.connection.tell(method, params)

    async def request(self, method: str, params: Any = None) -> Any:
        """Call a method that the protocol doesn't define."""
        extension: Method[Any, Any] = Method(name=method, served_by="agent", params=object, result=object)
        return await self.connection.call(extension, {} if params is None else params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Send a notification that the protocol doesn't define."""
        extension: Method[Any, Any] = Method(name=method, served_by="agent", params=object)
        return self.connection.tell(extension, {} if params is None else params)

    def watch(self, watcher: Callable[[Literal["in", "out"], bytes], None]) -> Callable[[], None]:
        """Pass every line to a watcher. Call the returned function to stop."""
        return self.connection.watch(watcher)

    async def wait_ended(self) -> Exception | None:
        """Wait until the connection is closed. Returns the error if it broke."""
        return await self.connection.wait_ended()

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
        if error is not None:
            end_at_author(error)

    def _check(self, method: Method[Any, Any]) -> None:
        if method.unstable and not self._unstable:
            raise LocalProtocolError(f"{method.name} is unstable; open the connection with unstable=True to use it")


def _find_required_result(result: Any) -> str | None:
    """Return the name of a result type with required fields. Without any, None is a valid result."""
    if not (isinstance(result, type) and issubclass(result, msgspec.Struct)):
        return None
    return result.__name__ if any(field.required for field in msgspec.structs.fields(result)) else None


_required_result: Callable[[Any], str | None] = cache(_find_required_result)


def _already(params: Any) -> None:
    raise RequestFailed("initialize: this connection is already initialized", code=INVALID_REQUEST)


def _all(methods: ModuleType) -> Iterable[Method[Any, Any]]:
    return [*methods.REQUESTS.values(), *methods.NOTIFICATIONS.values()]


def python_name(method: Method[Any, Any]) -> str:
    """Return the Python name of a method. A name that is both a request and a notification gets `_notification` for the
    latter."""
    name = method.name.replace("/", "_")
    return f"{name}_notification" if method.name == "mcp/message" and method.is_notification else name
