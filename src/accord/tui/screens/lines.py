"""The lines of a log as a list, of which only what can be seen is drawn; and one of them on a screen of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.cells import chop_cells
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.harmless import words
from accord.tui.screens.above import Above
from accord.tui.screens.hints import Hints
from accord.tui.wire import KEPT_BYTES, MARKS, Kind, Shown, clock, contents, pretty, title

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.app import AccordApp
    from accord.tui.look import Look

_MOVES = {"up": -1, "down": 1}


class Lines(Widget):
    """Rows, the newest at the bottom, and a cursor. While the cursor is on the last row it stays on the last."""

    DEFAULT_CSS = "Lines { height: 1fr; }"
    app: AccordApp

    class Opened(Message):
        """A row was clicked on."""

        def __init__(self, shown: Shown) -> None:
            super().__init__()
            self.shown = shown

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        self.rows: list[Shown] = []
        self._bytes = 0
        self._secrets = list(secrets)
        self._at = 0
        self._top = 0
        self._follows = True

    @property
    def chosen(self) -> Shown | None:
        return self.rows[self._at] if self._at < len(self.rows) else None

    def add(self, rows: list[Shown], *, anew: bool = False) -> None:
        """More rows, or other ones. The oldest go when there are more than a log keeps."""
        if anew:
            self.rows, self._bytes, self._follows = [], 0, True
        self.rows += rows
        self._bytes += sum(row.logged.weight for row in rows)
        gone = 0
        while self._bytes > KEPT_BYTES and gone < len(self.rows) - 1:
            self._bytes -= self.rows[gone].logged.weight
            gone += 1
        if gone:
            del self.rows[:gone]
            self._at = max(self._at - gone, 0)
            self._top = max(self._top - gone, 0)
        if self._follows:
            self._at = max(len(self.rows) - 1, 0)
        self._settle()

    def move(self, key: str) -> bool:
        """Moves the cursor, if the key is one that does."""
        page = max(self.size.height - 1, 1)
        by = {**_MOVES, "pageup": -page, "pagedown": page, "ctrl+home": -len(self.rows), "ctrl+end": len(self.rows)}
        if key not in by:
            return False
        self._at = max(0, min(self._at + by[key], len(self.rows) - 1))
        self._follows = self._at >= len(self.rows) - 1
        self._settle()
        return True

    def _settle(self) -> None:
        rows = max(self.size.height, 1)
        self._top = max(min(self._top, self._at, len(self.rows) - rows), self._at - rows + 1, 0)
        self.refresh()

    def on_resize(self) -> None:
        self._settle()

    def render_line(self, y: int) -> Strip:
        look, width = self.app.look, self.size.width
        place = self._top + y
        if place >= len(self.rows):
            words = "Nothing here." if not self.rows and y == 0 else ""
            return look.line((words, look.dim)).adjust_cell_length(width, look.base)
        shown = self.rows[place]
        line = shown.logged
        is_chosen = place == self._at
        parts: list[tuple[str, Style | None]] = [
            ("❯ " if is_chosen else "  ", look.accent),
            (f"{clock(line)} ", look.dim),
            (f"{MARKS[line.kind]} ", _colour(look, line.kind)),
        ]
        if shown.method or shown.is_answer:
            parts.append((f"{title(shown)}  ", look.strong))
        parts.append((contents(shown, self._secrets, width * 4).replace("\n", " "), look.dim if shown.method else None))
        return look.line(*parts).adjust_cell_length(width, look.base)

    def on_click(self, event: events.Click) -> None:
        place = self._top + event.y
        if place < len(self.rows):
            self._at = place
            self._follows = False
            self.refresh()
            self.post_message(self.Opened(self.rows[place]))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(3)

    def _scroll(self, by: int) -> None:
        for _ in range(abs(by)):
            self.move("down" if by > 0 else "up")


def _colour(look: Look, kind: Kind) -> Style:
    return {"stderr": look.warn, "in": look.good, "out": look.primary, "trouble": look.bad}.get(kind, look.warn)


class Pages(Widget, can_focus=True):
    """A text of many lines, of which only what can be seen is drawn."""

    DEFAULT_CSS = "Pages { height: 1fr; }"
    app: AccordApp

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._top = 0
        self._rows: list[str] = []

    def show(self, text: str) -> None:
        self._text = text.split("\n")
        self._fold()

    def _fold(self) -> None:
        width = max(self.size.width, 10)
        self._rows = [part for row in self._text for part in _folded(row, width)]
        self.refresh()

    def on_resize(self) -> None:
        self._fold()

    def render_line(self, y: int) -> Strip:
        look, place = self.app.look, self._top + y
        words = self._rows[place] if place < len(self._rows) else ""
        return look.line((words, None)).adjust_cell_length(self.size.width, look.base)

    def scroll_rows(self, by: int) -> None:
        self._top = max(0, min(self._top + by, len(self._rows) - self.size.height))
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        page, all_ = max(self.size.height - 1, 1), len(self._rows)
        by = {**_MOVES, "j": 1, "k": -1, "pageup": -page, "pagedown": page, "space": page, "home": -all_, "end": all_}
        if event.key in by:
            event.stop()
            self.scroll_rows(by[event.key])

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(3)


def _folded(row: str, width: int) -> list[str]:
    """A line as rows that fit: some characters take two cells."""
    if row.isascii():
        return [row[at : at + width] for at in range(0, max(len(row), 1), width)]
    return chop_cells(row, width)


class MessageScreen(Above[None]):
    """One message, with its own lines and indents."""

    DEFAULT_CSS = """
    MessageScreen { align: center middle; }
    MessageScreen > Vertical { width: 95%; height: 95%; border: round $primary; padding: 0 1; background: $background; }
    """

    def __init__(self, shown: Shown, name: str, secrets: Iterable[str]) -> None:
        super().__init__()
        self._shown = shown
        self._name = name
        self._secrets = list(secrets)
        self._text = ""

    def compose(self) -> ComposeResult:
        line = self._shown.logged
        with Vertical() as box:
            box.border_title = words(f"{MARKS[line.kind]} {self._name}, {clock(line)}")
            yield Pages()
            yield Hints("↑ ↓ page up page down", "y copies", "esc")

    async def on_mount(self) -> None:
        self.query_one(Pages).focus()
        self._text = await asyncio.to_thread(pretty, self._shown.logged, self._secrets)
        self.query_one(Pages).show(self._text)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "enter"):
            event.stop()
            self.dismiss(None)
        elif event.key in ("y", "c"):
            event.stop()
            self.app.copy_to_clipboard(self._text)
            self.app.notify("Copied.")
