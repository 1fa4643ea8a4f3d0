"""The line at the top: a tab for each talk, there when there are several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.tui.look import Look
    from accord.tui.pane import Pane

_MARKS = {"running": "◐", "waiting": "?", "gone": "✗", "starting": "◌", "opening": "◌"}


class TabBar(Widget):
    """Titles, and whether something waits there."""

    DEFAULT_CSS = "TabBar { height: 1; background: $background; display: none; }"

    class Chosen(Message):
        """This tab is wanted."""

        def __init__(self, pane: Pane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look
        self._ends: list[int] = []
        self.panes: list[Pane] = []

    def show(self, panes: list[Pane]) -> None:
        self.panes = panes
        self.display = len(panes) > 1
        self.refresh()

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        room = max(width // max(len(self.panes), 1) - 6, 6)
        parts = []
        self._ends = []
        at = 0
        for number, pane in enumerate(self.panes, 1):
            mark = _MARKS.get(pane.talk.state, "●" if pane.has_news else " ")
            words = f" {number} {mark} {one_line(pane.talk.title, room)} "
            style = look.primary + look.strong if pane.display else look.warn if mark in "?●" else look.dim
            parts += [(words, style), ("│", look.faint)]
            at += cell_len(words) + 1
            self._ends.append(at)
        return look.line(*parts).adjust_cell_length(width, look.base)

    def on_click(self, event: events.Click) -> None:
        for end, pane in zip(self._ends, self.panes, strict=False):
            if event.x < end:
                self.post_message(self.Chosen(pane))
                return
