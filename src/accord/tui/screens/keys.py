"""All keys, on one page."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.tui.keys import ASKED, DEEDS, QUEUED, READING, TYPING
from accord.tui.screens.above import Above

_WIDE, _NARROW = 84, 54
"""Columns from which there is room for wide keys, and below which what they do stands under them."""
_MOST, _LEAST = 26, 18
"""Columns for the keys."""


class KeysScreen(Above[None]):
    """The help."""

    key_hints = ("↑ ↓ scroll · esc goes back",)
    DEFAULT_CSS = """
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
        self.query_one(Static).update(_page(self.query_one(VerticalScroll).content_size.width))

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "question_mark", "f1", "enter"):
            event.stop()
            self.dismiss(None)


def _page(width: int) -> Group:
    """One table for each part; what is too long for its column goes on below, in that column. In a narrow window there
    is one column alone."""
    everywhere = tuple((deed.keys.replace(",", ", "), deed.about) for deed in DEEDS if deed.keys)
    parts = (
        ("In the prompt", TYPING),
        ("In the conversation", READING),
        ("Among the prompts that wait (f6)", QUEUED),
        ("When you are asked", ASKED),
        ("Everywhere", (("ctrl+p", "All commands, to be searched"), *everywhere)),
    )
    page: list[RenderableType] = []
    for title, told in parts:
        rows = [(keys, f"{about[0].upper()}{about[1:]}") for keys, about in told]
        page.append(Text(title, style="bold underline"))
        if width < _NARROW:
            page += [each for keys, about in rows for each in (Text(keys, "bold"), Padding(Text(about), (0, 0, 0, 2)))]
        else:
            page.append(_table(rows, _MOST if width >= _WIDE else _LEAST))
        page.append(Text())
    return Group(*page)


def _table(rows: Iterable[tuple[str, str]], width: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=2 + width)
    table.add_column(ratio=1)
    for keys, about in rows:
        table.add_row(Padding(Text(keys, style="bold"), (0, 0, 0, 2)), Text(about))
    return table
