"""A screen above the others that goes away once: Esc pressed twice in a hurry means what it means pressed once."""

from __future__ import annotations

from textual import events
from textual.await_complete import AwaitComplete
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from accord.tui.early import SeenFirst
from accord.tui.moment import Moment

_OURS = ("ctrl+c", "ctrl+z")
_SOON = "just asked: keys count in a moment"


class Above(SeenFirst, ModalScreen[ScreenResultType]):
    """What asks or shows something above the conversation."""

    _is_unwanted = False
    _moment: Moment | None = None
    _hint: str | None = None

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
        elif self._moment is not None:
            self._moment.begin()
            self._say_keys()

    # -- what agents ask

    def hold_on(self) -> None:
        """It was not the user who opened this: no key counts for it before it has been seen for a moment."""
        self._moment = Moment(self, self._say_keys)
        self._moment.begin()

    def comes_early(self, event: events.Event) -> bool:
        """Whether a key or a click cannot be meant for what is asked here."""
        is_ours = isinstance(event, events.Key) and event.key in _OURS
        return self._moment is not None and not is_ours and self._moment.comes_early()

    @property
    def below(self) -> Widget | None:
        """What has the keys when this is not there."""
        field = self.app.screen_stack[-2].focused
        return field.below if isinstance(field, SeenFirst) else field

    def _say_keys(self) -> None:
        """Says below the box which keys there are, once they count."""
        if self._moment is None:
            return
        for box in [each for each in self.query("*") if isinstance(each, (Vertical, VerticalScroll))][:1]:
            if self._hint is None:
                self._hint = str(box.border_subtitle or "")
            box.border_subtitle = self._hint if self._moment.is_over else _SOON
