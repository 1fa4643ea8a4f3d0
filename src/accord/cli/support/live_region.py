"""Output on a terminal with lines at its bottom that are rewritten in place."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence
from typing import IO

STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}


class LiveRegion:
    """Prints lines that stay, above lines that are replaced by the next ones.

    All text must be sanitized; style it with `paint` after `fit` has cut it to the terminal's width."""

    def __init__(self, stream: IO[str], *, color: bool) -> None:
        self._stream = stream
        self._color = color
        self._widths: list[int] = []
        """The width in cells of each line that can be replaced."""
        self.is_held = False
        """Whether something else, such as a question, uses the terminal."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal, now."""
        columns, rows = shutil.get_terminal_size()
        return max(columns, 4), max(rows, 3)

    def paint(self, text: str, *styles: str) -> str:
        """Style a text. If colors are off, only bold and dim apply."""
        codes = [str(STYLES[style]) for style in styles if self._color or style in ("bold", "dim")]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes and text else text

    def fit(self, text: str, reserved: int = 0) -> str:
        """Truncate a text to the terminal's width less `reserved` cells."""
        return fit(text, self.size[0] - 1 - reserved)

    def draw(self, stays: Sequence[str], live: Sequence[tuple[str, int]] = ()) -> None:
        """Print `stays` permanently, and replace the lines at the bottom by `live`, each with its width in cells."""
        parts = [self._erase()]
        parts += [f"{line}\n" for line in stays]
        if live and not self.is_held:
            parts.append("\n".join(line for line, _ in live))
            self._widths = [width for _, width in live]
        if text := "".join(parts):
            self._stream.write(text)
            self._stream.flush()

    def _erase(self) -> str:
        """Return the sequence that erases the lines at the bottom, which a narrower terminal may have wrapped."""
        widths, self._widths = self._widths, []
        if not widths:
            return ""
        columns = self.size[0]
        rows = sum(max(1, -(-width // columns)) for width in widths)
        up = f"\x1b[{rows - 1}A" if rows > 1 else ""
        return f"\r{up}\x1b[J"


def measure(text: str) -> int:
    """Return the most cells that a text can take in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def fit(text: str, cells: int) -> str:
    """Truncate a text to a number of cells."""
    if measure(text) <= cells:
        return text
    while text and measure(text) > cells - 1:
        text = text[: -max(1, (measure(text) - cells) // 2)]
    return f"{text}…" if cells > 0 else ""
