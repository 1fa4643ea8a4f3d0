"""A fault of ours, told in two lines; where it happened is in a file, for those who look into it.

Most end what was being done, and no more: `beside` begins something that may fail so. Some end the program."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.text import Text
from textual.dom import DOMNode
from textual.worker import Worker

from accord.config.folders import data_folder


def told(is_kept: bool = True) -> Text:
    """What to say about the exception that is being handled. ACCORD_DEBUG=1 shows where it happened, too."""
    from accord.config.mask import masked

    error = sys.exc_info()[1]
    words = masked(f"Accord had to stop: {type(error).__name__}: {error}")
    path = _written(error) if error is not None else None
    where = f" Where it happened is in {path}" if path is not None else ""
    told = f"What you typed {'is kept' if is_kept else 'could not be kept'}.{where}"
    lines = [traceback.format_exc()] if os.environ.get("ACCORD_DEBUG") == "1" else []
    return Text("\n".join([*lines, words, told]))


def noted(error: BaseException) -> str:
    """Writes down where a fault happened that does not end the program, and gives what to say about it."""
    from accord.config.mask import masked

    path = _written(error)
    where = f"; where it happened is in {path}" if path is not None else ""
    return masked(f"This is a fault of Accord: {type(error).__name__}: {error}{where}")


def _written(error: BaseException) -> Path | None:
    from accord.config.mask import masked

    where = "".join(traceback.format_exception(error))
    path = data_folder() / "chat" / "faults.log"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{masked(where)}\n")
        return path
    return None


def beside(
    owner: DOMNode,
    what: Awaitable[Any] | Callable[[], Awaitable[Any]],
    *,
    group: str = "default",
    exclusive: bool = False,
) -> Worker[None]:
    """Does something beside everything else, for as long as its owner is there. A fault in it is told."""

    async def watched() -> None:
        try:
            await (what() if callable(what) else what)
        except Exception as error:
            owner.app.notify(noted(error), severity="error", timeout=15, markup=False)

    worker: Worker[None] = owner.run_worker(watched, group=group, exclusive=exclusive, exit_on_error=False)
    return worker
