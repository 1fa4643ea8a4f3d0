"""A screen above the others that goes away once: Esc pressed twice in a hurry means what it means pressed once."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.await_complete import AwaitComplete
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from accord.tui.early import SeenFirst
from accord.tui.moment import Moment
from accord.tui.screens.hints import shortest

_MOST_WIDTH = 90
"""Columns of the narrowest box in a wide window."""
_OURS = ("ctrl+c", "ctrl+z")
_SOON = "just asked: keys count in a moment"


class Above(SeenFirst, ModalScreen[ScreenResultType]):
    """What asks or shows something above the conversation."""

    _is_unwanted = False
    _moment: Moment | None = None

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if not self.is_active:  # gone already, or below another: its keys may still be on their way
            return AwaitComplete()
        gone = super().dismiss(result)
        # What it does beside would go on until it is unmounted, and find that what it fills has gone before it.
        for node in self.walk_children(with_self=True):
            self.workers.cancel_node(node)
        return gone

    def take_back(self) -> None:
        """Nobody wants to know the answer any more: it goes, and if others lie above it, as soon as they have gone."""
        self._is_unwanted = True
        self.dismiss()

    def on_screen_resume(self) -> None:
        if self._is_unwanted:
            self.dismiss()
        elif self._moment is not None:
            self._moment.begin()
            self.say_keys()

    # -- which keys there are

    @property
    def key_hints(self) -> Sequence[str]:
        """Ways to say which keys there are, the longest first; the one that fits stands below the box."""
        return ()

    def on_resize(self) -> None:
        self.say_keys()

    def say_keys(self) -> None:
        """Says below the box which keys there are, once they count."""
        is_early = self._moment is not None and not self._moment.is_over
        if not self.key_hints and self._moment is None:
            return
        hint = shortest(self.key_hints or ("",), min(self.app.size.width * 9 // 10, _MOST_WIDTH) - 6)
        for box in [each for each in self.query("*") if isinstance(each, (Vertical, VerticalScroll))][:1]:
            box.border_subtitle = _SOON if is_early else hint

    # -- what agents ask

    def hold_on(self) -> None:
        """It was not the user who opened this: no key counts for it before it has been seen for a moment."""
        self._moment = Moment(self, self.say_keys)
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
