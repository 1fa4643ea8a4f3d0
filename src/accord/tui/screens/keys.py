"""Help: all keys on one page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.tui.commands import ASKED, COMMANDS, MOST_USED, QUEUED, READING, TYPING
from accord.tui.screens.modal import Modal

_WIDE, _NARROW = 84, 54
"""Columns from which on the key column is wide, and below which descriptions go under the keys."""
_WIDE_KEYS, _NARROW_KEYS = 34, 18
"""Width of the key column."""


class KeysScreen(Modal[None]):
    """Shows all keys."""

    key_hints = ("↑ ↓ scroll · esc back",)
    DEFAULT_CSS: ClassVar[str] = """
    KeysScreen { align: center middle; }
    KeysScreen > VerticalScroll {
        width: 90%; max-width: 100; height: 90%; border: round $primary; padding: 0 1; background: $background;
    }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Keys"
            yield Static()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._write)

    def _write(self) -> None:
        self.query_one(Static).update(_render_page(self.query_one(VerticalScroll).content_size.width))

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "question_mark", "f1", "enter"):
            event.stop()
            self.dismiss(None)


def _render_page(width: int) -> Group:
    """Render a table per section; in a narrow window, a single column."""
    everywhere = tuple((command.keys.replace(",", ", "), command.about) for command in COMMANDS if command.keys)
    parts = (
        ("Most used", MOST_USED),
        ("In the prompt", TYPING),
        ("In the transcript", READING),
        ("In the prompt queue (f6)", QUEUED),
        ("In a permission request", ASKED),
        ("Everywhere; Ctrl-P lists these too", everywhere),
    )
    page: list[RenderableType] = []
    for title, entries in parts:
        rows = [(keys, f"{about[0].upper()}{about[1:]}") for keys, about in entries]
        page.append(Text(title, style="bold underline"))
        if width < _NARROW:
            page += [each for keys, about in rows for each in (Text(keys, "bold"), Padding(Text(about), (0, 0, 0, 2)))]
        else:
            page.append(_table(rows, _WIDE_KEYS if width >= _WIDE else _NARROW_KEYS))
        page.append(Text())
    return Group(*page)


def _table(rows: Iterable[tuple[str, str]], width: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=2 + width)
    table.add_column(ratio=1)
    for keys, about in rows:
        table.add_row(Padding(Text(keys, style="bold"), (0, 0, 0, 2)), Text(about))
    return table
