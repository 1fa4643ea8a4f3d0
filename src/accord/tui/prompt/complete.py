"""Completions: which there are for what was typed, and the list that shows them above the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.fitting import fitted, fitted_path
from accord.tui.prompt.mention import mention

if TYPE_CHECKING:
    from accord.model.session import Command
    from accord.tui.look import Look

MOST_ROWS = 8
_COMMAND = re.compile(r"/(\S*)$")
_HINT = re.compile(r"/(\S+) $")
_FILE = re.compile(r"(?:^|(?<=[\s(\[{<\"']))@([^\s\"']*)$")


class Suggestion(NamedTuple):
    """One completion: what takes the place of the last `length` characters before the cursor, and how it is shown."""

    text: str
    label: str
    about: str = ""
    length: int = 0
    only_hint: bool = False
    is_path: bool = False


def commands_for(before: str, commands: Sequence[Command]) -> list[Suggestion]:
    """The slash commands that fit. `before` is all text before the cursor."""
    if (hinted := _HINT.fullmatch(before)) is not None:
        told = next((each for each in commands if each.name == hinted[1]), None)
        return [Suggestion("", told.hint, told.description, 0, True)] if told is not None and told.hint else []
    typed = _COMMAND.fullmatch(before)
    if typed is None:
        return []
    wanted = typed[1].lower()
    fitting = [each for each in commands if wanted in each.name.lower()]
    fitting.sort(key=lambda each: (not each.name.lower().startswith(wanted), each.name))
    return [
        Suggestion(
            f"/{each.name} ", f"/{each.name}{f' {each.hint}' if each.hint else ''}", each.description, len(before)
        )
        for each in fitting
    ]


def file_wanted(before: str) -> str | None:
    """The beginning of a file's name that is being typed behind an `@`, if one is. `before` is the line so far."""
    found = _FILE.search(before)
    return found[1] if found is not None else None


def files_for(wanted: str, names: Sequence[str]) -> list[Suggestion]:
    """Files as completions. A folder can be gone on from; one that cannot be mentioned is none."""
    return [
        Suggestion(f"{mentioned}{'' if name.endswith('/') else ' '}", name, "", len(wanted) + 1, is_path=True)
        for name in names
        if (mentioned := mention(name)) is not None
    ]


def go_on(suggestions: Sequence[Suggestion], before: str, more: str) -> bool:
    """Whether letters behind what was typed before go on with the name of something that fits."""
    return any(
        f"{before[len(before) - each.length + 1 :]}{more}".lower() in each.text.lower()
        for each in suggestions
        if more and not each.only_hint
    )


class Completions(Widget):
    """The list. It has no focus of its own: the editor passes it the keys that are meant for it."""

    DEFAULT_CSS = """
    Completions { height: auto; max-height: 10; border: round $primary 40%; padding: 0 1; background: $background; }
    """

    class Chosen(Message):
        """This completion is wanted."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look
        self.suggestions: list[Suggestion] = []
        self.cursor = 0
        self._top = 0

    def show(self, suggestions: list[Suggestion]) -> None:
        if suggestions != self.suggestions:
            self.cursor = self._top = 0
            self.suggestions = suggestions
        self.border_subtitle = "" if self.is_hint else "↑↓ · tab takes it · esc"
        self.refresh(layout=True)

    @property
    def is_hint(self) -> bool:
        """Whether there is nothing to choose, only something to know."""
        return all(each.only_hint for each in self.suggestions)

    @property
    def chosen(self) -> Suggestion | None:
        return None if self.is_hint else self.suggestions[self.cursor]

    def key(self, key: str) -> None:
        """A key that the editor passed on."""
        if key in ("up", "down", "pageup", "pagedown") and self.suggestions:
            step = {"up": -1, "down": 1, "pageup": -MOST_ROWS, "pagedown": MOST_ROWS}[key]
            self.cursor = (self.cursor + step) % len(self.suggestions)
            self._top = min(max(self._top, self.cursor - MOST_ROWS + 1), self.cursor)
            self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.suggestions), MOST_ROWS)

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        place = self._top + y
        if place >= len(self.suggestions):
            return Strip.blank(width, look.base)
        each = self.suggestions[place]
        is_chosen = place == self.cursor and not each.only_hint
        room = max(width // 2, 20) if each.about else width - 2
        label = fitted_path(each.label, room) if each.is_path else fitted(each.label, room)
        about = fitted(each.about, max(width - cell_len(label) - 4, 1)) if each.about else ""
        return look.line(
            ("❯ " if is_chosen else "  ", look.accent),
            (label, look.primary if is_chosen else None),
            (f"  {about}", look.dim),
        ).adjust_cell_length(width, look.base)

    def on_click(self, event: events.Click) -> None:
        place = self._top + event.y - 1
        if 0 <= place < len(self.suggestions) and not self.suggestions[place].only_hint:
            self.post_message(self.Chosen(self.suggestions[place]))
