"""Colours and styles of what is drawn line by line, taken from the theme of the application."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from accord.tui.contrast import opaque, readable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_FEW_DARK = (236, 22, 28, 52, 88)
_FEW_LIGHT = (254, 194, 157, 224, 217)
"""Of 256 colours: behind the user's words, what was added, its words, what was removed, its words."""


class Look:
    """The styles of one theme, and a console that renders with them. Made anew when the theme changes."""

    def __init__(self, colours: Mapping[str, str], *, dark: bool, depth: str | None = "truecolor") -> None:
        """`depth` is how many colours the terminal has, in Rich's words."""

        def colour(name: str, share: float) -> Color:
            return ground.blend(opaque(colours[name], "#808080"), share)

        def words(name: str) -> Color:
            return readable(opaque(colours[name], "#808080"), ground, ink)

        ground = opaque(colours["background"], "#000000" if dark else "#ffffff")
        ink = opaque(colours["foreground"], "#e0e0e0" if dark else "#1f1f1f")
        self.dark = dark
        self.ground = ground.rich_color
        self.base = Style(color=ink.rich_color, bgcolor=ground.rich_color)
        self.dim = Style(color=readable(ground.blend(ink, 0.6), ground, ink).rich_color)
        self.faint = Style(color=ground.blend(ink, 0.3).rich_color)
        self.strong = Style(bold=True)
        self.accent = Style(color=words("accent").rich_color)
        self.primary = Style(color=words("primary").rich_color)
        self.good = Style(color=words("success").rich_color)
        self.warn = Style(color=words("warning").rich_color)
        self.bad = Style(color=words("error").rich_color)
        self.said = Style(bgcolor=colour("primary", 0.12).rich_color)
        """Behind the user's own words."""
        self.added = Style(bgcolor=colour("success", 0.16).rich_color)
        self.added_word = Style(bgcolor=colour("success", 0.38).rich_color)
        self.removed = Style(bgcolor=colour("error", 0.16).rich_color)
        self.removed_word = Style(bgcolor=colour("error", 0.38).rich_color)
        if depth != "truecolor":  # shades as weak as these would all become the same there
            few = _FEW_DARK if dark else _FEW_LIGHT
            self.said, self.added, self.added_word, self.removed, self.removed_word = (
                Style(bgcolor=f"color({number})") for number in few
            )
        self.code_theme = "ansi_dark" if dark else "ansi_light"
        self.code = Style(color=words("accent").rich_color)
        self._heading = Style(color=words("primary").rich_color, bold=True)
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """Renders Markdown, code and tables. Made when it is first needed: not before the first prompt is drawn."""
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
        """The lines of something that Rich can render."""
        options = self.console.options.update(width=max(width, 1), height=None)
        lines = self.console.render_lines(what, options, pad=False)
        base = self.base if style is None else self.base + style
        return [Strip(Segment.apply_style(line, base)) for line in lines]

    def wrapped(self, text: Text, width: int, style: Style | None = None) -> list[Strip]:
        """The lines of a text, broken between words."""
        base = self.base if style is None else self.base + style
        lines = text.wrap(self.console, max(width, 1))
        return [Strip(Segment.apply_style(line.render(self.console), base)) for line in lines]

    def line(self, *parts: tuple[str, Style | None]) -> Strip:
        """One line made of words and their styles."""
        return Strip([Segment(text, self.base if style is None else self.base + style) for text, style in parts])
