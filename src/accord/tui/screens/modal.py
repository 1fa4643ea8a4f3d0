"""Base class of modal screens. A screen is dismissed only once, even if Esc is pressed twice in a hurry."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from accord.tui.screens.hints import first_fitting
from accord.tui.terminal.input_guard import InputDelay, SeenFirst

_MAX_WIDTH = 110
"""Columns of the widest box."""
_TOAST_ROWS = 3
"""Rows of a notification of one line, with its border."""
_TOAST_GAP = 1
_APP_KEYS = ("ctrl+c", "ctrl+z")
_LOCKED_HINT = "keys unlock in a moment"  # short enough for the narrowest box


class Modal(SeenFirst, ModalScreen[ScreenResultType]):
    """A screen above the transcript that asks or shows something."""

    _is_withdrawn = False
    _moment: InputDelay | None = None

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        if not self.is_active:  # already dismissed or below another screen, and earlier keys still arrive
            return AwaitComplete()
        dismissed = super().dismiss(result)
        # Its workers would run until it is unmounted, and update widgets that are removed before that.
        for node in self.walk_children(with_self=True):
            self.workers.cancel_node(node)
        return dismissed

    def withdraw(self) -> None:
        """Dismiss the screen, whose answer is no longer needed; if others are above it, once they are dismissed."""
        self._is_withdrawn = True
        self.dismiss()

    def on_screen_resume(self) -> None:
        if self._is_withdrawn:
            self.dismiss()
        elif self._moment is not None:
            self._moment.begin()
            self.say_keys()

    # -- key hints

    @property
    def key_hints(self) -> Sequence[str]:
        """Key hints from long to short; the first that fits is shown on the lower border."""
        return ()

    @property
    def box_width(self) -> int:
        """The columns of the box, with its border."""
        return min(self.app.size.width * 9 // 10, _MAX_WIDTH)

    def on_resize(self) -> None:
        self.say_keys()

    def say_keys(self) -> None:
        """Show the key hints on the lower border, or a note that keys are still ignored."""
        is_early = self._moment is not None and not self._moment.is_over
        if not self.key_hints and self._moment is None:
            return
        hint = first_fitting(self.key_hints or ("",), self.box_width - 6)
        if (box := self._box) is not None:
            box.border_subtitle = _LOCKED_HINT if is_early else hint

    @property
    def _box(self) -> Widget | None:
        return next((each for each in self.query("*") if isinstance(each, (Vertical, VerticalScroll))), None)

    # -- notifications

    @on(events.Mount)
    def _follow_layout(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, lambda screen: self._fit_notifications())

    def _fit_notifications(self) -> None:
        """Show as many of the newest notifications as fit above the box, so that none covers its answers. If there is
        no room at all, the newest covers the title."""
        box = self._box
        room = max(box.region.y, _TOAST_ROWS) if box is not None else self.size.height
        for rack in self.query("ToastRack"):
            for place, holder in enumerate(reversed(rack.children)):
                # One that was never shown has no height yet.
                rows = sum(each.outer_size.height for each in holder.children) or _TOAST_ROWS
                holder.display = place == 0 or rows <= room
                room = room - rows - _TOAST_GAP if holder.display else 0
            rack.styles.max_height = max(box.region.y, _TOAST_ROWS) if box is not None else None

    # -- screens that agents open

    def hold_on(self) -> None:
        """Ignore keys until the user can have seen the screen, because an agent opened it."""
        self._moment = InputDelay(self, self.say_keys)
        self._moment.begin()

    def comes_early(self, event: events.Event) -> bool:
        """Return whether a key or a click came too early to be meant for this screen."""
        is_ours = isinstance(event, events.Key) and event.key in _APP_KEYS
        return self._moment is not None and not is_ours and self._moment.comes_early()

    @property
    def below(self) -> Widget | None:
        """The widget that has the focus below this screen."""
        field = self.app.screen_stack[-2].focused
        return field.below if isinstance(field, SeenFirst) else field
