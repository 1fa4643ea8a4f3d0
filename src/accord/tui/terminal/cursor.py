"""Position of the terminal's own cursor, which screen readers and input methods follow."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from textual.geometry import Offset
from textual.screen import Screen
from textual.widgets import Input


@runtime_checkable
class HasCursor(Protocol):
    """A widget with a text cursor."""

    @property
    def cursor_screen_offset(self) -> Offset: ...


@runtime_checkable
class HasReadingPosition(Protocol):
    """A screen that shows screen readers where to read."""

    @property
    def reading_position(self) -> Offset | None: ...


def find_cursor(screen: Screen[Any], *, for_screen_reader: bool) -> Offset | None:
    """Find where the user types or reads, even if widgets around it have moved since. None if nothing has a cursor."""
    if for_screen_reader and isinstance(screen, HasReadingPosition) and screen.reading_position is not None:
        return screen.reading_position
    widget = screen.focused
    if not isinstance(widget, HasCursor):
        return None
    position = widget.cursor_screen_offset
    # An Input reports one cell too many when the cursor is at the end of its text.
    return position - Offset(1, 0) if isinstance(widget, Input) and widget.cursor_at_end else position
