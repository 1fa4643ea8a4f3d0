"""`run()`: serves an agent on standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

from accord.agent.agent import Agent
from accord.agent.definition import check_agent
from accord.agent.side import AgentSide
from accord.connection.limits import Limits
from accord.errors import UsageError
from accord.transports.base import Transport

if TYPE_CHECKING:
    from accord.transports.stdout_guard import GuardedStreams


_YOUNG_OBJECTS = 10_000
"""The garbage collection threshold: the number of new objects that starts a collection. With Python's default (700) it
runs every few dozen turns and takes a tenth of the CPU time of an agent with a thousand sessions."""


def run(agent: Agent, *, limits: Limits | None = None) -> None:
    """Serve one client on standard input and output, until it closes our input.

    From then on, printed text can't corrupt the wire: `print`, C libraries and child processes write to standard error,
    and read an empty standard input."""
    from accord.transports.event_loop import run as run_loop
    from accord.transports.stdout_guard import guard_stdio

    check_agent(agent, Agent, "run")  # before the streams are replaced, so that the author sees the error
    _check_no_loop()
    held = guard_stdio()
    _explain_on_terminal(held.stdin, agent)
    try:
        run_loop(_serve(agent, held, limits))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _check_no_loop() -> None:
    """Raise `UsageError` in async code: `run` starts an event loop itself."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("run() starts an event loop itself; call it outside of async functions, without “await”")


def _explain_on_terminal(stdin: int, agent: Agent) -> None:
    """Explain the silence to a user who started the agent by hand. Clients use pipes, so they see nothing of it."""
    import os
    import shlex
    import sys

    if not os.isatty(stdin) or sys.stderr is None:
        return
    program, arguments = sys.argv[0], sys.argv[1:]
    directory, name = os.path.split(program)
    if name == "__main__.py":
        start = ["python", "-m", os.path.basename(directory)]
    else:
        start = ["python", program] if name.endswith(".py") else [name]
    command = shlex.quote(shlex.join([*start, *arguments]))
    name = agent.title or agent.name or type(agent).__name__
    print(
        f"{name} is an ACP agent: it waits for a client's JSON messages on standard input.\n"
        f"To use it, press Ctrl-C and run: accord chat {command}",
        file=sys.stderr,
        flush=True,
    )


async def _serve(agent: Agent, held: GuardedStreams, limits: Limits | None) -> None:
    import gc

    from accord.transports.stdio import StdioTransport

    gc.freeze()  # modules that are loaded by now stay loaded, so the collector needn't visit them again
    young, *older = gc.get_threshold()
    if 0 < young < _YOUNG_OBJECTS:  # 0 turns the collector off
        gc.set_threshold(_YOUNG_OBJECTS, *older)
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
    """Serve one client on any transport, until it disconnects."""
    await AgentSide(agent, transport, limits=limits).serve()
