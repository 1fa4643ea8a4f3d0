"""A conductor: connects proxies and an agent into a chain that looks like one agent to the client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import cast

import msgspec
from msgspec import Raw

from accord.client.launch import Launched
from accord.connection.dispatch import method_not_found
from accord.errors import UsageError
from accord.proxy.components import Component, check_agent_is_last, check_component, start
from accord.proxy.endpoint import Endpoint, Port, connect_flow
from accord.proxy.handled_direction import INITIALIZE, read_version
from accord.proxy.hop import Direction, Rewrite
from accord.proxy.mcp_bridge import McpBridge
from accord.proxy.run import PROXY_INITIALIZE
from accord.proxy.side import VERSIONS
from accord.rpc.envelope import Failure
from accord.transports.base import Transport
from accord.transports.memory import pair


class Conductor:
    """Starts components and passes messages between them. The last one is the agent, the others are proxies.

    A conductor can be a component of another one; all its components are then proxies. An object serves one client."""

    def __init__(
        self, *components: Component, cwd: str | os.PathLike[str] = ".", env: Mapping[str, str] | None = None
    ) -> None:
        if not components:
            raise UsageError("a Conductor needs components: Conductor(proxy, …, agent)")
        for component in components:
            check_component(component)
        check_agent_is_last(components)
        self._components = components
        self._cwd = os.path.abspath(cwd)
        self._env = env
        self._is_proxy = False

    async def serve(self, transport: Transport) -> None:
        """Serve one client until it disconnects, then stop all components.

        If a component exits, the chain keeps running. Requests that need the component get an error with the reason."""
        running = await asyncio.gather(*(start(each, self._cwd, self._env) for each in self._components))
        client = Endpoint(transport, "agent")
        chain = [client, *(component.endpoint for component in running)]
        bridge = self._connect(chain, has_local_agent=running[-1].is_local_agent)
        connect_flow(chain, is_loop=lambda: self._is_proxy)
        ended = asyncio.Event()
        client.on_ended = ended.set
        for endpoint in reversed(chain):
            if endpoint.failure is None:
                endpoint.start()
        try:
            await ended.wait()
        finally:
            if bridge is not None:
                await bridge.close()
            await asyncio.gather(*(component.close() for component in running))
            await client.close()

    def _connect(self, chain: list[Endpoint], *, has_local_agent: bool) -> McpBridge | None:
        """Connect each component with the next one, and the last one with the client's own successor, if there is one.

        Returns the bridge for the MCP servers of the agent, if the agent is on this machine."""
        client, last = chain[0], chain[-1]
        ports = [client.direct, *(component.successor for component in chain[1:-1])]
        bridge: McpBridge | None = None
        for left, right in zip(ports, chain[1:], strict=True):
            initialize = self._start_chain if left is client.direct else self._initialize
            rewrite = partial(initialize, is_last=right is last)
            if right is last and has_local_agent:
                bridge = McpBridge(left, right.direct, rewrite)
                Direction(right.direct, left)
            else:
                _join(left, right.direct, rewrite)
        _join(last.successor, client.successor, self._for_outer_successor)
        return bridge

    def _start_chain(self, method: str, params: bytes, is_last: bool) -> tuple[str, bytes]:
        if method in (INITIALIZE, PROXY_INITIALIZE):
            self._is_proxy = method == PROXY_INITIALIZE
            requested = read_version(params)
            if isinstance(requested, int) and requested > max(VERSIONS):
                fields = msgspec.json.decode(params, type=dict[str, Raw])
                params = msgspec.json.encode({**fields, "protocolVersion": max(VERSIONS)})
        return self._initialize(method, params, is_last)

    def _initialize(self, method: str, params: bytes, is_last: bool) -> tuple[str, bytes]:
        if method in (INITIALIZE, PROXY_INITIALIZE):
            method = INITIALIZE if is_last and not self._is_proxy else PROXY_INITIALIZE
        return method, params

    def _for_outer_successor(self, method: str, params: bytes) -> tuple[str, bytes] | Failure:
        return (method, params) if self._is_proxy else Failure(None, method_not_found("proxy/successor"))


def _join(left: Port, right: Port, rewrite: Rewrite) -> None:
    Direction(left, right, rewrite)
    Direction(right, left)


def chain(
    *components: Component, cwd: str | os.PathLike[str] = ".", env: Mapping[str, str] | None = None
) -> Callable[[], Awaitable[Transport]]:
    """Return a target for `connect`: a chain of components, with a conductor in this process."""
    conductor = Conductor(*components, cwd=cwd, env=env)

    async def open_chain() -> Launched:
        ours, theirs = pair()
        return Launched(ours, conductor.serve(theirs))

    # `connect` also takes what `open_chain` returns, and starts the coroutine that comes with the transport.
    return cast("Callable[[], Awaitable[Transport]]", open_chain)
