"""Search in previous prompts, of this project or of all."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from accord.terminal_text import one_line
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.tui.prompt.history import History

MAX_SEARCHED, MAX_SHOWN = 2000, 160
"""Maximum number of characters of a prompt to search in, and to show."""


class HistoryScreen(Picker):
    """Returns the index of the chosen prompt in `History.everything`."""

    def __init__(self, past: History, project: str) -> None:
        super().__init__("Previous prompts", [], keys={"f4": "other projects"})
        self._past = past
        self._project = project
        self._everywhere = False
        self._searchable: dict[str, str] = {}
        """Lower-case text to search in, by row id."""
        self._rows = self._collect()

    def _collect(self) -> list[Row]:
        """Return the prompts, newest first, each text once."""
        rows: dict[str, Row] = {}
        for place, (text, project) in reversed(list(enumerate(self._past.everything))):
            is_here = project in ("", self._project)
            if text not in rows and (is_here or self._everywhere):
                about = "" if is_here else _describe_project(project)
                rows[text] = Row(str(place), one_line(text[: 2 * MAX_SHOWN], MAX_SHOWN), about)
                self._searchable[str(place)] = f"{text[:MAX_SEARCHED]} {about}".lower()
        return list(rows.values())

    def _match(self, wanted: str) -> list[Row]:
        words = wanted.lower().split()
        return [row for row in self._rows if all(word in self._searchable[row.id] for word in words)]

    def _key(self, key: str) -> bool:
        if key == "f4":
            self._everywhere = not self._everywhere
            self.set_rows(self._collect())
            return True
        return super()._key(key)


def _describe_project(project: str) -> str:
    return f"in {PurePath(project).name or project}"
