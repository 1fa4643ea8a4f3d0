"""The background tasks of one connection to an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from accord.connection.dispatch import log
from accord.errors import ConnectionClosed

_STOP_SECONDS = 5.0
"""How long tasks that must finish may take when the connection is closed."""


class BackgroundTasks:
    """Keeps references to tasks, because the event loop doesn't, and ends the tasks with the connection."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._final: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something in the background until the connection is closed."""
        self._start(work, self._tasks).add_done_callback(_log_error)

    def spawn_final(self, work: Coroutine[Any, Any, Any], *, logs_errors: bool = False) -> None:
        """Run something in the background that `close` waits for."""
        task = self._start(work, self._final)
        if logs_errors:
            task.add_done_callback(_log_error)

    def _start(self, work: Coroutine[Any, Any, Any], tasks: set[asyncio.Task[Any]]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel the tasks, except for those that must finish: these are cancelled only if they take too long."""
        tasks, final = list(self._tasks), list(self._final)
        for task in tasks:
            task.cancel()
        if final:
            _, late = await asyncio.wait(final, timeout=_STOP_SECONDS)
            for task in late:
                task.cancel()
        here = asyncio.current_task()
        ending = [task for task in [*tasks, *final] if task is not here]
        if ending:
            await asyncio.wait(ending, timeout=2)


def _log_error(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and task.exception() is not None and not isinstance(task.exception(), ConnectionClosed):
        log.error("a background task failed", exc_info=task.exception())
