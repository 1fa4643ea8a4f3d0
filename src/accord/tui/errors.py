"""Explain expected errors, and report bugs in Accord: two lines for the user, and a traceback in a log file.

Most bugs end only one background task, started with `run_in_background`. Some end the program."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.config.directories import data_directory

if TYPE_CHECKING:
    from rich.text import Text
    from textual.dom import DOMNode
    from textual.worker import Worker


def describe_crash(is_saved: bool = True) -> Text:
    """Describe the exception that is being handled. ACCORD_DEBUG=1 adds the traceback."""
    from rich.text import Text

    from accord.config.redaction import redact_text

    error = sys.exc_info()[1]
    words = redact_text(f"Accord had to stop: {type(error).__name__}: {error}")
    path = _log(error) if error is not None else None
    where = f" Details are in {path}" if path is not None else ""
    saved = f"Unsent text {'is saved' if is_saved else 'could not be saved'}.{where}"
    lines = [traceback.format_exc()] if os.environ.get("ACCORD_DEBUG") == "1" else []
    return Text("\n".join([*lines, words, saved]))


def report_bug(error: BaseException) -> str:
    """Log a bug that doesn't end the program, and return a message about it."""
    from accord.config.redaction import redact_text

    path = _log(error)
    where = f"; details are in {path}" if path is not None else ""
    return redact_text(f"This is a bug in Accord: {type(error).__name__}: {error}{where}")


def explain(error: Exception) -> str:
    """Return what an expected error says to the user. The protocol's method and code are in the log (Ctrl-L)."""
    from accord.config.redaction import redact_text
    from accord.errors import RequestFailed

    return redact_text(error.explanation if isinstance(error, RequestFailed) else str(error))


def _log(error: BaseException) -> Path | None:
    from accord.config.redaction import redact_text

    where = "".join(traceback.format_exception(error))
    path = data_directory() / "chat" / "errors.log"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{redact_text(where)}\n")
        return path
    return None


def run_in_background(
    owner: DOMNode,
    what: Awaitable[Any] | Callable[[], Awaitable[Any]],
    *,
    group: str = "default",
    exclusive: bool = False,
) -> Worker[None]:
    """Run something in the background while its owner exists. The user is notified of bugs in it."""

    async def run() -> None:
        try:
            await (what() if callable(what) else what)
        except Exception as error:
            owner.app.notify(report_bug(error), severity="error", timeout=15, markup=False)

    worker: Worker[None] = owner.run_worker(run, group=group, exclusive=exclusive, exit_on_error=False)
    return worker
