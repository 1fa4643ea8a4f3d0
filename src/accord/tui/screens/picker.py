"""A list to choose from, with a line to search in it. Agents, sessions, options and logins are chosen with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset
from textual.strip import Strip
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from accord.tui.harmless import words
from accord.tui.plain import one_line, plain
from accord.tui.prompt.at_once import Field
from accord.tui.screens.above import Above
from accord.tui.screens.hints import Hints, folded

_MOST_ROWS = 24
_TALL = 16
MOST_LISTED = 150
"""Rows that are drawn. Nobody reads more, and to draw them all would hold up keys."""
_SHARE = 0.85
"""How much of the window's height a list may take."""


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


class Rows(OptionList):
    """A list whose row at the cursor has a mark, so that it can be told without colours."""

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        place = self.scroll_offset.y + y
        if not (place < len(self._lines) and self._lines[place] == (self.highlighted, 0)):
            return line
        style = next((segment.style for segment in line), None)
        return Strip([Segment("❯", style), *line.crop(1)], line.cell_length)


class Picker(Above["Picked | None"]):
    """Gives what was picked, or None when the user went away."""

    DEFAULT_CSS = """
    Picker { align: center middle; }
    Picker > Vertical {
        width: 90%; max-width: 110; height: auto; max-height: 85%; border: round $primary; padding: 0 1;
        background: $background;
    }
    Picker Input { border: none; height: 1; padding: 0; background: $background; }
    Picker OptionList { height: auto; border: none; padding: 0; background: $background; }
    Picker OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    Picker .about { color: $foreground 60%; height: auto; }
    Picker .whole { height: 2; display: none; }
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
        self._shown: list[Row | None] = []
        """The rows of the list; None is the name of a group."""
        self._wanted = ""
        self._is_moved = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = words(self._title)
            if self._about:
                yield Static(Text(plain(self._about)), classes="about")
            is_sure = {row.id for row in self._rows} == {"yes", "no"}  # nobody has to search there
            yield Field(placeholder="" if is_sure else "type to search", compact=True)
            yield Rows()
            yield Static(classes="whole")
            yield Hints("↑ ↓ enter chooses", *(f"{key} {words}" for key, words in self._keys.items()), "esc goes back")

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """The list gets the room that the rest leaves, so that the hints below it are always there. Where a row is too
        long to be seen as a whole, the one at the cursor is told below the list."""
        window, width = self.app.size, self._width
        cut = any(self._drawn(row).cell_len > width for row in self._rows)
        whole = self.query_one(".whole", Static)
        whole.display = cut and window.height >= _TALL
        for each in self.query(".about"):
            each.display = window.height >= _TALL
        about = len(folded([plain(self._about)], width)) if self._about and window.height >= _TALL else 0
        rest = 3 + about + self.query_one(Hints).rows(width) + (2 if whole.display else 0)
        self.query_one(Rows).styles.max_height = max(min(int(window.height * _SHARE) - rest, _MOST_ROWS), 2)

    @property
    def _width(self) -> int:
        """The columns inside the box."""
        return min(self.app.size.width * 9 // 10, 110) - 4

    def on_option_list_option_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        row = self._shown[message.option_index] if message.option_index < len(self._shown) else None
        is_cut = row is not None and self._drawn(row).cell_len > self._width
        words = folded([one_line(row.about, 300)], self._width)[:2] if row is not None and is_cut else []
        self.query_one(".whole", Static).update(Text("\n".join(words), style="dim"))

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._fill("")

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Shows other rows, for lists that come little by little."""
        self._rows = list(rows)
        if self.is_mounted:
            self._fit()
            self._fill(self.query_one(Input).value)

    def _fitting(self, wanted: str) -> list[Row]:
        """The rows in which all the words are."""
        words = wanted.lower().split()
        return [row for row in self._rows if all(word in f"{row.label} {row.about}".lower() for word in words)]

    def _nothing(self, wanted: str) -> str:
        """What is said where there is nothing to pick."""
        return f"nothing fits “{one_line(wanted, 40)}”" if wanted.strip() else ""

    def _fill(self, wanted: str) -> None:
        rows = self._fitting(wanted)
        made = self._typed(wanted.strip()) if self._typed is not None and wanted.strip() else None
        if made is not None:
            rows.append(made)
        listing = self.query_one(OptionList)
        before = listing.highlighted
        listing.clear_options()
        self._shown = []
        options = []
        rest = len(rows) - MOST_LISTED
        for place, row in enumerate(rows[:MOST_LISTED]):
            if row.group and (not place or rows[place - 1].group != row.group):
                self._shown.append(None)
                options.append(Option(Text(one_line(row.group), style="italic"), disabled=True))
            self._shown.append(row)
            options.append(Option(self._drawn(row)))
        if not rows and (nothing := self._nothing(wanted)):
            self._shown.append(None)
            options.append(Option(Text(f"  {nothing}", style="italic"), disabled=True))
        if rest > 0:
            self._shown.append(None)
            options.append(Option(Text(f"  … and {rest} more: type to search", style="italic"), disabled=True))
        listing.add_options(options)
        places = [place for place, row in enumerate(self._shown) if row is not None]
        if places:
            at = next((place for place in places if self._id_at(place) == self._chosen), places[0])
            wished = before if before is not None else at
            listing.highlighted = min(places, key=lambda place: abs(place - wished))

    def _id_at(self, place: int) -> str | None:
        row = self._shown[place]
        return row.id if row is not None else None

    def _drawn(self, row: Row) -> Text:
        text = Text("  ", no_wrap=True, overflow="ellipsis")
        if self._chosen is not None:
            text.append("✓ " if row.id == self._chosen else "  ")
        text.append(one_line(row.label, 90))
        if row.about:
            text.append(f"  {one_line(row.about, 160)}", style="dim")
        return text

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.value == self._wanted:
            return  # an empty field says so when it appears, and the user may have moved on already
        self._wanted = message.value
        self._is_moved = False
        self.query_one(OptionList).highlighted = None
        self._fill(message.value)

    def on_input_submitted(self) -> None:
        self._done("enter")

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self._done("enter")

    def _done(self, how: str) -> None:
        at = self.query_one(OptionList).highlighted
        row = self._shown[at] if at is not None and at < len(self._shown) else None
        if row is not None:
            self.dismiss(Picked(row.id, how, row.label))

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

    @property
    def reading_place(self) -> Offset | None:
        """Where to read on for those who have the screen read: at the row that was moved to."""
        listing = self.query_one(Rows)
        if not self._is_moved or listing.highlighted is None:
            return None
        x, y, _, _ = listing.content_region
        return Offset(x, y + listing._index_to_line[listing.highlighted] - listing.scroll_offset.y)

    def _key(self, key: str) -> bool:
        listing = self.query_one(OptionList)
        moves: dict[str, Callable[[], Any]] = {
            "up": listing.action_cursor_up,
            "down": listing.action_cursor_down,
            "pageup": listing.action_page_up,
            "pagedown": listing.action_page_down,
        }
        if key in moves:
            self._is_moved = True
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
            box.border_title = words(self._title)
            yield Field(self._value, compact=True)
            yield Hints("enter takes it", "esc goes back")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value)

    def key_escape(self) -> None:
        self.dismiss(None)
