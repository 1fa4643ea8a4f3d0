"""Completion of slash commands and files, and the list that shows them above the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.prompt.paste import mention
from accord.tui.text import truncate, truncate_path

if TYPE_CHECKING:
    from accord.model.session import Command
    from accord.tui.prompt.tree import TreeRow
    from accord.tui.theme import TextStyles

MIN_ROWS, MAX_ROWS = 3, 14
"""Visible suggestions: the more, the higher the window; eight in one of 24 lines."""
_FRAME = 2
OWN = "◆"
"""Marks the client's own commands."""
_COMMAND = re.compile(r"/(\S*)$")
_HINT = re.compile(r"/(\S+) $")
_FILE = re.compile(r"(?:^|(?<=[\s(\[{<\"']))@([^\s\"']*)$")


class Suggestion(NamedTuple):
    """A completion: its text replaces the last `length` characters before the cursor."""

    text: str
    label: str
    about: str = ""
    length: int = 0
    only_hint: bool = False
    is_path: bool = False
    hint: str = ""
    """Describes the argument of a command."""
    is_own: bool = False
    """Whether it is a command of this client, not of the agent."""
    row: TreeRow | None = None
    """Its line, if the list is a tree."""


def commands_for(before: str, commands: Sequence[Command], own: Sequence[Command] = ()) -> list[Suggestion]:
    """Return the matching slash commands: the agent's, then our `own`. `before` is all text before the cursor."""
    if (hinted := _HINT.fullmatch(before)) is not None:
        command = next((each for each in (*commands, *own) if each.name == hinted[1]), None)
        return (
            [Suggestion("", command.hint, command.description, 0, True)] if command is not None and command.hint else []
        )
    typed = _COMMAND.fullmatch(before)
    if typed is None:
        return []
    wanted = typed[1].lower()
    fitting = [(each, is_own) for is_own, some in enumerate((commands, own)) for each in some]
    fitting = [(each, is_own) for each, is_own in fitting if wanted in each.name.lower()]

    def rank(found: tuple[Command, int]) -> tuple[bool, bool, int, str]:
        name = found[0].name.lower()
        return name != wanted, not name.startswith(wanted), found[1], found[0].name

    return [
        Suggestion(
            f"/{each.name} ",
            f"/{each.name}",
            each.description,
            len(before),
            hint=f"[{each.hint}]" if each.hint else "",
            is_own=bool(is_own),
        )
        for each, is_own in sorted(fitting, key=rank)
    ]


def partial_file_name(before: str) -> str | None:
    """Return the start of a file name being typed after an `@`, if any. `before` is the line so far."""
    found = _FILE.search(before)
    return found[1] if found is not None else None


def files_for(wanted: str, names: Sequence[str]) -> list[Suggestion]:
    """Return files as completions. A directory can be completed further; files that can't be mentioned are left out."""
    return [
        Suggestion(f"{mentioned}{'' if name.endswith('/') else ' '}", name, "", len(wanted) + 1, is_path=True)
        for name in names
        if (mentioned := mention(name)) is not None
    ]


def tree_for(rows: Sequence[TreeRow]) -> list[Suggestion]:
    """Return the lines of the project's tree as completions of a lone `@`."""
    return [Suggestion(_mention_row(row), _label_row(row), "", 1, is_path=True, row=row) for row in rows]


def _mention_row(row: TreeRow) -> str:
    mentioned = (mention(row.path) if row.path else None) or "@"
    return f"{mentioned}{'' if row.is_directory or not row.path else ' '}"


def _label_row(row: TreeRow) -> str:
    indent = "  " * min(row.depth, 8)
    if row.omitted:
        return f"{indent}  … {row.omitted} more: type to search"
    name = row.path.rstrip("/").rpartition("/")[2]
    return f"{indent}{'▾ ' if row.is_open else '▸ '}{name}/" if row.is_directory else f"{indent}  {name}"


def continues_name(suggestions: Sequence[Suggestion], before: str, more: str) -> bool:
    """Return whether letters typed since continue the name of a match."""
    return any(
        f"{before[len(before) - each.length + 1 :]}{more}".lower() in each.text.lower()
        for each in suggestions
        if more and not each.only_hint
    )


