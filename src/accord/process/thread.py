"""Run blocking work in a daemon thread. Unlike asyncio's executor threads, it doesn't delay the exit of the process."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def run_in_thread(work: Callable[..., T], *args: Any, timeout: float | None = None, finishes: bool = False) -> T:
    """Run work that may block forever in its own thread. Cancelling returns at once, and leaves the thread running.

    `finishes` is for work that must not be interrupted: the process then waits for it on exit."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(take: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            take(value)

    def run() -> None:
        take: Callable[[Any], None] = answer.set_result
        value: Any
        try:
            value = work(*args)
        except BaseException as error:
            take, value = answer.set_exception, error
        with suppress(RuntimeError):  # the loop is closed, so no caller is waiting
            loop.call_soon_threadsafe(settle, take, value)

    context = contextvars.copy_context()  # context variables of the caller apply in the thread as well
    threading.Thread(target=context.run, args=(run,), name="accord-aside", daemon=not finishes).start()
    return await asyncio.wait_for(answer, timeout)
