"""What the keys of a screen do, on as many lines as it takes: a hint that is cut off helps nobody."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

BETWEEN = " · "


def folded(hints: Sequence[str], width: int) -> list[str]:
    """Hints on lines of this width. A line is broken between two hints, and within one only if it alone is too long."""
    lines: list[str] = []
    for hint in hints:
        longer = f"{lines[-1]}{BETWEEN}{hint}" if lines else hint
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        elif cell_len(hint) <= width:
            lines.append(hint)
        else:
            lines += _broken(hint, max(width, 1))
    return lines


def shortest(ways: Sequence[str], width: int) -> str:
    """The first of some ways to say a thing that fits; where none does, the last."""
    return next((each for each in ways if cell_len(each) <= width), ways[-1])


def _broken(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width)


class Hints(Widget):
    """The last lines of a box."""

    DEFAULT_CSS = "Hints { height: auto; color: $foreground 60%; }"

    def __init__(self, *hints: str) -> None:
        super().__init__()
        self._hints = hints

    def say(self, *hints: str) -> None:
        """Shows others."""
        if hints != self._hints:
            self._hints = hints
            self.refresh(layout=True)

    def rows(self, width: int) -> int:
        return len(folded(self._hints, width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.rows(width)

    def render(self) -> Text:
        return Text("\n".join(folded(self._hints, self.size.width)), no_wrap=True)
