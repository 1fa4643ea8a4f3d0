"""One message of an agent's log, formatted over several lines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.cells import chop_cells
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.agent.log import MARKS, LogRow, clock, pretty
from accord.tui.screens.hints import Hints
from accord.tui.screens.modal import Modal
from accord.tui.text import make_label

if TYPE_CHECKING:
    from accord.tui.app import AccordApp


class LongText(Widget, can_focus=True):
    """A long text; only its visible lines are rendered."""

    DEFAULT_CSS: ClassVar[str] = "LongText { height: 1fr; }"
    app: AccordApp

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._top = 0
        self._rows: list[str] = []

    def show(self, text: str) -> None:
        self._text = text.split("\n")
        self._wrap()

    def _wrap(self) -> None:
        width = max(self.size.width, 10)
        self._rows = [part for row in self._text for part in _wrap_row(row, width)]
        self.refresh()

    def on_resize(self) -> None:
        self._wrap()

    def render_line(self, y: int) -> Strip:
        text_styles, place = self.app.text_styles, self._top + y
        row = self._rows[place] if place < len(self._rows) else ""
        return text_styles.line((row, None)).adjust_cell_length(self.size.width, text_styles.base)

    def scroll_rows(self, by: int) -> None:
        self._top = max(0, min(self._top + by, len(self._rows) - self.size.height))
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        page, all_ = max(self.size.height - 1, 1), len(self._rows)
        by = {
            "up": -1,
            "down": 1,
            "j": 1,
            "k": -1,
            "pageup": -page,
            "pagedown": page,
            "space": page,
            "home": -all_,
            "end": all_,
        }
        if event.key in by:
            event.stop()
            self.scroll_rows(by[event.key])

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(3)


def _wrap_row(row: str, width: int) -> list[str]:
    """Wrap a line; some characters take two cells."""
    if row.isascii():
        return [row[at : at + width] for at in range(0, max(len(row), 1), width)]
    return chop_cells(row, width)


class MessageScreen(Modal[None]):
    """One message, formatted over several lines."""

    DEFAULT_CSS: ClassVar[str] = """
    MessageScreen { align: center middle; }
    MessageScreen > Vertical { width: 95%; height: 95%; border: round $primary; padding: 0 1; background: $background; }
    """

    def __init__(self, shown: LogRow, name: str, secrets: Iterable[str]) -> None:
        super().__init__()
        self._shown = shown
        self._name = name
        self._secrets = list(secrets)
        self._text = ""

    def compose(self) -> ComposeResult:
        line = self._shown.entry
        with Vertical() as box:
            box.border_title = make_label(f"{MARKS[line.kind]} {self._name}, {clock(line)}")
            yield LongText()
            yield Hints("↑ ↓ page up page down", "y copy", "esc")

    async def on_mount(self) -> None:
        self.query_one(LongText).focus()
        self._text = await asyncio.to_thread(pretty, self._shown.entry, self._secrets)
        self.query_one(LongText).show(self._text)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "enter"):
            event.stop()
            self.dismiss(None)
        elif event.key in ("y", "c"):
            event.stop()
            self.app.copy_to_clipboard(self._text)
            self.app.notify("Copied.")
