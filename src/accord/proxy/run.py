"""`run()` and `serve()`: a proxy on standard input and output, or on any transport."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from accord.errors import AccordError, UsageError
from accord.proxy.components import Component, check_component, start
from accord.proxy.endpoint import Endpoint, connect_flow
from accord.proxy.handled_direction import INITIALIZE
from accord.proxy.proxy import Proxy
from accord.proxy.side import ProxySide
from accord.rpc.envelope import Failure, Fault
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.proxy.conductor import Conductor

PROXY_INITIALIZE = "proxy/initialize"
_NO_SUCCESSOR = Failure(
    None,
    Fault(-32600, "this is a proxy: start it through a conductor (proxy/initialize), or give it the agent to start"),
)


def run(
    proxy: Proxy | Conductor,
    successor: Component | None = None,
    *,
    cwd: str | os.PathLike[str] = ".",
    env: Mapping[str, str] | None = None,
) -> None:
    """Serve a proxy or a conductor on standard input and output, until the client closes our input.

    Without `successor`, the proxy expects a conductor to have started it and to connect it to the next component. With
    one, it starts the successor: a command, a URL, a transport, an `Agent` or another `Proxy`.

    Printed text can't corrupt the wire: it goes to standard error."""
    from accord.transports.event_loop import run as run_loop
    from accord.transports.stdio import StdioTransport
    from accord.transports.stdout_guard import guard_stdio

    _check(proxy, successor)
    held = guard_stdio()

    async def serve_stdio() -> None:
        if isinstance(proxy, Proxy):
            await serve(proxy, StdioTransport(held), successor, cwd=cwd, env=env)
        else:
            await proxy.serve(StdioTransport(held))

    try:
        run_loop(_until_terminated(serve_stdio()))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except AccordError as error:
        raise SystemExit(f"accord: {error}") from None


def _check(proxy: object, successor: object) -> None:
    from accord.proxy.conductor import Conductor

    check_component(proxy)
    check_component(successor)
    if not isinstance(proxy, (Proxy, Conductor)):
        raise UsageError(f"run() needs a Proxy or a Conductor, not {type(proxy).__name__}")
    if isinstance(proxy, Conductor) and successor is not None:
        raise UsageError("a Conductor starts its components itself: Conductor(proxy, …, agent)")


async def _until_terminated(serving: Coroutine[Any, Any, None]) -> None:
    task = asyncio.current_task()
    assert task is not None
    # Not every platform has signal handlers, and only the main thread may set them.
    with contextlib.suppress(NotImplementedError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def serve(
    proxy: Proxy,
    transport: Transport,
    successor: Component | None = None,
    *,
    cwd: str | os.PathLike[str] = ".",
    env: Mapping[str, str] | None = None,
) -> None:
    """Serve one client on any transport, until it disconnects. See `run`.

    Raises the successor's error if it exited by itself."""
    client = Endpoint(transport, "agent")
    if successor is None:
        side = ProxySide(proxy, client.direct, client.successor, _from_conductor)
        await _serve(side, [client])
        return
    component = await start(successor, os.fspath(cwd), env)
    try:
        side = ProxySide(proxy, client.direct, component.endpoint.direct)
        await _serve(side, [client, component.endpoint])
    finally:
        await component.close()
    if component.endpoint.error is not None:
        raise component.endpoint.error


def _from_conductor(method: str, params: bytes) -> tuple[str, bytes] | Failure:
    if method == INITIALIZE:
        return _NO_SUCCESSOR
    return (INITIALIZE, params) if method == PROXY_INITIALIZE else (method, params)


async def _serve(side: ProxySide, chain: list[Endpoint]) -> None:
    ended = asyncio.Event()
    connect_flow(chain, is_loop=lambda: len(chain) == 1)
    for endpoint in reversed(chain):
        endpoint.on_ended = ended.set
        if endpoint.failure is None:
            endpoint.start()
    try:
        await ended.wait()
    finally:
        await side.stop()
        await chain[0].close()
