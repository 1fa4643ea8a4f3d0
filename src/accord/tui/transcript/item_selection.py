"""The selected item of a transcript view, and how the cursor moves from item to item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.transcript.blocks.factory import key_of

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem
    from accord.tui.transcript.view import TranscriptView

_SHOWS_HINTS = ("tool", "subagent")
"""Kinds of items that show more while they are selected."""


class ItemSelection:
    """Tracks the selected item, and scrolls it into view."""

    def __init__(self, view: TranscriptView) -> None:
        self._view = view
        self._layout = view.timeline_layout
        self._index: int | None = None

    @property
    def index(self) -> int | None:
        return self._index

    @index.setter
    def index(self, index: int | None) -> None:
        self._index = index
        self.update_chosen()

    @property
    def item(self) -> TimelineItem | None:
        timeline = self._layout.timeline
        return timeline[self._index] if self._index is not None and self._index < len(timeline) else None

    @property
    def row(self) -> int:
        """The row of the view in which the item starts."""
        rows = (row for row, (_, index) in enumerate(self._layout.visible_lines) if index == self._index)
        return next(rows, 0)

    def update_chosen(self) -> None:
        """Pass the selected item to the blocks, some of which then show key hints."""
        item, context = self.item if self._view.has_focus else None, self._view.context
        key = key_of(item, 0) if item is not None else None
        before, context.chosen = context.chosen, key
        if before != key:
            self._layout.update([each for each in (before, key) if each is not None and each[0] in _SHOWS_HINTS])

    def select(self, index: int) -> None:
        """Select an item and scroll it into view."""
        count = len(self._layout.timeline)
        if count:
            self.index = place = max(0, min(index, count - 1))
            self._layout.reveal(place)
            self._view.repaint()

    def select_visible(self) -> None:
        """Select an item in view, unless the selected one is."""
        if self._layout.timeline and self._index not in self._layout.visible_items():
            self.index = self._find_last_whole()

    def move(self, by: int) -> None:
        """Select the next or previous item; if the selected one is out of view, the last visible item."""
        if self._index is None or self._index not in self._layout.visible_items():
            self.select(self._find_last_whole())
            return
        place, blocks = self._index + by, self._layout.blocks
        while 0 <= place < len(blocks.timeline) and not blocks.lines(place):
            place += by  # it isn't shown
        self.select(place if 0 <= place < len(blocks.timeline) else self._index)

    def move_first(self) -> None:
        self._view.to_start()
        blocks = self._layout.blocks
        self.select(next((place for place in range(len(blocks.timeline)) if blocks.lines(place)), 0))

    def move_last(self) -> None:
        """Scroll to the end, follow new output, and select the last item."""
        self._view.to_end()
        self.index = self._find_last_whole() if self._layout.timeline else None

    def forget_if_following(self) -> None:
        """Forget the selection when the user enters a view that follows the agent: they mean its latest item."""
        if self._layout.following:
            self.index = None

    def _find_last_whole(self) -> int:
        """Return the last entirely visible item; the last visible one if there is none, or if the end is in view."""
        layout = self._layout
        last = max(layout.visible_items(), default=0)
        rows = sum(index == last for _, index in layout.visible_lines)
        is_truncated = not layout.following and rows < len(layout.blocks.cached_lines(last) or ())
        return last - 1 if is_truncated and last - 1 in layout.visible_items() else last
