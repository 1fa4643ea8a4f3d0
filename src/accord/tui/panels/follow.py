"""Follow panel: shows the file the agent is working on, around the current line."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background

if TYPE_CHECKING:
    from accord.model.tool import Diff
    from accord.tui.session.activity import WorkLocation
    from accord.tui.session.controller import SessionController
    from accord.tui.tab.file_preview import FilePreview
    from accord.tui.theme import TextStyles

BESIDE = 140
"""Columns from which on the panel is beside the transcript; below that, it is above the prompt."""
MIN_PAUSE_SECONDS = 0.15
"""Minimum seconds between two reads; slow reads are followed by longer pauses, so that keys stay responsive."""
TALL = 16
"""Rows from which on it fits above the prompt."""
_BOTH = 190
"""Columns from which on the side panel fits as well."""


class FollowPanel(Widget):
    """Shows the latest location of the latest tool call."""

    DEFAULT_CSS: ClassVar[str] = """
    FollowPanel { background: $background; padding: 0 1; }
    FollowPanel.beside { width: 42%; height: 1fr; border-left: solid $line; }
    FollowPanel.below { width: 1fr; height: 30%; min-height: 6; border-top: solid $line; }
    """

    class Chosen(Message):
        """The user double-clicked: open the location in the editor."""

        def __init__(self, place: WorkLocation) -> None:
            super().__init__()
            self.place = place

    def __init__(
        self, text_styles: TextStyles, controller: Callable[[], SessionController], cwd: str, *, beside: bool
    ) -> None:
        super().__init__(classes="beside" if beside else "below")
        self.text_styles: TextStyles = text_styles
        self.is_beside = beside
        self._controller = controller
        self._cwd = cwd
        self._place: WorkLocation | None = None
        self._peek: FilePreview | None = None
        self._steps = -1
        self._reading = False
        self._moved = 0
        self._lines: list[Strip] = []

    # -- keeping up

    def update(self) -> None:
        """Read again if the agent has moved on."""
        work = self._controller().activity
        if work.steps != self._steps and work.location is not None and not self._reading:
            self._steps = work.steps
            self._reading = True
            run_in_background(self, self._read(work.location))

    async def _read(self, place: WorkLocation) -> None:
        """Read the file in a thread; changes in the meantime are read next."""
        controller = self._controller()
        call = controller.transcript.tool_calls.get(place.call) if controller.transcript is not None else None
        path, diffs = os.path.join(self._cwd, place.path), call.diffs if call is not None else []
        began = time.monotonic()
        try:
            buffer = controller.process.workspace.unsaved_text(path)
            self._peek = await asyncio.to_thread(self._read_file, place, path, diffs, buffer)
            if place != self._place:
                self._moved = 0
            self._place = place
            self.refresh()
            await asyncio.sleep(max(MIN_PAUSE_SECONDS, 3 * (time.monotonic() - began)))
        finally:
            self._reading = False
        self.update()

    def _read_file(self, place: WorkLocation, path: str, diffs: list[Diff], buffer: str | None) -> FilePreview:
        from accord.tui.tab.file_preview import changed_line, preview_file

        line = place.line if place.line is not None else changed_line(place.path, diffs)
        return preview_file(path, line, self.text_styles, buffer, self._peek)

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.text_styles = text_styles
        self._steps, self._peek = -1, None
        self.update()

    # -- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        self._lines = self._render_all(self.size.width, self.size.height)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else self.text_styles.line(("", None))
        return line.adjust_cell_length(self.size.width, self.text_styles.base)

    def _render_all(self, width: int, height: int) -> list[Strip]:
        text_styles, place, seen = self.text_styles, self._place, self._peek
        if place is None or seen is None:
            return [
                text_styles.line(
                    (one_line("Following: the agent hasn't reported a file location yet.", width), text_styles.dim)
                )
            ]
        path = place.path.removeprefix(f"{self._cwd}/")
        name = path if place.line is None else f"{path}:{place.line}"
        room = max(width - len(name) - 2, 0)
        title = one_line(place.title, room) if room > 8 and place.title else ""
        lines = [
            text_styles.line(
                (one_line(name, width), text_styles.accent + text_styles.strong), (f"  {title}", text_styles.dim)
            )
        ]
        if seen.words:
            lines.append(text_styles.line((one_line(seen.words, width), text_styles.warn)))
        return lines + self._rows(seen, width, height - len(lines))

    def _rows(self, seen: FilePreview, width: int, height: int) -> list[Strip]:
        text_styles = self.text_styles
        count = len(seen.lines)
        if not count or height <= 0:
            return []
        at = (seen.line - seen.first) if seen.line is not None else (count - 1 if seen.words else 0)
        top = max(0, min(at - height // 3 + self._moved, count - height))
        digits = len(str(seen.first + count - 1))
        rows = []
        for index in range(top, min(top + height, count)):
            number = seen.first + index
            is_current = number == seen.line
            ground = text_styles.said if is_current else None
            edge = text_styles.line(
                (
                    f"{'▶' if is_current else ' '}{number:>{digits}} ",
                    text_styles.accent if is_current else text_styles.dim,
                )
            )
            body = text_styles.draw(seen.lines[index], 2000, ground)[:1] or [text_styles.line(("", ground))]
            style = text_styles.base if ground is None else text_styles.base + ground
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
    """Return whether the side panel fits beside the follow panel."""
    return width < BESIDE or width >= _BOTH
