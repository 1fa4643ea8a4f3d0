"""Taking text away by the line, the word or as a whole, and putting it back: as in shells, several in a row are one."""

from __future__ import annotations

from textual.document._document import EditResult, Location
from textual.widgets import TextArea

EMPTY = "alt+k"
"""The key that empties the whole prompt."""
_FORWARD = ("ctrl+k", "alt+delete", "ctrl+shift+k")
_BACKWARD = ("ctrl+u", "ctrl+w", "ctrl+backspace", "alt+backspace", "super+backspace")
_UNDO = ("ctrl+underscore", "ctrl+slash", "super+z")
_YANK = ("ctrl+y", "super+y")


class Killing(TextArea):
    """A text of which what was taken away last is kept. It has to be told each key before the key acts."""

    killed = ""
    """What was taken away last."""
    _key = ""
    _undoes = False
    _goes_on = False

    def note_key(self, key: str) -> None:
        """This key is pressed now."""
        before, self._key = self._key, key
        self._goes_on = key in (*_FORWARD, *_BACKWARD) and before in (*_FORWARD, *_BACKWARD)
        self._undoes = key in _UNDO or (key in _YANK and self._undoes)

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        result = super()._delete_via_keyboard(start, end)
        text = result.replaced_text if result is not None else ""
        if text and self._key in (*_FORWARD, *_BACKWARD):
            kept = self.killed if self._goes_on else ""
            self.killed = f"{text}{kept}" if self._key in _BACKWARD else f"{kept}{text}"
        return result

    def action_redo(self) -> None:
        """Puts back what was taken away last, where the cursor is; behind an undo, does again what it undid."""
        if self._undoes or not self.killed:
            super().action_redo()
        else:
            self.insert(self.killed)

    def empty(self) -> None:
        """Takes the whole text away."""
        if self.text:
            self.killed = self.text
            self.replace("", (0, 0), self.document.end)
