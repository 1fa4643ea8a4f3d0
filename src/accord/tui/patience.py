"""What may take long before an agent is there: when the user is told so, and work that nobody waits for at the end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

HASTY = 1.0
"""Seconds before which Esc does not end a start: nobody has waited by then, and half of a terminal's answer to a
question of ours may look like it."""
SLOW = 3.0
"""Seconds after which it is said for how long an agent has been starting, and which keys help."""


async def in_thread(work: Callable[[], T]) -> T:
    """Does something that may take long in a thread of its own. Unlike those of the event loop, it keeps nobody from
    leaving, and when the waiting is cancelled that is so at once."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(what: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            what(value)

    def run() -> None:
        try:
            answer = done.set_result, work()
        except BaseException as error:
            answer = done.set_exception, error  # type: ignore[assignment]
        with suppress(RuntimeError):  # everybody has left
            loop.call_soon_threadsafe(tell, *answer)

    context = contextvars.copy_context()  # who we are, for what the thread has done here
    threading.Thread(target=lambda: context.run(run), name="accord-start").start()
    return await done
