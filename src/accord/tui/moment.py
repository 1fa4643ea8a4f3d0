"""A moment in which what was just shown is seen, before a key or a click counts for it.

Somebody who holds a key down, types on, or presses one a little late, means what was there before."""

from __future__ import annotations

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer

PAUSE = 0.6
"""How long the user must not have typed before something else takes the keys, in seconds."""
SEEN = 0.5
"""How long something must have been seen without a key being pressed, in seconds."""


class Moment:
    """Begins anew whenever something else is shown, and with each key that comes too early."""

    def __init__(self, owner: MessagePump, on_over: Callable[[], None]) -> None:
        self._owner = owner
        self._on_over = on_over
        self._timer: Timer | None = None

    @property
    def is_over(self) -> bool:
        """Whether what is shown has been seen, so that keys are meant for it."""
        return self._timer is None

    def begin(self) -> None:
        """Something is shown from now on."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._owner.set_timer(SEEN, self._end)

    def comes_early(self) -> bool:
        """Whether a key or a click cannot be meant for what is shown. Then there has to be a pause again."""
        if self.is_over:
            return False
        self.begin()
        return True

    def _end(self) -> None:
        self._timer = None
        self._on_over()
