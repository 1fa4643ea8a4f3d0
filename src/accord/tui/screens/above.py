"""A screen above the others that goes away once: Esc pressed twice in a hurry means what it means pressed once."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Above(ModalScreen[ScreenResultType]):
    """What asks or shows something above the conversation."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if not self.is_current:  # gone already: its keys may still be on their way
            return AwaitComplete()
        return super().dismiss(result)
