"""`run()`: puts an agent on standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

from accord.agent.side import AgentSide
from accord.connection.limits import Limits
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.transports.guard import Guarded


def run(agent: Agent, *, limits: Limits | None = None) -> None:
    """Serves one client on standard input and output, until it closes our input.

    From here on nothing printed can corrupt the wire: `print`, C libraries and child processes write to standard error
    instead, and read nothing."""
    from accord.transports.guard import guard

    held = guard()
    try:
        asyncio.run(_serve(agent, held, limits))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


async def _serve(agent: Agent, held: Guarded, limits: Limits | None) -> None:
    import gc

    from accord.transports.stdio import StdioTransport

    gc.freeze()  # what is loaded by now stays: the collector need not look at it again and again
    side = AgentSide(agent, StdioTransport(held), limits=limits)
    serving = asyncio.current_task()
    assert serving is not None
    # Not every platform has signal handlers, and only the main thread may set them.
    with contextlib.suppress(NotImplementedError, RuntimeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    try:
        await side.serve()
    except asyncio.CancelledError:
        await side.stop()


async def serve(agent: Agent, transport: Transport, *, limits: Limits | None = None) -> None:
    """Serves one client on any transport, until it is gone."""
    await AgentSide(agent, transport, limits=limits).serve()
