"""A connection that speaks exactly one version: typed calls out, typed handlers in. The ground of `accord.v1` and
`accord.v2`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from types import ModuleType, TracebackType
from typing import Any, Literal, TypeVar

import msgspec

from accord.connection.connection import Connection
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.connection.limits import Deadline, Limits
from accord.errors import INVALID_REQUEST, LocalProtocolError, MethodNotFound, RequestFailed
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.transports.base import Transport

P = TypeVar("P")
R = TypeVar("R")


class TypedConnection:
    """One side of a conversation in one version's own words.

    `handlers` is any object; a method of the protocol is served when it has one of the same name, slashes read as
    underscores: `session_update`, `fs_read_text_file`. Handlers may be plain or async and take the params alone. What
    the protocol does not know goes to `extension_request(method, params)` and
    `extension_notification(method, params)`."""

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
        self.connection = Connection(transport, side=side, limits=limits)
        self._unstable = unstable
        self._null_ids = null_ids
        self._once = null_ids  # version 1 also says hello but once
        self._handlers = handlers
        served = [method for method in _all(methods) if method.served_by == side and (unstable or not method.unstable)]
        self._initialize = next((method for method in served if method.name == "initialize"), None)
        self._table: dict[Method[Any, Any], Handler] = {}
        for method in served:
            handler = getattr(handlers, python_name(method), None)
            if handler is not None:
                self._table[method] = handler

    def start(self) -> None:
        """Begins to receive. An agent serves nothing but `initialize` until that has succeeded."""
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
            other_request=getattr(self._handlers, "extension_request", None),
            other_notification=getattr(self._handlers, "extension_notification", None),
        )
        self.connection.speak(routes, null_ids=self._null_ids)

    async def _first(self, raw: msgspec.Raw) -> Any:
        assert self._initialize is not None
        params = repair_read(self._initialize.params, msgspec.json.decode(raw))
        handler = self._table.get(self._initialize)
        if handler is None:
            raise MethodNotFound("Method not found: initialize")
        result = handler(params)
        if isinstance(result, Awaitable):
            result = await result
        # The answer leaves first: building what reads all the other methods takes a while.
        return Answer(result, self._speak)

    def call(self, method: Method[P, R], params: P, *, deadline: Deadline | None = None) -> Coroutine[Any, Any, R]:
        """Calls any method of the version; await what it gives."""
        if method.unstable:
            self._check(method)
        return self.connection.call(method, params, deadline=deadline, patient=method.name == "session/prompt")

    def tell(self, method: Method[Any, Any], params: Any) -> Awaitable[None]:
        """Sends any notification of the version."""
        if method.unstable:
            self._check(method)
        return self.connection.tell(method, params)

    async def request(self, method: str, params: Any = None) -> Any:
        """Calls a method that the protocol does not know."""
        wanted: Method[Any, Any] = Method(name=method, served_by="agent", params=object, result=object)
        return await self.connection.call(wanted, {} if params is None else params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Sends a notification that the protocol does not know."""
        told: Method[Any, Any] = Method(name=method, served_by="agent", params=object)
        return self.connection.tell(told, {} if params is None else params)

    def watch(self, watcher: Callable[[Literal["in", "out"], bytes], None]) -> Callable[[], None]:
        """Shows every line to a watcher, until what this returns is called."""
        return self.connection.watch(watcher)

    async def wait_ended(self) -> Exception | None:
        """Waits until the connection is over; gives the reason when it broke."""
        return await self.connection.wait_ended()

    async def close(self) -> None:
        """Ends the connection."""
        await self.connection.close()

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _check(self, method: Method[Any, Any]) -> None:
        if method.unstable and not self._unstable:
            raise LocalProtocolError(f"{method.name} is unstable; open the connection with unstable=True to use it")


def _already(params: Any) -> None:
    raise RequestFailed("initialize: this connection is initialized already", code=INVALID_REQUEST)


def _all(methods: ModuleType) -> Iterable[Method[Any, Any]]:
    return [*methods.REQUESTS.values(), *methods.NOTIFICATIONS.values()]


def python_name(method: Method[Any, Any]) -> str:
    """What a method of the protocol is called in Python. A name that is both gets `_notification` where it is one."""
    name = method.name.replace("/", "_")
    return f"{name}_notification" if method.name == "mcp/message" and method.is_notification else name
