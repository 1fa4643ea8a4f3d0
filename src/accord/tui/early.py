"""What is typed too early for something that was just asked goes on to where it was being typed.

Only letters do, what is pasted, and backspace: a key that would send something, or go somewhere, does nothing there."""

from __future__ import annotations

from abc import abstractmethod

from textual import events
from textual.widget import Widget
from textual.widgets import Input, TextArea


class SeenFirst:
    """What agents ask, on a screen of its own or in a panel: no key counts for it before it has been seen."""

    @abstractmethod
    def comes_early(self, event: events.Event) -> bool:
        """Whether a key or a click cannot be meant for what is asked here."""

    @property
    @abstractmethod
    def below(self) -> Widget | None:
        """Where one types when nothing is asked."""

    def type_below(self, event: events.Event) -> None:
        """Types there what came too early."""
        field = self.below
        if isinstance(event, events.Key) and event.key == "backspace" and isinstance(field, (TextArea, Input)):
            field.action_delete_left()
        text = typed_by(event)
        if text and isinstance(field, TextArea):
            field.insert(text)
        elif text and isinstance(field, Input):
            field.insert_text_at_cursor(text.splitlines()[0])


def typed_by(event: events.Event) -> str:
    """The text that a key types, or that is pasted."""
    if isinstance(event, events.Paste):
        return event.text
    if isinstance(event, events.Key) and event.is_printable and not event.key.startswith("alt+"):
        return event.character or ""
    return ""


def take_back(field: TextArea, typed: str) -> None:
    """Takes away what was typed last, if it is still what stands before the cursor."""
    row, column = field.cursor_location
    start = (row, column - len(typed))
    if start[1] >= 0 and field.get_text_range(start, (row, column)) == typed:
        field.delete(start, (row, column))
