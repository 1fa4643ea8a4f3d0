"""Long texts in the prompt, each folded to a token such as `[60 lines]`: pasted ones, and the output of commands.

The token stands for the text until the prompt is sent. If the user edits the token itself, it is ordinary text."""

from __future__ import annotations

import re
from typing import NamedTuple

MIN_LINES = 11
MIN_CHARACTERS = 2000
"""Pasted text with fewer lines and characters isn't folded."""
_TOKEN = re.compile(r"\[[^\[\]\n]{1,80}\]")


class FoldAt(NamedTuple):
    """A token in a line of the prompt, and the text that it stands for."""

    start: int
    end: int
    text: str


class Folds:
    """The folded texts of one prompt editor, by their tokens."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str, about: str = "") -> str:
        """Fold a text and return its token. `about` says what it is, if it wasn't pasted."""
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
        about = re.sub(r"[\[\]\s]+", " ", about).strip()
        name = f"{about[:40]}, {size}" if about else size
        token, number = f"[{name}]", 1
        while self._texts.get(token, text) != text:
            number += 1
            token = f"[{name} #{number}]"
        self._texts[token] = text
        return token

    def expand(self, text: str) -> str:
        """Replace all tokens by the texts that they stand for."""
        return _TOKEN.sub(lambda found: self._texts.get(found[0], found[0]), text) if self._texts else text

    def fold_known(self, text: str) -> str:
        """Replace texts that were folded before by their tokens, for a prompt that comes back."""
        for token, known in self._texts.items():
            text = text.replace(known, token)
        return text

    def find(self, line: str, column: int) -> FoldAt | None:
        """Return the token that ends at a column or contains it."""
        return next((each for each in self.list(line) if each.start < column <= each.end), None)

    def list(self, line: str) -> list[FoldAt]:
        """Return the tokens of a line."""
        if not self._texts or "[" not in line:
            return []
        found = _TOKEN.finditer(line)
        return [FoldAt(each.start(), each.end(), self._texts[each[0]]) for each in found if each[0] in self._texts]


def is_long(text: str) -> bool:
    """Return whether pasted text is folded."""
    return text.count("\n") + 1 >= MIN_LINES or len(text) >= MIN_CHARACTERS
