"""The findings of `accord doctor`, step by step, with advice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.terminal_text import sanitize
from accord.tui.errors import run_in_background
from accord.tui.host import Finding
from accord.tui.screens.modal import Modal
from accord.tui.text import make_label


class FindingsScreen(Modal[None]):
    """Shows findings as they arrive."""

    key_hints = ("↑ ↓ scroll · esc back",)
    DEFAULT_CSS: ClassVar[str] = """
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
            box.border_title = make_label(self._title)
            yield Static("Checking…")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        run_in_background(self, self._collect())

    async def _collect(self) -> None:
        page = Text()
        async for found in self._findings:
            if not found.ok:
                mark, meaning = "✗", "error"
            elif found.advice:
                mark, meaning = "!", "warning"
            else:
                mark, meaning = "✓", "success"
            page.append(f"{mark} ", style=self.app.theme_variables[meaning])
            page.append(f"{found.stage}: ", style="bold")
            page.append(f"{sanitize(found.found)}\n")
            if found.advice:
                page.append(f"  → {sanitize(found.advice)}\n", style="dim")
            self.query_one(Static).update(page.copy())
        page.append("\nDone.", style="dim")
        self.query_one(Static).update(page)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q"):
            event.stop()
            self.dismiss(None)
