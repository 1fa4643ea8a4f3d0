"""A list to choose from, with a line to search in it. Agents, sessions, options and logins are chosen with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from accord.tui.plain import one_line, plain
from accord.tui.prompt.at_once import Field
from accord.tui.screens.above import Above


class Row(NamedTuple):
    """Something to choose: its name for the program, and what the user reads."""

    id: str
    label: str
    about: str = ""
    group: str = ""


class Picked(NamedTuple):
    """What was chosen, and how: `enter`, or another key that the picker was given; and what the user read."""

    id: str
    how: str = "enter"
    label: str = ""


class Picker(Above["Picked | None"]):
    """Gives what was picked, or None when the user went away."""

    DEFAULT_CSS = """
    Picker { align: center middle; }
    Picker > Vertical {
        width: 90%; max-width: 110; height: auto; max-height: 85%; border: round $primary; padding: 0 1;
        background: $background;
    }
    Picker Input { border: none; height: 1; padding: 0; background: $background; }
    Picker OptionList { height: auto; max-height: 24; border: none; padding: 0; background: $background; }
    Picker .about { color: $foreground 60%; height: auto; }
    """

    def __init__(
        self,
        title: str,
        rows: Sequence[Row],
        *,
        about: str = "",
        keys: Mapping[str, str] | None = None,
        typed: Callable[[str], Row | None] | None = None,
        chosen: str | None = None,
    ) -> None:
        """`keys` are further keys and what they do to the row at the cursor; `typed` makes a row of what was typed."""
        super().__init__()
        self._title = title
        self._rows = list(rows)
        self._about = about
        self._keys = dict(keys or {})
        self._typed = typed
        self._chosen = chosen
        self._shown: list[Row] = []
        self._wanted = ""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            hints = [f"{key} {words}" for key, words in self._keys.items()]
            box.border_subtitle = " · ".join(["enter chooses", *hints, "esc"])
            if self._about:
                yield Static(Text(plain(self._about)), classes="about")
            yield Field(placeholder="type to search", compact=True)
            yield OptionList()

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._fill("")

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Shows other rows, for lists that come little by little."""
        self._rows = list(rows)
        if self.is_mounted:
            self._fill(self.query_one(Input).value)

    def _fill(self, wanted: str) -> None:
        words = wanted.lower().split()
        self._shown = [row for row in self._rows if all(word in f"{row.label} {row.about}".lower() for word in words)]
        made = self._typed(wanted.strip()) if self._typed is not None and wanted.strip() else None
        if made is not None:
            self._shown.append(made)
        listing = self.query_one(OptionList)
        before = listing.highlighted
        listing.clear_options()
        group = ""
        for row in self._shown:
            text = Text(no_wrap=True, overflow="ellipsis")
            if row.group != group and row.group:
                text.append(f"{one_line(row.group)}\n", style="dim italic")
            group = row.group
            text.append("● " if row.id == self._chosen else "  ")
            text.append(one_line(row.label, 90))
            if row.about:
                text.append(f"  {one_line(row.about, 160)}", style="dim")
            listing.add_option(Option(text))
        if self._shown:
            at = next((place for place, row in enumerate(self._shown) if row.id == self._chosen), 0)
            listing.highlighted = min(before if before is not None else at, len(self._shown) - 1)

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.value == self._wanted:
            return  # an empty field says so when it appears, and the user may have moved on already
        self._wanted = message.value
        self.query_one(OptionList).highlighted = None
        self._fill(message.value)

    def on_input_submitted(self) -> None:
        self._done("enter")

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self._done("enter")

    def _done(self, how: str) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._shown):
            self.dismiss(Picked(self._shown[at].id, how, self._shown[at].label))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self._key(event.key):
            event.stop()
            event.prevent_default()
            return
        if isinstance(event, events.Key) and self.focused is None and event.is_printable and self.is_mounted:
            # Typed while the field was about to get the keys.
            event.stop()
            self.query_one(Input).insert_text_at_cursor(event.character or "")
            return
        await super().on_event(event)

    def _key(self, key: str) -> bool:
        listing = self.query_one(OptionList)
        moves: dict[str, Callable[[], Any]] = {
            "up": listing.action_cursor_up,
            "down": listing.action_cursor_down,
            "pageup": listing.action_page_up,
            "pagedown": listing.action_page_down,
        }
        if key in moves:
            moves[key]()
        elif key == "escape":
            self.dismiss(None)
        elif key in self._keys:
            self._done(key)
        else:
            return False
        return True


class Asking(Above["str | None"]):
    """One line of text, such as a new title."""

    DEFAULT_CSS = """
    Asking { align: center middle; }
    Asking > Vertical {
        width: 80%; max-width: 90; height: auto; border: round $primary; padding: 0 1; background: $background;
    }
    Asking Input { border: none; height: 1; padding: 0; background: $background; }
    """

    def __init__(self, title: str, value: str = "") -> None:
        super().__init__()
        self._title = title
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            box.border_subtitle = "enter · esc"
            yield Field(self._value, compact=True)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value)

    def key_escape(self) -> None:
        self.dismiss(None)
