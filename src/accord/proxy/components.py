"""Starts the components of a chain: commands, URLs, transports, and agents and proxies in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Union

from accord.client.connect import Target
from accord.client.launch import is_agent, is_url, launch
from accord.errors import AccordError, UsageError
from accord.proxy.endpoint import Endpoint
from accord.proxy.proxy import Proxy
from accord.transports.base import Transport
from accord.transports.memory import pair

if TYPE_CHECKING:
    from accord.proxy.conductor import Conductor

Component = Union[Target, Proxy, "Conductor"]


class RunningComponent:
    """A component, and the task that serves it if it runs in this process."""

    def __init__(
        self, endpoint: Endpoint, serving: Coroutine[Any, Any, None] | None = None, *, is_local_agent: bool = False
    ) -> None:
        self.endpoint = endpoint
        self.is_local_agent = is_local_agent
        """Whether it can start commands on this machine: not if it has a URL, or bridges for its own agent."""
        self._task = None if serving is None else asyncio.get_running_loop().create_task(serving)

    async def close(self) -> None:
        """Stop the component."""
        if self.endpoint.connection.is_open:
            await self.endpoint.close()
        if self._task is not None:
            with suppress(AccordError):
                await self._task


async def start(component: Component, cwd: str, env: Mapping[str, str] | None) -> RunningComponent:
    """Start a component. One that can't be started responds to every request with the reason."""
    from accord.proxy.conductor import Conductor
    from accord.proxy.run import serve

    ours, theirs = pair()
    if isinstance(component, Proxy):
        return RunningComponent(Endpoint(ours, "client"), serve(component, theirs))
    if isinstance(component, Conductor):
        return RunningComponent(Endpoint(ours, "client"), component.serve(theirs))
    try:
        if isinstance(component, str) and is_url(component):
            from accord.remote.target import open_url

            # The client may not support our notification of a full replay.
            return RunningComponent(Endpoint(await open_url(component, resets=False), "client"))
        launched = await launch(component, cwd, env)
    except AccordError as error:
        endpoint = Endpoint(ours, "client")
        endpoint.fail(str(error))
        return RunningComponent(endpoint)
    return RunningComponent(Endpoint(launched.transport, "client"), launched.serving, is_local_agent=True)


def check_component(component: object) -> None:
    """Report a class that was given instead of an object."""
    if isinstance(component, type):
        raise UsageError(f"{component.__name__} is a class; a component is an object: {component.__name__}()")


def check_agent_is_last(components: Sequence[object]) -> None:
    """Report an agent of this process that isn't the end of its chain."""
    for component in components[:-1]:
        if not isinstance(component, str | Sequence | Proxy | Transport) and is_agent(component):
            raise UsageError(f"{type(component).__name__} is an agent, so it must be the last component")
