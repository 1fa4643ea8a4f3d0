"""A searchable list to choose from: agents, sessions, options, login methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset
from textual.strip import Strip
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from accord.terminal_text import one_line, sanitize
from accord.tui.screens.hints import BETWEEN, Hints, wrap_hints
from accord.tui.screens.modal import Modal
from accord.tui.terminal.keyboard import Field
from accord.tui.terminal.textual_internals import get_option_line
from accord.tui.text import make_label

_MAX_ROWS = 24
_TALL = 16
MAX_LISTED = 150
"""Maximum number of rows to render. Rendering thousands would delay keys."""
_FRAME = 4
"""Columns of the border and the padding."""
_MIN_WIDTH, _MIN_TYPED_WIDTH, _MAX_LABEL = 36, 64, 44
_MAX_HEIGHT_SHARE = 0.85
"""Maximum share of the window's height."""


class Row(NamedTuple):
    """Something to choose: its id, and the text that the user reads."""

    id: str
    label: str
    about: str = ""
    group: str = ""
    key: str = ""
    """A key that does the same."""


class Picked(NamedTuple):
    """The chosen row, and the key: `enter`, or one of the picker's own keys."""

    id: str
    how: str = "enter"
    label: str = ""


class Rows(OptionList):
    """A list that marks the row at the cursor, for terminals without colors."""

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        place = self.scroll_offset.y + y
        if not (place < len(self._lines) and self._lines[place] == (self.highlighted, 0)):
            return line
        style = next((segment.style for segment in line), None)
        return Strip([Segment("❯", style), *line.crop(1)], line.cell_length)


