"""The prompts that wait, or that the agent has not taken yet: seen, taken back to be changed, or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.tui.look import Look
    from accord.tui.talk import Talk

MOST_ROWS = 5
_HINT = "alt+↑ takes the last one back · f6 selects"
_HELD = f"enter sends what is on hold · {_HINT}"
_SENT = {"": "sent, not taken yet", "back": "being taken back", "away": "being removed"}
_CHOOSING = "↑↓ · enter takes it back · del removes it · esc"


class QueuePanel(Widget, can_focus=True):
    """A line for each prompt that waits."""

    DEFAULT_CSS = """
    QueuePanel { height: auto; max-height: 7; border: round $foreground 30%; padding: 0 1; background: $background; }
    QueuePanel:focus { border: round $primary; }
    """

    class Wanted(Message):
        """The prompt at this place is wanted back, to be changed."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Removed(Message):
        """The prompt at this place is not to be sent."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Left(Message):
        """The user goes back to the prompt."""

    def __init__(self, look: Look, talk: Talk) -> None:
        super().__init__()
        self.look = look
        self.talk = talk
        self.cursor = 0
        self.border_title = "queued"
        self.border_subtitle = _HINT

    def update(self) -> None:
        """The queue has changed."""
        self.cursor = max(0, min(self.cursor, len(self.talk.pending) - 1))
        waits, sent = len(self.talk.queue), len(self.talk.pending) - len(self.talk.queue)
        held = ", on hold" if self.talk.on_hold else ""
        parts = [f"{sent} sent, not taken yet" if sent else "", f"{waits} queued{held}" if waits else ""]
        self.border_title = " · ".join(filter(None, parts))
        self._hint(self.has_focus)
        self.refresh(layout=True)

    def _hint(self, is_choosing: bool) -> None:
        otherwise = _HELD if self.talk.on_hold and self.talk.queue else _HINT
        self.border_subtitle = _CHOOSING if is_choosing else otherwise

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.talk.pending), MOST_ROWS)

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        place = max(0, self.cursor - MOST_ROWS + 1) + y
        pending = self.talk.pending
        if place >= len(pending):
            return Strip.blank(width, look.base)
        prompt = pending[place]
        mark = ("❯ " if self.has_focus and place == self.cursor else "  ", look.accent)
        told = f"  ({_SENT[prompt.wanted]})" if prompt in self.talk.sent else ""
        text = one_line(prompt.text, max(width - 8 - len(told), 4))
        parts = (mark, (f"{place + 1}. ", look.dim), (text, None), (told, look.warn))
        return look.line(*parts).adjust_cell_length(width, look.base)

    def on_focus(self) -> None:
        self._hint(True)

    def on_blur(self) -> None:
        self._hint(False)

    def on_key(self, event: events.Key) -> None:
        if event.key not in ("up", "down", "enter", "delete", "backspace", "d", "escape", "tab"):
            return
        event.stop()
        event.prevent_default()
        if event.key in ("up", "down"):
            self.cursor = (self.cursor + (1 if event.key == "down" else -1)) % max(len(self.talk.pending), 1)
            self.refresh()
        elif event.key == "enter":
            self.post_message(self.Wanted(self.cursor))
        elif event.key in ("escape", "tab"):
            self.post_message(self.Left())
        else:
            self.post_message(self.Removed(self.cursor))

    def on_click(self, event: events.Click) -> None:
        place = max(0, self.cursor - MOST_ROWS + 1) + event.y - 1
        if 0 <= place < len(self.talk.pending):
            self.post_message(self.Wanted(place))
