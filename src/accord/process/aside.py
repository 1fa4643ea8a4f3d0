"""Work beside the event loop that the end of the process need not wait for, as it would for asyncio's own threads."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[..., T], *args: Any, patience: float | None = None, finishes: bool = False) -> T:
    """Runs something that may block for ever in a thread of its own. When the waiting is cancelled, that is so at once.

    `finishes` is for work that must not be left half done: then the end of the process waits for it after all."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(take: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            take(value)

    def run() -> None:
        take: Callable[[Any], None] = answer.set_result
        value: Any
        try:
            value = work(*args)
        except BaseException as error:
            take, value = answer.set_exception, error
        with suppress(RuntimeError):  # the loop is gone, and with it whoever asked
            loop.call_soon_threadsafe(tell, take, value)

    context = contextvars.copy_context()  # what is known of who asks holds in the thread too
    threading.Thread(target=context.run, args=(run,), name="accord-aside", daemon=not finishes).start()
    return await asyncio.wait_for(answer, patience)
