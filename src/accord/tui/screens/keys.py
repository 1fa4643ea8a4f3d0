"""All keys, on one page."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.tui.keys import ASKED, DEEDS, READING, TYPING
from accord.tui.screens.above import Above


class KeysScreen(Above[None]):
    """The help."""

    DEFAULT_CSS = """
    KeysScreen { align: center middle; }
    KeysScreen > VerticalScroll {
        width: 90%; max-width: 100; height: 90%; border: round $primary; padding: 0 1; background: $background;
    }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Keys"
            box.border_subtitle = "esc"
            yield Static(_page())

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "question_mark", "f1", "enter"):
            event.stop()
            self.dismiss(None)


def _page() -> Text:
    page = Text()
    everywhere = tuple((deed.keys.replace(",", ", "), deed.about) for deed in DEEDS if deed.keys)
    parts = (
        ("In the prompt", TYPING),
        ("In the conversation", READING),
        ("When you are asked", ASKED),
        ("Everywhere", (("ctrl+p", "All commands, to be searched"), *everywhere)),
    )
    for title, rows in parts:
        page.append(f"{title}\n", style="bold")
        for keys, about in rows:
            page.append(f"  {keys:<30} ", style="bold dim")
            page.append(f"{about}\n")
        page.append("\n")
    return page
