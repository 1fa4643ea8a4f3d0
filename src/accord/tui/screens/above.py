"""A screen above the others that goes away once: Esc pressed twice in a hurry means what it means pressed once."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Above(ModalScreen[ScreenResultType]):
    """What asks or shows something above the conversation."""

    _is_unwanted = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if not self.is_active:  # gone already, or below another: its keys may still be on their way
            return AwaitComplete()
        return super().dismiss(result)

    def take_back(self) -> None:
        """Nobody wants to know the answer any more: it goes, and if others lie above it, as soon as they have gone."""
        self._is_unwanted = True
        self.dismiss()

    def on_screen_resume(self) -> None:
        if self._is_unwanted:
            self.dismiss()
