"""Full-screen view of the plan, updated live."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.terminal_text import one_line, sanitize
from accord.tui.panels.plan import MARKS, OVER, count_done
from accord.tui.screens.modal import Modal

if TYPE_CHECKING:
    from accord.model.session import Plan

_MAX_CHARACTERS = 20_000
_INTERVAL_SECONDS = 0.3


class PlanScreen(Modal[None]):
    """Shows all plans of a session."""

    key_hints = ("↑ ↓ scroll · esc back",)
    DEFAULT_CSS: ClassVar[str] = """
    PlanScreen { align: center middle; }
    PlanScreen > VerticalScroll {
        width: 90%; max-width: 100; height: auto; max-height: 90%; border: round $primary; padding: 0 1;
        background: $background;
    }
    """

    def __init__(self, plans: Callable[[], Iterable[Plan]]) -> None:
        super().__init__()
        self._plans = plans
        self._shown = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Plan"
            yield Static()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self._draw()
        self.set_interval(_INTERVAL_SECONDS, self._draw)

    def _draw(self) -> None:
        page = format_plans(self._plans())
        if page.markup != self._shown:
            self._shown = page.markup
            self.query_one(Static).update(page)

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "enter", "alt+p"):
            event.stop()
            self.dismiss(None)


def format_plans(plans: Iterable[Plan]) -> Text:
    """Format plans as text."""
    page = Text()
    for plan in plans:
        if page:
            page.append("\n\n")
        count = f"{count_done(plan)} of {len(plan.entries)} done" if plan.entries else "notes"
        page.append(count, style="bold")
        for entry in plan.entries:
            is_over = entry.status in OVER
            style = "dim" if is_over else "bold" if entry.priority == "high" else ""
            page.append(f"\n{MARKS.get(entry.status, '○')} ")
            page.append(sanitize(entry.content)[:_MAX_CHARACTERS].strip().replace("\n", "\n  "), style=style)
            page.append(_describe_entry(entry.status, entry.priority, is_over), style="dim")
        if plan.markdown:
            page.append(f"\n{sanitize(plan.markdown)[:_MAX_CHARACTERS]}")
        if plan.uri:
            page.append(f"\n{one_line(plan.uri)}")
    return page if page else Text("This session has no plan.", style="dim")


def _describe_entry(status: str, priority: str, is_over: bool) -> str:
    words = ["abandoned"] if status == "cancelled" else ["now"] if status == "in_progress" else []
    words += [f"{one_line(priority, 20)} priority"] if priority in ("high", "low") and not is_over else []
    return f"  ({', '.join(words)})" if words else ""