class Picker(Modal["Picked | None"]):
    """Returns the chosen row, or None if the user dismissed it."""

    DEFAULT_CSS: ClassVar[str] = """
    Picker { align: center middle; }
    Picker > Vertical {
        width: 90%; max-width: 110; height: auto; max-height: 85%; border: round $primary; padding: 0 1;
        background: $background; border-subtitle-color: $muted;
    }
    Picker Input { border: none; height: 1; padding: 0; background: $background; }
    Picker Input.-hidden { height: 0; }
    Picker OptionList { height: auto; border: none; padding: 0; background: $background; }
    Picker OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    Picker .about { color: $muted; height: auto; }
    Picker .whole { display: none; }
    """

    def __init__(
        self,
        title: str,
        rows: Sequence[Row],
        *,
        about: str = "",
        keys: Mapping[str, str] | None = None,
        typed: Callable[[str], Sequence[Row]] | None = None,
        chosen: str | None = None,
        placeholder: str = "type to search",
        on_highlight: Callable[[str], None] | None = None,
        text: str = "",
    ) -> None:
        """`keys` are further keys and what they do with the selected row; `typed` turns the search text into rows;
        `text` is searched for from the beginning."""
        super().__init__()
        self._title = title
        self._rows = list(rows)
        self._about = about
        self._placeholder = placeholder
        self._keys = dict(keys or {})
        self._typed = typed
        self._chosen = chosen
        self._on_highlight = on_highlight
        self._can_search = bool(placeholder) and {row.id for row in rows} != {"yes", "no"}
        own_keys = [f"{key} {words}" for key, words in self._keys.items()]
        self._hint_parts = ["↑↓ select", "enter choose", *own_keys, "esc back"]
        self._label_width, self._key_width = _measure(rows)
        self._shown: list[Row | None] = []
        """The rows in the list; None for a heading or a note."""
        self._wanted = text
        self._is_moved = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = make_label(self._title)
            if self._about:
                yield Static(Text(sanitize(self._about)), classes="about")
            classes = "" if self._can_search else "-hidden"
            field = Field(self._wanted, placeholder=self._placeholder, compact=True, classes=classes)
            field.can_focus = self._can_search  # without the focus, letters come to the screen
            yield field
            rows = Rows()
            rows.can_focus = False  # before it is mounted: the screen gives the focus to the first that can have it
            yield rows
            yield Static(classes="whole")
            yield Hints(*self._hint_parts)

    def on_resize(self) -> None:
        self._fit()
        self._fill(self._wanted)  # the rows are rendered for a width, and others may be truncated now

    def _fit(self) -> None:
        """Give the list the remaining room, so that the hints below it are always visible. If rows are
        truncated, the one at the cursor is shown in full below the list."""
        self.query_one(Vertical).styles.width = self._width + _FRAME
        window, width, hints = self.app.size, self._width, self.query_one(Hints)
        hints.display = not self.key_hints[0]  # those that don't fit on the border are wrapped
        self.say_keys()
        shown = self._rows[:MAX_LISTED]
        details = max((len(self._wrap_details(row)) for row in shown if self._is_cut(row)), default=0)
        whole = self.query_one(".whole", Static)
        whole.display = details > 0 and window.height >= _TALL
        whole.styles.height = details
        for each in self.query(".about"):
            each.display = window.height >= _TALL
        about = len(wrap_hints([sanitize(self._about)], width)) if self._about and window.height >= _TALL else 0
        rest = (
            2
            + self._can_search
            + about
            + (hints.rows(width) if hints.display else 0)
            + (details if whole.display else 0)
        )
        most = max(min(int(window.height * _MAX_HEIGHT_SHARE) - rest, _MAX_ROWS), 2)
        listing = self.query_one(Rows)
        listing.styles.max_height = most
        # Searching leaves fewer rows: the box keeps its height, because it would jump with each letter.
        listing.styles.min_height = min(len(shown) + len({row.group for row in shown if row.group}), most)

    @property
    def _width(self) -> int:
        """The columns inside the box: as many as its content needs."""
        most = min(self.app.size.width * 9 // 10, 110) - _FRAME
        rows = [self._render_row(row).cell_len + 1 for row in self._rows[:MAX_LISTED]]
        hints = cell_len(BETWEEN.join(self._hint_parts)) + 2
        texts = cell_len(self._title) + 4, cell_len(self._about), cell_len(self._placeholder)
        least = _MIN_WIDTH if self._typed is None else _MIN_TYPED_WIDTH
        return max(min(max(*rows, *texts, hints, least), most), 8)

    @property
    def key_hints(self) -> Sequence[str]:
        hints = BETWEEN.join(self._hint_parts)
        return (hints if cell_len(hints) + 2 <= self._width else "",)

    def on_option_list_option_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        row = self._shown[message.option_index] if message.option_index < len(self._shown) else None
        if row is not None and self._on_highlight is not None and self._is_changed:
            self._on_highlight(row.id)
        words = self._wrap_details(row) if row is not None and self._is_cut(row) else []
        self.query_one(".whole", Static).update(Text("\n".join(words), style="dim"))

    def _is_cut(self, row: Row) -> bool:
        return self._render_row(row).cell_len > self._width

    def _wrap_details(self, row: Row) -> list[str]:
        """Wrap the full description of a row, to show it below the list."""
        return wrap_hints([one_line(row.about, 300)], self._width)[:2]

    @property
    def _is_changed(self) -> bool:
        """Whether the user moved the cursor or typed."""
        return self._is_moved or bool(self._wanted)

    def on_mount(self) -> None:
        if self._can_search:
            self.query_one(Input).focus()
        self._fit()  # before the first frame, or the box would be seen at its greatest width for a moment
        self._fill(self._wanted)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Replace the rows, for lists that load bit by bit."""
        self._rows = list(rows)
        self._label_width, self._key_width = _measure(rows)
        if self.is_mounted:
            self._fit()
            self._fill(self.query_one(Input).value)

    def _match(self, wanted: str) -> list[Row]:
        """Return the rows that contain all words; in each group, those whose label has them come first."""
        words = wanted.lower().split()
        found = [row for row in self._rows if all(word in f"{row.label} {row.about}".lower() for word in words)]
        if words:
            groups = list(dict.fromkeys(row.group for row in found))
            found.sort(key=lambda row: (groups.index(row.group), _rank(row.label.lower(), " ".join(words))))
        return found

    def _empty_text(self, wanted: str) -> str:
        """Return the text for an empty list."""
        return f"no match for “{one_line(wanted, 40)}”" if wanted.strip() else ""

    def _fill(self, wanted: str) -> None:
        rows = self._match(wanted)
        if self._typed is not None and wanted.strip():
            rows += self._typed(wanted.strip())
        listing = self.query_one(OptionList)
        before = listing.highlighted
        listing.clear_options()
        self._shown = []
        options = []
        rest = len(rows) - MAX_LISTED
        for place, row in enumerate(rows[:MAX_LISTED]):
            if row.group and (not place or rows[place - 1].group != row.group):
                self._shown.append(None)
                options.append(Option(Text(one_line(row.group), style="bold"), disabled=True))
            self._shown.append(row)
            options.append(Option(self._render_row(row)))
        if not rows and (nothing := self._empty_text(wanted)):
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

    def _render_row(self, row: Row) -> Text:
        text = Text("  ", no_wrap=True, overflow="ellipsis")
        if self._chosen is not None:
            text.append("✓ " if row.id == self._chosen else "  ")
        text.append(one_line(row.label, 90))
        if row.about:
            text.append(" " * max(self._label_width - cell_len(one_line(row.label, 90)), 0))
            text.append(f"  {row.key:{self._key_width}}" if self._key_width else "")
            text.append(f"  {one_line(row.about, 160)}", style="dim")
        return text

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.value == self._wanted:
            return  # Textual also reports the empty field when it is mounted; the user may have moved the cursor since
        self._wanted = message.value
        self._is_moved = False
        self.query_one(OptionList).highlighted = None
        self._fill(message.value)

    def on_input_submitted(self) -> None:
        self._choose("enter")

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self._choose("enter")

    def _choose(self, how: str) -> None:
        at = self.query_one(OptionList).highlighted
        row = self._shown[at] if at is not None and at < len(self._shown) else None
        if row is not None:
            self.dismiss(Picked(row.id, how, row.label))

    async def on_event(self, event: events.Event) -> None:
        is_handled = isinstance(event, events.Key) and self._key(event.key)
        if is_handled or (isinstance(event, (events.Key, events.Paste)) and self._ignores(event)):
            event.stop()
            event.prevent_default()
            return
        if isinstance(event, events.Key) and self.focused is None and event.is_printable and self.is_mounted:
            # Typed before the field got the focus.
            event.stop()
            self.query_one(Input).insert_text_at_cursor(event.character or "")
            return
        await super().on_event(event)

    def _ignores(self, event: events.Key | events.Paste) -> bool:
        """Without a visible field, text isn't for it; `y` and `n` answer a confirmation."""
        if self._can_search or (isinstance(event, events.Key) and not event.is_printable):
            return False
        chosen = next((row for row in self._rows if isinstance(event, events.Key) and row.id[:1] == event.key), None)
        if chosen is not None and chosen.id in ("yes", "no"):
            self.dismiss(Picked(chosen.id, "enter", chosen.label))
        return True

    @property
    def reading_position(self) -> Offset | None:
        """Where a screen reader should continue: the row that the user moved to."""
        listing = self.query_one(Rows)
        if not self._is_moved or listing.highlighted is None:
            return None
        x, y, _, _ = listing.content_region
        return Offset(x, y + get_option_line(listing, listing.highlighted) - listing.scroll_offset.y)

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
        elif key in self._keys or (key == "enter" and not self._can_search):
            self._choose(key)
        else:
            return False
        return True


def _rank(label: str, wanted: str) -> int:
    """Return a sort key: labels that match the typed text best come first."""
    if label.startswith(wanted):
        return 0
    return 1 if all(word in label for word in wanted.split()) else 2


def _measure(rows: Sequence[Row]) -> tuple[int, int]:
    """Return the columns of the labels and of the keys, so that descriptions start in the same column."""
    rows = rows[:MAX_LISTED]
    labels = [cell_len(one_line(row.label, 90)) for row in rows if row.about]
    return min(max(labels, default=0), _MAX_LABEL), max((len(row.key) for row in rows), default=0)


class LineInputScreen(Modal["str | None"]):
    """Asks for one line of text, such as a new title."""

    DEFAULT_CSS: ClassVar[str] = """
    LineInputScreen { align: center middle; }
    LineInputScreen > Vertical {
        width: 80%; max-width: 90; height: auto; border: round $primary; padding: 0 1; background: $background;
        border-subtitle-color: $muted;
    }
    LineInputScreen Input { border: none; height: 1; padding: 0; background: $background; }
    """

    key_hints = ("enter accept · esc back",)

    def __init__(self, title: str, value: str = "") -> None:
        super().__init__()
        self._title = title
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = make_label(self._title)
            yield Field(self._value, compact=True)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value)

    def key_escape(self) -> None:
        self.dismiss(None)
