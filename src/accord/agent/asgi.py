"""`asgi()`: serves an agent over Streamable HTTP and WebSocket."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from accord.agent.side import AgentSide
from accord.connection.limits import Limits
from accord.transports.base import Transport
from accord.transports.http.asgi import Endpoint, Peer
from accord.transports.http.limits import HttpLimits

if TYPE_CHECKING:
    from accord.agent.agent import Agent


def asgi(
    agent: Agent,
    *,
    path: str = "/acp",
    limits: HttpLimits | None = None,
    message_limits: Limits | None = None,
    origins: Collection[str] = (),
) -> Endpoint:
    """Return an ASGI application that serves an agent to any number of clients over Streamable HTTP and WebSocket.

    Run it with any ASGI server, such as `hypercorn` or `uvicorn`. It has no authentication: bind it to the loopback
    interface, or put authentication in front. Web pages from other origins are refused unless `origins` lists them.

    When a client disconnects, its unfinished work is cancelled. Sessions in the agent's store can be loaded later."""

    async def serve(transport: Transport, peer: Peer) -> None:
        await AgentSide(agent, transport, limits=message_limits).serve()

    return Endpoint(serve, path=path, limits=limits, origins=origins)
