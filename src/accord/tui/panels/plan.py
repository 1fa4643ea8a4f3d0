"""The plan in one line, for where the side panel has no room; and what all pictures of a plan have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.model.session import Plan
    from accord.tui.look import Look

MARKS = {"pending": "○", "in_progress": "◐", "completed": "✓", "cancelled": "⊘"}
OVER = ("completed", "cancelled")


def done(plan: Plan) -> int:
    """How many entries of a plan are over."""
    return sum(entry.status in OVER for entry in plan.entries)


def progress(plans: Iterable[Plan]) -> str:
    """How far the work is, in one line; nothing when there is no plan, or nothing left of it."""
    open_ones = [plan for plan in plans if done(plan) < len(plan.entries)]
    if not open_ones:
        return ""
    plan = open_ones[-1]
    left = [entry for entry in plan.entries if entry.status not in OVER]
    now = next((entry for entry in left if entry.status == "in_progress"), left[0])
    word = "" if now.status == "in_progress" else "next: "
    return f"plan {done(plan)}/{len(plan.entries)}: {word}{one_line(now.content)}"


class PlanLine(Widget):
    """One line above the prompt."""

    DEFAULT_CSS = "PlanLine { height: 1; padding: 0 1; background: $background; }"

    class Wanted(Message):
        """The user clicked on it: the whole plan is wanted."""

    def __init__(self, look: Look, words: Callable[[], str]) -> None:
        super().__init__()
        self.look = look
        self._words = words

    def render_line(self, y: int) -> Strip:
        look, width, hint = self.look, self.size.width, "  alt+p"
        words = one_line(self._words(), max(width - len(hint), 1))
        room = " " * max(width - len(words) - len(hint), 0)
        return look.line((words, look.accent), (f"{room}{hint}", look.dim)).adjust_cell_length(width, look.base)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Wanted())
