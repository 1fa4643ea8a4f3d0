"""A problem and numbered actions that may solve it, above the prompt.

It never takes the focus by itself: the prompt has come back, and what is typed belongs there. Tab goes to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from accord.terminal_text import one_line
from accord.tui.screens.hints import first_fitting


class UserAction(NamedTuple):
    """An action, identified by its id."""

    id: str
    title: str


class ActionPanel(Widget, can_focus=True):
    """Shows the problem and the numbered actions."""

    focus_keys: ClassVar[tuple[str, ...]] = ("f1 keys",)  # its own are on its border

    DEFAULT_CSS: ClassVar[str] = """
    ActionPanel {
        height: auto; border: round $warning 60%; padding: 0 1; background: $background;
        border-subtitle-color: $foreground 60%;
    }
    ActionPanel:focus { border: round $warning; }
    """

    class Chosen(Message):
        """The user chose an action; None closes the panel."""

        def __init__(self, action: UserAction | None) -> None:
            super().__init__()
            self.action = action

    def __init__(self, reason: str, actions: Sequence[UserAction]) -> None:
        super().__init__()
        self.reason = reason
        self.actions: list[UserAction] = list(actions)
        self._cursor = 0

    def on_mount(self) -> None:
        self._say_keys(self.has_focus)

    def on_focus(self) -> None:
        self._say_keys(True)

    def on_blur(self) -> None:
        self._say_keys(False)

    def _say_keys(self, is_mine: bool) -> None:
        """Show the keys; `has_focus` changes only after the events."""
        hints = ("number or ↑ ↓ enter choose · esc close", "number · esc") if is_mine else ("tab choose",)
        self.border_subtitle = first_fitting(hints, self.app.size.width - 6)
        self.refresh()

    def render(self) -> Text:
        page = Text(one_line(self.reason, 300), style="bold")
        for place, each in enumerate(self.actions):
            mark = "❯ " if self.has_focus and place == self._cursor else "  "
            page.append(f"\n{mark}{place + 1}. {one_line(each.title, 80)}", style="not bold")
        return page

    def on_key(self, event: events.Key) -> None:
        key = event.key
        if key in ("up", "down"):
            self._cursor = (self._cursor + (1 if key == "down" else -1)) % len(self.actions)
            self.refresh()
        elif key == "enter":
            self.post_message(self.Chosen(self.actions[self._cursor]))
        elif key.isdecimal() and 1 <= int(key) <= len(self.actions):
            self.post_message(self.Chosen(self.actions[int(key) - 1]))
        elif key == "escape":
            self.post_message(self.Chosen(None))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        place = at.y - (self.size.height - len(self.actions)) if at is not None else -1
        if 0 <= place < len(self.actions):
            self.post_message(self.Chosen(self.actions[place]))
