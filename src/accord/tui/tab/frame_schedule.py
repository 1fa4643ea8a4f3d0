"""When a tab draws: at most once per frame, and after the keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.timer import Timer

if TYPE_CHECKING:
    from accord.tui.tab.tab import Tab

FRAME_SECONDS = 0.05
"""The time between two frames. A frame that takes long is followed by a longer pause, so that a key never waits for
more than one."""
KEY_FIRST_SECONDS = 0.05
"""A frame waits this long after a key, so that the key is drawn first."""
MAX_FRAME_DELAYS = 4


class FrameSchedule:
    """Collects the changes of a tab until its next frame. `draw` returns whether there is more to draw."""

    def __init__(self, tab: Tab, draw: Callable[[], bool]) -> None:
        self._tab = tab
        self._draw = draw
        self._next: Timer | None = None
        self._pause = FRAME_SECONDS
        self._delays = 0

    def request(self) -> None:
        """Draw with the next frame."""
        if self._next is None and self._tab.is_mounted:
            self._next = self._tab.set_timer(self._pause, self._run)

    def _run(self) -> None:
        self._next = None
        if self._tab.display and self._let_key_pass():
            return
        began = time.perf_counter()
        has_more = self._draw()
        if self._tab.display:
            self._pause = max(FRAME_SECONDS, 3 * (time.perf_counter() - began))
        if has_more:
            self.request()

    def _let_key_pass(self) -> bool:
        """Delay the frame so that a key that was just pressed is drawn first; but not forever."""
        if time.monotonic() - self._tab.app.last_key > KEY_FIRST_SECONDS or self._delays >= MAX_FRAME_DELAYS:
            self._delays = 0
            return False
        self._delays += 1
        self._next = self._tab.set_timer(KEY_FIRST_SECONDS, self._run)
        return True
