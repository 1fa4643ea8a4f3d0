"""Input guard: something that was just shown takes no key or click before the user can have seen it.

A key that is held down, or pressed a little late, is meant for what was shown before. Text typed too early goes to the
prompt instead; keys that would send or move something are ignored."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from textual import events
from textual.message_pump import MessagePump
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, TextArea

PAUSE_SECONDS = 0.6
"""How long the user must pause before something else may take the focus."""
SEEN_SECONDS = 0.5
"""How long something must be visible without a key press before it accepts input."""


class InputDelay:
    """The delay before input counts; restarts when something else is shown, and with each early key."""

    def __init__(self, owner: MessagePump, on_over: Callable[[], None]) -> None:
        self._owner = owner
        self._on_over = on_over
        self._timer: Timer | None = None

    @property
    def is_over(self) -> bool:
        """Whether input counts."""
        return self._timer is None

    def begin(self) -> None:
        """Restart the delay."""
        if self._timer is not None:
            self._timer.stop()
        timer: Timer = self._owner.set_timer(SEEN_SECONDS, lambda: self._end(timer))
        self._timer = timer

    def comes_early(self) -> bool:
        """Return whether input is too early; if so, restart the delay."""
        if self.is_over:
            return False
        self.begin()
        return True

    def _end(self, timer: Timer) -> None:
        # Textual queues a timer's callback, so that of a timer which was stopped meanwhile may still be called.
        if timer is self._timer:
            self._timer = None
            self._on_over()


class SeenFirst:
    """A question of an agent, in a screen or panel, that accepts no input before it can have been seen."""

    @abstractmethod
    def comes_early(self, event: events.Event) -> bool:
        """Return whether a key or click is too early to be meant for the question."""

    @property
    @abstractmethod
    def below(self) -> Widget | None:
        """The field that gets early input."""

    def type_below(self, event: events.Event) -> None:
        """Insert early input into the field below."""
        field = self.below
        if isinstance(event, events.Key) and event.key == "backspace" and isinstance(field, (TextArea, Input)):
            field.action_delete_left()
        text = typed_by(event)
        if text and isinstance(field, TextArea):
            field.insert(text)
        elif text and isinstance(field, Input):
            field.insert_text_at_cursor(text.splitlines()[0])


def typed_by(event: events.Event) -> str:
    """Return the text of a key press or paste."""
    if isinstance(event, events.Paste):
        return event.text
    if isinstance(event, events.Key) and event.is_printable and not event.key.startswith("alt+"):
        return event.character or ""
    return ""


def take_back(field: TextArea, typed: str) -> None:
    """Remove the last typed text, if it is still before the cursor."""
    row, column = field.cursor_location
    start = (row, column - len(typed))
    if start[1] >= 0 and field.get_text_range(start, (row, column)) == typed:
        field.delete(start, (row, column))
