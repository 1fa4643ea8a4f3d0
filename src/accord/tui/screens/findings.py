"""What the doctor finds, station by station, and what to do about it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.tui.fault import beside
from accord.tui.harmless import words
from accord.tui.outside import Finding
from accord.tui.plain import plain
from accord.tui.screens.above import Above


class FindingsScreen(Above[None]):
    """Shows each finding as it comes."""

    key_hints = ("↑ ↓ scroll · esc goes back",)
    DEFAULT_CSS = """
    FindingsScreen { align: center middle; }
    FindingsScreen > VerticalScroll {
        width: 90%; height: auto; max-height: 90%; border: round $primary; padding: 0 1; background: $background;
    }
    """

    def __init__(self, title: str, findings: AsyncIterator[Finding]) -> None:
        super().__init__()
        self._title = title
        self._findings = findings

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = words(self._title)
            yield Static("looking …")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        beside(self, self._look())

    async def _look(self) -> None:
        page = Text()
        async for found in self._findings:
            page.append("✓ " if found.ok else "✗ ", style="green" if found.ok else "red")
            page.append(f"{found.stage}: ", style="bold")
            page.append(f"{plain(found.found)}\n")
            if found.advice:
                page.append(f"  → {plain(found.advice)}\n", style="dim")
            self.query_one(Static).update(page.copy())
        page.append("\nThat was all.", style="dim")
        self.query_one(Static).update(page)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q"):
            event.stop()
            self.dismiss(None)
