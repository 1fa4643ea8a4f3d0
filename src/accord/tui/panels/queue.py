"""Prompt queue panel: shows queued prompts, and lets the user edit or remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line

if TYPE_CHECKING:
    from accord.tui.session.prompt_queue import PromptQueue
    from accord.tui.theme import TextStyles

MAX_ROWS = 5
_HINT = "alt+↑ edit the last one · f6 select"
_HELD = f"enter send held prompts · {_HINT}"
_SENT = {"": "sent, not picked up yet", "edit": "being withdrawn", "discard": "being removed"}
_CHOOSING = "↑↓ · enter edit · del remove · esc"


class QueuePanel(Widget, can_focus=True):
    """One line per queued prompt."""

    focus_keys: ClassVar[tuple[str, ...]] = ("↑↓ select", "enter edit", "delete remove", "esc prompt", "f1 keys")

    DEFAULT_CSS: ClassVar[str] = """
    QueuePanel { height: auto; max-height: 7; border: round $line; padding: 0 1; background: $background; }
    QueuePanel:focus { border: round $primary; }
    """

    class Wanted(Message):
        """The user wants to edit the prompt at this position."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Removed(Message):
        """The user wants to remove the prompt at this position."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Closed(Message):
        """The user returns to the prompt."""

    def __init__(self, text_styles: TextStyles, queue: PromptQueue) -> None:
        super().__init__()
        self.text_styles = text_styles
        self.queue = queue
        self.cursor: int = 0
        self.border_title = "queued"
        self.border_subtitle = _HINT

    def update(self) -> None:
        """Show a changed queue."""
        self.cursor = max(0, min(self.cursor, len(self.queue.pending) - 1))
        waits, sent = len(self.queue.waiting), len(self.queue.pending) - len(self.queue.waiting)
        held = ", on hold" if self.queue.is_on_hold else ""
        parts = [f"{sent} sent, not picked up yet" if sent else "", f"{waits} queued{held}" if waits else ""]
        self.border_title = " · ".join(filter(None, parts))
        self._hint(self.has_focus)
        self.refresh(layout=True)

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.text_styles = text_styles
        self.refresh()

    def _hint(self, is_choosing: bool) -> None:
        otherwise = _HELD if self.queue.is_on_hold and self.queue.waiting else _HINT
        self.border_subtitle = _CHOOSING if is_choosing else otherwise

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.queue.pending), MAX_ROWS)

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        place = max(0, self.cursor - MAX_ROWS + 1) + y
        pending = self.queue.pending
        if place >= len(pending):
            return Strip.blank(width, text_styles.base)
        prompt = pending[place]
        mark = ("❯ " if self.has_focus and place == self.cursor else "  ", text_styles.accent)
        state = f"  ({_SENT[prompt.withdrawal]})" if prompt in self.queue.sent else ""
        text = one_line(prompt.text, max(width - 8 - len(state), 4))
        parts = (mark, (f"{place + 1}. ", text_styles.dim), (text, None), (state, text_styles.warn))
        return text_styles.line(*parts).adjust_cell_length(width, text_styles.base)

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
            self.cursor = (self.cursor + (1 if event.key == "down" else -1)) % max(len(self.queue.pending), 1)
            self.refresh()
        elif event.key == "enter":
            self.post_message(self.Wanted(self.cursor))
        elif event.key in ("escape", "tab"):
            self.post_message(self.Closed())
        else:
            self.post_message(self.Removed(self.cursor))

    def on_click(self, event: events.Click) -> None:
        place = max(0, self.cursor - MAX_ROWS + 1) + event.y - 1
        if 0 <= place < len(self.queue.pending):
            self.post_message(self.Wanted(place))
