"""A hint below the prompt: what is written like a file behind an `@` and is none is sent as a word. It stops nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textual.widgets import TextArea

from accord.tui.fault import beside
from accord.tui.harmless import words
from accord.tui.plain import one_line
from accord.tui.screens.hints import shortest

PAUSE = 0.4
"""Seconds without a letter after which files are looked for."""
_MOST_LETTERS = 100_000


class UnfoundHint:
    """Writes it on the lower edge of the editor, until something else is typed."""

    def __init__(self, editor: TextArea) -> None:
        self._editor = editor
        self.find: Callable[[str], list[str]] = lambda text: []
        """Gives the names in a text that are no files. Reads the disk."""

    def typed(self, text: Callable[[], str]) -> None:
        """Something was typed. `text` is what is to be looked at, once nothing more is."""
        if "@" in self._editor.text:
            self._look(text, PAUSE)
        else:
            self._editor.workers.cancel_group(self._editor, "unfound")
            self._say(())

    def sent(self, text: str) -> None:
        """This was sent: what was said about it stays until the next prompt is begun."""
        self._look(lambda: text, 0)

    def _look(self, text: Callable[[], str], pause: float) -> None:
        work: Any = partial(self._looked, text, pause)
        beside(self._editor, work, group="unfound", exclusive=True)

    async def _looked(self, text: Callable[[], str], pause: float) -> None:
        await asyncio.sleep(pause)
        wanted = text()
        is_due = "@" in wanted and len(wanted) <= _MOST_LETTERS
        self._say(await asyncio.to_thread(self.find, wanted) if is_due else ())

    def _say(self, names: Sequence[str]) -> None:
        hint = words(shortest(told(names), self._editor.size.width - 4)) if names else ""
        if self._editor.border_subtitle != hint:
            self._editor.border_subtitle = hint


def told(names: Sequence[str]) -> list[str]:
    """What to say about names that are no files, in more words and in fewer."""
    first = f"@{one_line(names[0], 60)}"
    if len(names) == 1:
        return [f"{first} is no file here: it is sent as text", f"{first} is no file here", "no such file"]
    more = f"{first} and @{one_line(names[1], 60)}" if len(names) == 2 else f"{first} and {len(names) - 1} more"
    return [f"{more} are no files here: they are sent as text", f"{more} are no files here", "no such files"]