class Completions(Widget):
    """The completion list. It has no focus; the editor passes it keys."""

    DEFAULT_CSS: ClassVar[str] = """
    Completions {
        height: auto; max-height: 16; border: round $primary 40%; padding: 0 1; background: $background;
        border-title-color: $muted; border-subtitle-color: $muted;
    }
    """

    class Chosen(Message):
        """The user accepted a completion."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self, text_styles: TextStyles) -> None:
        super().__init__()
        self.text_styles = text_styles
        self.suggestions: list[Suggestion] = []
        self.cursor: int = 0
        self._top = 0
        self._column = 0

    def show(self, suggestions: list[Suggestion], cursor: int = 0) -> None:
        if suggestions != self.suggestions:
            self.cursor = cursor
            self._top = max(min(self._top, cursor), cursor - self._rows + 1) if cursor else 0
            self.suggestions = suggestions
        self._column = max((cell_len(f"{each.label} {each.hint}".rstrip()) for each in suggestions), default=0)
        self.border_title = f"{OWN} Accord's own" if any(each.is_own for each in suggestions) else ""
        self._say_keys()
        self.refresh(layout=True)

    def _say_keys(self) -> None:
        opens = "→ open · ← close · " if self.is_tree else ""
        place = f"{self.cursor + 1} of {len(self.suggestions)} · " if len(self.suggestions) > self._rows else ""
        self.border_subtitle = "" if self.is_hint else f"{place}↑↓ select · {opens}tab accept · esc close"

    def _scroll(self) -> None:
        """Keep the cursor visible, also in a window that has become lower."""
        self._top = min(max(self._top, self.cursor - (self.size.height or self._rows) + 1), self.cursor)

    @property
    def height(self) -> int:
        """The lines that it takes."""
        return min(len(self.suggestions), self._rows) + _FRAME

    @property
    def _rows(self) -> int:
        return max(MIN_ROWS, min(self.app.size.height // 2 - 4, MAX_ROWS))

    @property
    def is_tree(self) -> bool:
        """Whether directories can be opened in it."""
        return any(each.row is not None for each in self.suggestions)

    @property
    def is_hint(self) -> bool:
        """Whether it only shows a hint, with nothing to choose."""
        return all(each.only_hint for each in self.suggestions)

    @property
    def chosen(self) -> Suggestion | None:
        return None if self.is_hint else self.suggestions[self.cursor]

    def key(self, key: str) -> None:
        """Handle a key from the editor."""
        if key in ("up", "down", "pageup", "pagedown") and self.suggestions:
            step = {"up": -1, "down": 1, "pageup": -self._rows, "pagedown": self._rows}[key]
            self.cursor = (self.cursor + step) % len(self.suggestions)
            self._scroll()
            self._say_keys()
            self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.suggestions), self._rows)

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        self._scroll()
        place = self._top + y
        if place >= len(self.suggestions):
            return Strip.blank(width, text_styles.base)
        each = self.suggestions[place]
        is_chosen = place == self.cursor and not each.only_hint
        room = min(self._column, max(width // 2, 20)) if each.about else width - 2
        is_path = each.is_path and each.row is None
        label = truncate_path(each.label, room) if is_path else truncate(each.label, room)
        hint = f" {truncate(each.hint, room - cell_len(label) - 1)}" if each.hint and cell_len(label) + 2 < room else ""
        about = truncate(each.about, max(width - room - 6, 1)) if each.about else ""
        gap = " " * (room - cell_len(label + hint) + 2) if about else ""
        return text_styles.line(
            ("❯ " if is_chosen else "  ", text_styles.accent),
            (label, text_styles.accent if is_chosen else None),
            (f"{hint}{gap}", text_styles.dim),
            (f"{OWN if each.is_own else ' '} ", text_styles.accent),
            (about, text_styles.dim),
        ).adjust_cell_length(width, text_styles.base)

    def on_click(self, event: events.Click) -> None:
        place = self._top + event.y - 1
        if 0 <= place < len(self.suggestions) and not self.suggestions[place].only_hint:
            self.post_message(self.Chosen(self.suggestions[place]))
