"""Colours and styles for line-by-line rendering, derived from the Textual theme."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_FEW_DARK = (236, 22, 28, 52, 88)
_FEW_LIGHT = (254, 194, 157, 224, 217)
"""Backgrounds for 256 colours: the user's text, added lines and words, removed lines and words."""


class TextStyles:
    """The styles of one theme, and a console that renders with them. Replaced when the theme changes."""

    def __init__(self, colours: Mapping[str, str], *, dark: bool, depth: str | None = "truecolor") -> None:
        """`depth` is the colour system of the terminal, as Rich names it."""

        def colour(name: str, share: float) -> Color:
            return ground.blend(opaque(colours[name], "#808080"), share)

        def words(name: str) -> Color:
            return readable(opaque(colours[name], "#808080"), ground, ink)

        ground = opaque(colours["background"], "#000000" if dark else "#ffffff")
        ink = opaque(colours["foreground"], "#e0e0e0" if dark else "#1f1f1f")
        self.dark = dark
        self.ground: RichColor = ground.rich_color
        self.base: Style = Style(color=ink.rich_color, bgcolor=ground.rich_color)
        self.dim: Style = Style(color=readable(ground.blend(ink, 0.6), ground, ink).rich_color)
        self.faint: Style = Style(color=ground.blend(ink, 0.3).rich_color)
        self.strong: Style = Style(bold=True)
        self.accent: Style = Style(color=words("accent").rich_color)
        self.primary: Style = Style(color=words("primary").rich_color)
        self.good: Style = Style(color=words("success").rich_color)
        self.warn: Style = Style(color=words("warning").rich_color)
        self.bad: Style = Style(color=words("error").rich_color)
        self.said: Style = Style(bgcolor=colour("primary", 0.12).rich_color)
        """Background of the user's own messages."""
        self.added: Style = Style(bgcolor=colour("success", 0.16).rich_color)
        self.added_word: Style = Style(bgcolor=colour("success", 0.38).rich_color)
        self.removed: Style = Style(bgcolor=colour("error", 0.16).rich_color)
        self.removed_word: Style = Style(bgcolor=colour("error", 0.38).rich_color)
        if depth != "truecolor":  # such weak shades would all be rounded to the same colour
            few = _FEW_DARK if dark else _FEW_LIGHT
            self.said, self.added, self.added_word, self.removed, self.removed_word = (
                Style(bgcolor=f"color({number})") for number in few
            )
        self.code_theme = "ansi_dark" if dark else "ansi_light"
        self.code: Style = Style(color=words("accent").rich_color)
        self._heading = Style(color=words("primary").rich_color, bold=True)
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """Renders Markdown, code and tables. Created lazily, so that it doesn't delay the first prompt."""
        if self._console is None:
            from rich.console import Console
            from rich.theme import Theme

            quiet = self.dim
            theme = Theme(
                {
                    "markdown.code": self.code,
                    "markdown.code_block": Style(),
                    "markdown.h1": self._heading + Style(underline=True),
                    **{f"markdown.h{level}": self._heading for level in range(2, 7)},
                    "markdown.block_quote": quiet,
                    "markdown.hr": self.faint,
                    "markdown.item.bullet": self.accent,
                    "markdown.item.number": self.accent,
                    "markdown.link": self.primary + Style(underline=True),
                    "markdown.link_url": self.primary + Style(underline=True),
                    "markdown.table.border": self.faint,
                    "markdown.table.header": self._heading,
                    "markdown.s": Style(strike=True),
                }
            )
            self._console = Console(
                file=io.StringIO(), force_terminal=True, color_system="truecolor", theme=theme, legacy_windows=False
            )
        return self._console

    def draw(self, what: RenderableType, width: int, style: Style | None = None) -> list[Strip]:
        """Render something with Rich, as lines."""
        options = self.console.options.update(width=max(width, 1), height=None)
        lines = self.console.render_lines(what, options, pad=False)
        base = self.base if style is None else self.base + style
        return [Strip(Segment.apply_style(line, base)) for line in lines]

    def wrap(self, text: Text, width: int, style: Style | None = None) -> list[Strip]:
        """Wrap a text between words."""
        base = self.base if style is None else self.base + style
        lines = text.wrap(self.console, max(width, 1))
        return [Strip(Segment.apply_style(line.render(self.console), base)) for line in lines]

    def line(self, *parts: tuple[str, Style | None]) -> Strip:
        """Make one line of styled texts."""
        return Strip([Segment(text, self.base if style is None else self.base + style) for text, style in parts])


MIN_CONTRAST = 4.5
"""Minimum contrast ratio of text and background (WCAG AA)."""
_STEPS = 10
_ANSI = {"red": "#cd3131", "green": "#0dbc79", "yellow": "#c19c00", "blue": "#3b78ff", "magenta": "#bc3fbc"}
"""Approximate RGB values of the terminal's colours, for themes that use them."""


def opaque(colour: str, otherwise: str) -> Color:
    """Parse a colour of a theme, ignoring transparency."""
    name = colour.partition(" ")[0]
    if name.startswith("ansi_"):
        name = _ANSI.get(name.removeprefix("ansi_").removeprefix("bright_"), otherwise)
    return Color.parse(otherwise if name.startswith("auto") else name)


def readable(wanted: Color, ground: Color, ink: Color, least: float = MIN_CONTRAST) -> Color:
    """Mix a colour with as much of the ink as it needs to be readable on the ground."""
    for step in range(_STEPS):
        mixed = wanted.blend(ink, step / _STEPS)
        if ratio(mixed, ground) >= least:
            return mixed
    return ink


def ratio(one: Color, other: Color) -> float:
    """Return the WCAG contrast ratio of two colours, from 1 to 21."""
    dark, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
