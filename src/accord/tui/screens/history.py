"""Earlier prompts, to be searched: those of this project, or of all."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from accord.tui.plain import one_line
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.tui.prompt.history import History

SEARCHED, SHOWN = 2000, 160
"""So many letters of a prompt are looked at; so many are shown."""


class HistoryScreen(Picker):
    """Gives the place of the prompt that was picked in `everything` of the history."""

    def __init__(self, past: History, project: str) -> None:
        super().__init__("Earlier prompts", [], keys={"f4": "other projects"})
        self._past = past
        self._project = project
        self._everywhere = False
        self._low: dict[str, str] = {}
        """What is searched in, by the place of the prompt."""
        self._rows = self._found()

    def _found(self) -> list[Row]:
        """The newest first, each text once."""
        rows: dict[str, Row] = {}
        for place, (text, project) in reversed(list(enumerate(self._past.everything))):
            is_here = project in ("", self._project)
            if text not in rows and (is_here or self._everywhere):
                about = "" if is_here else _named(project)
                rows[text] = Row(str(place), one_line(text[: 2 * SHOWN], SHOWN), about)
                self._low[str(place)] = f"{text[:SEARCHED]} {about}".lower()
        return list(rows.values())

    def _fitting(self, wanted: str) -> list[Row]:
        words = wanted.lower().split()
        return [row for row in self._rows if all(word in self._low[row.id] for word in words)]

    def _key(self, key: str) -> bool:
        if key == "f4":
            self._everywhere = not self._everywhere
            self.set_rows(self._found())
            return True
        return super()._key(key)


def _named(project: str) -> str:
    return f"in {PurePath(project).name or project}"
