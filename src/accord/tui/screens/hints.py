"""Key hints of a screen, wrapped over as many lines as they need, because a truncated hint is useless."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

from rich.cells import cell_len
from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

BETWEEN = " · "


@runtime_checkable
class HasFocusKeys(Protocol):
    """A widget whose keys the key line shows while the widget has the focus; the last one lists all keys."""

    focus_keys: ClassVar[tuple[str, ...]]


def wrap_hints(hints: Sequence[str], width: int) -> list[str]:
    """Wrap hints to a width. Lines break between two hints, and within one only if it is too long for a line."""
    lines: list[str] = []
    for hint in hints:
        longer = f"{lines[-1]}{BETWEEN}{hint}" if lines else hint
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        elif cell_len(hint) <= width:
            lines.append(hint)
        else:
            lines += _break_words(hint, max(width, 1))
    return lines


def first_fitting(variants: Sequence[str], width: int) -> str:
    """Return the first variant of a text that fits, or else the last. Variants go from long to short."""
    return next((each for each in variants if cell_len(each) <= width), variants[-1])


def _break_words(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width)


class Hints(Widget):
    """Key hints at the bottom of a box."""

    DEFAULT_CSS: ClassVar[str] = "Hints { height: auto; color: $muted; }"

    def __init__(self, *hints: str) -> None:
        super().__init__()
        self._hints = hints

    def say(self, *hints: str) -> None:
        """Show other hints."""
        if hints != self._hints:
            self._hints = hints
            self.refresh(layout=True)

    def rows(self, width: int) -> int:
        return len(wrap_hints(self._hints, width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.rows(width)

    def render(self) -> Text:
        return Text("\n".join(wrap_hints(self._hints, self.size.width)), no_wrap=True)
