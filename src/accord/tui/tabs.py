"""The line at the top: a tab for each talk, there when there are several.

Where not all of them have room, those around the tab on the screen are seen; at either end stands how many there are
beyond it, and whether one of them waits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.plain import one_line

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.look import Look
    from accord.tui.pane import Pane

_MARKS = {"running": "◐", "waiting": "?", "gone": "✗", "starting": "◌", "opening": "◌"}
_NEWS = "●"
_BEYOND = 5
"""Columns for what is told of the tabs beyond an end."""


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
        self._ends: list[tuple[int, Pane]] = []
        """Up to which column which tab is meant."""
        self._first = 0
        self.panes: list[Pane] = []

    def show(self, panes: list[Pane]) -> None:
        self.panes = panes
        self.display = len(panes) > 1
        self.refresh()

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        room = max(width // max(len(self.panes), 1) - 6, 6)
        tabs = [f" {at} {_mark(pane)} {one_line(pane.talk.title, room)} " for at, pane in enumerate(self.panes, 1)]
        active = next((place for place, pane in enumerate(self.panes) if pane.display), 0)
        self._first, end = seen([cell_len(words) + 1 for words in tabs], active, self._first, width)
        parts: list[tuple[str, Style | None]] = []
        self._ends = []
        if before := self.panes[: self._first]:
            self._tell(parts, f"‹{len(before)}{_most_urgent(before)}", before[::-1])
        for words, pane in list(zip(tabs, self.panes, strict=True))[self._first : end]:
            mark = _mark(pane)
            style = look.primary + look.strong if pane.display else look.warn if mark in f"?{_NEWS}" else look.dim
            parts += [(words, style), ("│", look.faint)]
            self._ends.append((_length(parts), pane))
        if behind := self.panes[end:]:
            words = f"{len(behind)}{_most_urgent(behind)}›"
            parts.append((" " * (width - _length(parts) - len(words)), None))
            self._tell(parts, words, behind)
        return look.line(*parts).adjust_cell_length(width, look.base)

    def _tell(self, parts: list[tuple[str, Style | None]], words: str, beyond: list[Pane]) -> None:
        """Tells of the tabs beyond an end, the nearest first. A click there goes to one that waits, or the nearest."""
        is_urgent = _most_urgent(beyond) != " "
        parts.append((words, self.look.warn if is_urgent else self.look.dim))
        wanted = next((pane for pane in beyond if pane.talk.state == "waiting"), beyond[0])
        if not self._ends:
            parts.append((" " * (_BEYOND - len(words)), None))
        self._ends.append((_length(parts), wanted))

    def on_click(self, event: events.Click) -> None:
        starts = [0, *(end for end, _ in self._ends)]
        for (start, end), (_, pane) in zip(pairwise(starts), self._ends, strict=True):
            if start <= event.x < end:
                self.post_message(self.Chosen(pane))
                return


def seen(widths: Sequence[int], active: int, first: int, width: int) -> tuple[int, int]:
    """The tabs that are seen, from one place up to another, the active one among them. They begin at `first` if they
    can: a tab that is gone to stays where it is, if it is seen already."""
    if sum(widths) <= width:
        return 0, len(widths)

    def fits(start: int, end: int) -> bool:
        beyond = _BEYOND * ((start > 0) + (end < len(widths)))
        return sum(widths[start:end]) + beyond <= width

    start = min(first, active)
    while start < active and not fits(start, active + 1):
        start += 1
    end = active + 1
    while end < len(widths) and fits(start, end + 1):
        end += 1
    while start > 0 and fits(start - 1, end):
        start -= 1
    return start, end


def _length(parts: list[tuple[str, Style | None]]) -> int:
    return sum(cell_len(words) for words, _ in parts)


def _mark(pane: Pane) -> str:
    return _MARKS.get(pane.talk.state, _NEWS if pane.has_news else " ")


def _most_urgent(panes: list[Pane]) -> str:
    """The mark of a tab that waits, or else of one with news; a space where there is neither."""
    marks = {_mark(pane) for pane in panes}
    return next((mark for mark in ("?", _NEWS) if mark in marks), " ")
