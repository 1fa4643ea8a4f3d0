"""Work beside the event loop that the end of the process does not wait for, as it would for asyncio's own threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


async def in_thread(work: Callable[..., T], *args: Any, patience: float | None = None) -> T:
    """Runs something that may block for ever in a thread that nobody waits for at the end of the process."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(result: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(cast(T, result))
        else:
            answer.set_exception(error)

    def run() -> None:
        result, failed = None, None
        try:
            result = work(*args)
        except BaseException as error:
            failed = error
        try:
            loop.call_soon_threadsafe(tell, result, failed)
        except RuntimeError:  # the loop is gone, and with it whoever asked
            return

    threading.Thread(target=run, name="accord-aside", daemon=True).start()
    return await asyncio.wait_for(answer, patience)
