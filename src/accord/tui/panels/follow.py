"""The panel that follows the agent: the file where it is at work, around the line, as it stands now."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.fault import beside
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.model.tool import Diff
    from accord.tui.look import Look
    from accord.tui.peek import Peek
    from accord.tui.talk import Talk
    from accord.tui.work import Place

BESIDE = 140
"""Columns from which the panel stands beside the conversation; below it stands above the prompt."""
REST = 0.15
"""Seconds between two looks at least; the longer one takes, the longer the rest, so that keys are answered."""
TALL = 16
"""Rows from which there is room for it above the prompt."""
_BOTH = 190
"""Columns from which the side panel has room as well."""


class FollowPanel(Widget):
    """Shows the latest place of the latest tool call, and keeps up with it."""

    DEFAULT_CSS = """
    FollowPanel { background: $background; padding: 0 1; }
    FollowPanel.beside { width: 42%; height: 1fr; border-left: solid $foreground 20%; }
    FollowPanel.below { width: 1fr; height: 30%; min-height: 6; border-top: solid $foreground 20%; }
    """

    class Chosen(Message):
        """The user clicked on it twice: the place is wanted in the editor."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    def __init__(self, look: Look, talk: Callable[[], Talk], cwd: str, *, beside: bool) -> None:
        super().__init__(classes="beside" if beside else "below")
        self.look = look
        self.is_beside = beside
        self._talk = talk
        self._cwd = cwd
        self._place: Place | None = None
        self._peek: Peek | None = None
        self._steps = -1
        self._reading = False
        self._moved = 0
        self._lines: list[Strip] = []

    # -- keeping up

    def update(self) -> None:
        """Looks again, if the agent went on since."""
        work = self._talk().work
        if work.steps != self._steps and work.place is not None and not self._reading:
            self._steps = work.steps
            self._reading = True
            beside(self, self._look(work.place))

    async def _look(self, place: Place) -> None:
        """Reads in a thread; what happened meanwhile is looked at next."""
        talk = self._talk()
        call = talk.transcript.tool_calls.get(place.call) if talk.transcript is not None else None
        path, diffs = os.path.join(self._cwd, place.path), call.diffs if call is not None else []
        began = time.monotonic()
        try:
            buffer = talk.link.unsaved(path)
            self._peek = await asyncio.to_thread(self._seen, place, path, diffs, buffer)
            if place != self._place:
                self._moved = 0
            self._place = place
            self.refresh()
            await asyncio.sleep(max(REST, 3 * (time.monotonic() - began)))
        finally:
            self._reading = False
        self.update()

    def _seen(self, place: Place, path: str, diffs: list[Diff], buffer: str | None) -> Peek:
        from accord.tui.peek import changed_line, peek

        line = place.line if place.line is not None else changed_line(place.path, diffs)
        return peek(path, line, self.look, buffer, self._peek)

    def restyle(self, look: Look) -> None:
        """Takes other colours."""
        self.look = look
        self._steps, self._peek = -1, None
        self.update()

    # -- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        self._lines = self._drawn(self.size.width, self.size.height)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else self.look.line(("", None))
        return line.adjust_cell_length(self.size.width, self.look.base)

    def _drawn(self, width: int, height: int) -> list[Strip]:
        look, place, seen = self.look, self._place, self._peek
        if place is None or seen is None:
            return [look.line((one_line("Following: the agent has told no place in a file yet.", width), look.dim))]
        path = place.path.removeprefix(f"{self._cwd}/")
        name = path if place.line is None else f"{path}:{place.line}"
        room = max(width - len(name) - 2, 0)
        title = one_line(place.title, room) if room > 8 and place.title else ""
        lines = [look.line((one_line(name, width), look.primary + look.strong), (f"  {title}", look.dim))]
        if seen.words:
            lines.append(look.line((one_line(seen.words, width), look.warn)))
        return lines + self._rows(seen, width, height - len(lines))

    def _rows(self, seen: Peek, width: int, height: int) -> list[Strip]:
        look = self.look
        count = len(seen.lines)
        if not count or height <= 0:
            return []
        at = (seen.line - seen.first) if seen.line is not None else (count - 1 if seen.words else 0)
        top = max(0, min(at - height // 3 + self._moved, count - height))
        digits = len(str(seen.first + count - 1))
        rows = []
        for index in range(top, min(top + height, count)):
            number = seen.first + index
            is_meant = number == seen.line
            ground = look.said if is_meant else None
            edge = look.line((f"{'▶' if is_meant else ' '}{number:>{digits}} ", look.accent if is_meant else look.dim))
            body = look.draw(seen.lines[index], 2000, ground)[:1] or [look.line(("", ground))]
            style = look.base if ground is None else look.base + ground
            room = max(width - digits - 2, 1)
            rows.append(Strip.join([edge, body[0].crop(0, room).extend_cell_length(room, style)]))
        return rows

    # -- the mouse

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._moved -= 3
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._moved += 3
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if self._place is not None and event.chain == 2:
            self.post_message(self.Chosen(self._place))


def leaves_room(width: int) -> bool:
    """Whether a panel that follows leaves room for the side panel."""
    return width < BESIDE or width >= _BOTH
