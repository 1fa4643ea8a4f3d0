"""The plan in one line, for windows without a side panel; and helpers shared by all views of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line

if TYPE_CHECKING:
    from accord.model.session import Plan
    from accord.tui.theme import TextStyles

MARKS = {"pending": "○", "in_progress": "◐", "completed": "✓", "cancelled": "⊘"}
OVER = ("completed", "cancelled")


def count_done(plan: Plan) -> int:
    """Count the finished entries."""
    return sum(entry.status in OVER for entry in plan.entries)


def progress(plans: Iterable[Plan]) -> str:
    """Describe the progress in one line; empty without a plan or when everything is done."""
    open_ones = [plan for plan in plans if count_done(plan) < len(plan.entries)]
    if not open_ones:
        return ""
    plan = open_ones[-1]
    left = [entry for entry in plan.entries if entry.status not in OVER]
    now = next((entry for entry in left if entry.status == "in_progress"), left[0])
    word = "" if now.status == "in_progress" else "next: "
    return f"plan {count_done(plan)}/{len(plan.entries)}: {word}{one_line(now.content)}"


class PlanLine(Widget):
    """One line above the prompt."""

    DEFAULT_CSS: ClassVar[str] = "PlanLine { height: 1; padding: 0 1; background: $background; }"

    class Wanted(Message):
        """The user clicked: show the whole plan."""

    def __init__(self, text_styles: TextStyles, words: Callable[[], str]) -> None:
        super().__init__()
        self.text_styles = text_styles
        self._words = words

    def render_line(self, y: int) -> Strip:
        text_styles, width, hint = self.text_styles, self.size.width, "  alt+p"
        words = one_line(self._words(), max(width - len(hint), 1))
        room = " " * max(width - len(words) - len(hint), 0)
        return text_styles.line((words, text_styles.accent), (f"{room}{hint}", text_styles.dim)).adjust_cell_length(
            width, text_styles.base
        )

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Wanted())
