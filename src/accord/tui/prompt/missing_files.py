"""A hint below the prompt about an `@` mention of a missing file. It is sent as text; sending isn't blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textual.widgets import TextArea

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.screens.hints import first_fitting
from accord.tui.text import make_label

PAUSE = 0.4
"""Seconds without typing before files are checked."""
_MAX_LETTERS = 100_000


class MissingFilesHint:
    """Shows the hint on the lower border of the editor until something else is typed."""

    def __init__(self, editor: TextArea) -> None:
        self._editor = editor
        self.find: Callable[[str], list[str]] = lambda text: []
        """Returns the mentioned names that aren't files. Reads the disk."""

    def on_typing(self, text: Callable[[], str]) -> None:
        """Handle typing: check `text()` once the user pauses."""
        if "@" in self._editor.text:
            self._schedule_check(text, PAUSE)
        else:
            self._editor.workers.cancel_group(self._editor, "missing-files")
            self._say(())

    def on_sent(self, text: str) -> None:
        """Check a sent prompt; the hint stays until the next one is started."""
        self._schedule_check(lambda: text, 0)

    def _schedule_check(self, text: Callable[[], str], pause: float) -> None:
        work: Any = partial(self._check, text, pause)
        run_in_background(self._editor, work, group="missing-files", exclusive=True)

    async def _check(self, text: Callable[[], str], pause: float) -> None:
        await asyncio.sleep(pause)
        wanted = text()
        is_due = "@" in wanted and len(wanted) <= _MAX_LETTERS
        self._say(await asyncio.to_thread(self.find, wanted) if is_due else ())

    def _say(self, names: Sequence[str]) -> None:
        hint = make_label(first_fitting(describe_missing(names), self._editor.size.width - 4)) if names else ""
        if self._editor.border_subtitle != hint:
            self._editor.border_subtitle = hint


def describe_missing(names: Sequence[str]) -> list[str]:
    """Return hints about missing files, from long to short."""
    first = f"@{one_line(names[0], 60)}"
    if len(names) == 1:
        return [f"{first} not found; it will be sent as text", f"{first} not found", "file not found"]
    more = f"{first} and @{one_line(names[1], 60)}" if len(names) == 2 else f"{first} and {len(names) - 1} more"
    return [f"{more} not found; they will be sent as text", f"{more} not found", "files not found"]
