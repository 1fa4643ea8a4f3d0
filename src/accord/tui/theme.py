"""Our two themes, and the styles of a theme for line-by-line rendering.

The rule of color: each color has one meaning, in every theme and every widget.

| color | meaning |
|---|---|
| accent | active: has the focus, is selected, is running, or can be opened |
| success | it worked, or was added |
| warning | waits for you, or needs your care |
| danger | failed, was refused, or was removed |
| muted | of secondary importance: hints, times, what is over |

Everything else has the color of text, and stands out by weight or by a tinted background. Source code has its
own colors. Nothing is indicated by color alone."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip
from textual.theme import Theme

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.syntax import SyntaxTheme
    from rich.text import Text

DARK = Theme(
    name="accord-dark",
    dark=True,
    background="#15161c",
    surface="#1d1e26",
    panel="#262833",
    foreground="#e3e3ea",
    primary="#a79bff",
    secondary="#7f8cd9",
    accent="#a79bff",
    success="#7ccf8f",
    warning="#edbb5f",
    error="#ff7d85",
    variables={
        "block-cursor-background": "#a79bff",
        "block-cursor-foreground": "#15161c",
        "input-selection-background": "#a79bff 30%",
        "code-keyword": "#c59bf5",
        "code-string": "#9ece8a",
        "code-number": "#f0a672",
        "code-name": "#7fb4f5",
        "code-type": "#67c7cf",
    },
)
LIGHT = Theme(
    name="accord-light",
    dark=False,
    background="#fcfbf9",
    surface="#f3f1ed",
    panel="#e9e6e0",
    foreground="#24242c",
    primary="#5743c4",
    secondary="#4a5bb0",
    accent="#5743c4",
    success="#1a7339",
    warning="#8a5700",
    error="#b92331",
    variables={
        "block-cursor-background": "#5743c4",
        "block-cursor-foreground": "#fcfbf9",
        "input-selection-background": "#5743c4 25%",
        "code-keyword": "#8228a8",
        "code-string": "#2c6b2f",
        "code-number": "#a3480a",
        "code-name": "#1d58b8",
        "code-type": "#0b6673",
    },
)
THEMES = (DARK, LIGHT)
_SIXTEEN_COLORS: dict[str, dict[str, Any]] = {
    DARK.name: {
        "primary": "#ff55ff",
        "accent": "#ff55ff",
        "success": "#55ff55",
        "warning": "#ffff55",
        "error": "#ff5555",
    },
    LIGHT.name: {"success": "#007700"},
}
"""Changes to our themes on a terminal with 16 colors, where pastel colors would be rounded to gray. In a container,
`TERM` is `xterm` by default, which has no more."""
APP_CSS = """
* { scrollbar-size-vertical: 1; }
Screen { background: $background; }
ModalScreen { background: $background 70%; }
#tabs { height: 1fr; }
ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
ModalScreen ToastRack { margin: 0; }
Toast { max-width: 60%; margin-top: 0; padding: 0 1; background: $background; border: round $primary; }
Toast.-information { border: round $primary; }
Toast.-warning { border: round $warning; }
Toast.-error { border: round $error; }
.-calm Toast { border: none; }
.-tall Headline, .-tall KeyLine { display: block; }
.-calm Headline, .-calm KeyLine { display: none; }
Modal > Vertical, Modal > VerticalScroll { border-subtitle-color: $muted; }
.-calm ModalScreen { background: $background; }
.-calm ModalScreen { align: left top; }
.-calm Modal > Vertical, .-calm Modal > VerticalScroll { width: 100%; max-width: 100%; max-height: 100%; }
"""
"""The style that all widgets share."""
_FEW_DARK = (235, 237, 22, 28, 52, 88)
_FEW_LIGHT = (255, 253, 194, 157, 224, 217)
"""Backgrounds for 256 colors: the user's text, code, added lines and words, removed lines and words."""


def themes_for(depth: str | None) -> list[Theme]:
    """Return our themes for a color system, as Rich names it."""
    if depth != "standard":
        return list(THEMES)
    return [replace(theme, **_SIXTEEN_COLORS[theme.name]) for theme in THEMES]


class TextStyles:
    """The styles of one theme, and a console that renders with them. Replaced when the theme changes."""

    def __init__(self, colors: Mapping[str, str], *, dark: bool, depth: str | None = "truecolor") -> None:
        """`depth` is the color system of the terminal, as Rich names it."""

        def color(name: str, share: float) -> Color:
            return ground.blend(opaque(colors[name], "#808080"), share)

        def words(name: str) -> Color:
            return readable(opaque(colors[name], "#808080"), ground, ink)

        ground = opaque(colors["background"], "#000000" if dark else "#ffffff")
        ink = opaque(colors["foreground"], "#e0e0e0" if dark else "#1f1f1f")
        self.dark = dark
        self.ground: RichColor = ground.rich_color
        self.base: Style = Style(color=ink.rich_color, bgcolor=ground.rich_color)
        self.strong: Style = Style(bold=True)
        self.faint: Style = Style(color=ground.blend(ink, 0.3).rich_color)
        """Lines and other decoration; too pale for text."""
        # Themes of others use their own accent for decoration, some even the same color as for warnings.
        self.accent: Style = Style(color=words("primary").rich_color)
        self.good: Style = Style(color=words("success").rich_color)
        self.warn: Style = Style(color=words("warning").rich_color)
        self.bad: Style = Style(color=words("error").rich_color)
        self.dim: Style = Style(color=readable(ground.blend(ink, 0.6), ground, ink).rich_color)
        self.said: Style = Style(bgcolor=ground.blend(ink, 0.09).rich_color)
        """Background of the user's own messages."""
        self.code: Style = Style(bgcolor=ground.blend(ink, 0.13).rich_color)
        """Background of code within a line."""
        source = next(name for name in ("code-type", "secondary", "primary") if name in colors)
        self.source: Style = Style(color=words(source).rich_color)
        """Source code that isn't highlighted by its language."""
        self.added: Style = Style(bgcolor=color("success", 0.16).rich_color)
        self.added_word: Style = Style(bgcolor=color("success", 0.38).rich_color)
        self.removed: Style = Style(bgcolor=color("error", 0.16).rich_color)
        self.removed_word: Style = Style(bgcolor=color("error", 0.38).rich_color)
        if depth != "truecolor":  # such similar shades would all be rounded to the same color
            few = _FEW_DARK if dark else _FEW_LIGHT
            self.said, self.code, self.added, self.added_word, self.removed, self.removed_word = (
                Style(bgcolor=f"color({number})") for number in few
            )
        if depth == "standard":  # no background is dark or pale enough for colored text
            # The exact values, because Textual would replace the colors by their number with its own.
            good, bad = ("#55ff55", "#ff5555") if dark else ("#00aa00", "#aa0000")
            self.added, self.removed = Style(color=good), Style(color=bad)
            self.added_word = Style(color="#000000", bgcolor="#00aa00")
            self.removed_word = Style(color="#ffffff", bgcolor="#aa0000")
        self._colors = colors
        self._code_theme: SyntaxTheme | None = None
        self._console: Console | None = None

    @property
    def code_theme(self) -> SyntaxTheme:
        """The colors of source code, without a background. Created lazily, because Pygments is slow to import."""
        if self._code_theme is None:
            self._code_theme = self._make_code_theme()
        return self._code_theme

    def _make_code_theme(self) -> SyntaxTheme:
        from rich.syntax import ANSISyntaxTheme

        token: Any = import_module("pygments.token")  # it has no types

        ink, ground = Color.from_rich_color(self.base.color), Color.from_rich_color(self.ground)

        def style(name: str, otherwise: str) -> Style:
            wanted = self._colors.get(name) or self._colors.get(otherwise) or self._colors["primary"]
            return Style(color=readable(opaque(wanted, "#808080"), ground, ink).rich_color)

        name = style("code-name", "primary")
        number = style("code-number", "warning")
        comment = Style(color=readable(ground.blend(ink, 0.75), ground, ink).rich_color, italic=True)
        return ANSISyntaxTheme(
            {
                token.Comment: comment,
                token.Keyword: style("code-keyword", "accent"),
                token.Keyword.Constant: number,
                token.Keyword.Type: style("code-type", "secondary"),
                token.Operator.Word: style("code-keyword", "accent"),
                token.Name.Builtin: style("code-type", "secondary"),
                token.Name.Class: style("code-type", "secondary"),
                token.Name.Decorator: name,
                token.Name.Function: name,
                token.Name.Tag: style("code-keyword", "accent"),
                token.Name.Attribute: name,
                token.Literal.String: style("code-string", "success"),
                token.Literal.Number: number,
                token.Generic.Inserted: self.good,
                token.Generic.Deleted: self.bad,
                token.Generic.Heading: Style(bold=True),
                token.Generic.Subheading: Style(bold=True),
                token.Generic.Emph: Style(italic=True),
                token.Generic.Strong: Style(bold=True),
            }
        )

    @property
    def console(self) -> Console:
        """Renders Markdown, code and tables. Created lazily, so that it doesn't delay the first prompt."""
        if self._console is None:
            from rich.console import Console
            from rich.theme import Theme as ConsoleTheme

            heading, link = self.strong, self.accent + Style(underline=True)
            theme = ConsoleTheme(
                {
                    "markdown.code": self.code,
                    "markdown.code_block": Style(),
                    "markdown.h1": heading + Style(underline=True),
                    **{f"markdown.h{level}": heading for level in range(2, 7)},
                    "markdown.block_quote": self.dim,
                    "markdown.hr": self.faint,
                    "markdown.item.bullet": self.dim,
                    "markdown.item.number": self.dim,
                    "markdown.link": link,
                    "markdown.link_url": link,
                    "markdown.table.border": self.faint,
                    "markdown.table.header": heading,
                    "markdown.s": Style(strike=True),
                }
            )
            self._console = Console(
                file=io.StringIO(), force_terminal=True, color_system="truecolor", theme=theme, legacy_windows=False
            )
        return self._console

    @property
    def css_variables(self) -> dict[str, str]:
        """The colors that widgets of Textual need besides those of the theme."""
        ground, ink = Color.from_rich_color(self.ground), Color.from_rich_color(self.base.color)
        thumb, track = ground.blend(ink, 0.3).hex, ground.hex
        return {
            "muted": Color.from_rich_color(self.dim.color).hex,
            "line": ground.blend(ink, 0.2).hex,
            "tint": ground.blend(ink, 0.09).hex,
            "scrollbar": thumb,
            "scrollbar-hover": Color.from_rich_color(self.dim.color).hex,
            "scrollbar-active": Color.from_rich_color(self.accent.color).hex,
            **dict.fromkeys(
                (
                    f"scrollbar-{each}"
                    for each in ("background", "background-hover", "background-active", "corner-color")
                ),
                track,
            ),
        }

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
"""Approximate RGB values of the terminal's colors, for themes that use them."""


def opaque(color: str, otherwise: str) -> Color:
    """Parse a color of a theme, ignoring transparency."""
    name = color.partition(" ")[0]
    if name.startswith("ansi_"):
        name = _ANSI.get(name.removeprefix("ansi_").removeprefix("bright_"), otherwise)
    return Color.parse(otherwise if name.startswith("auto") else name)


def readable(wanted: Color, ground: Color, ink: Color, least: float = MIN_CONTRAST) -> Color:
    """Mix a color with as much of the ink as it needs to be readable on the ground."""
    for step in range(_STEPS):
        mixed = wanted.blend(ink, step / _STEPS)
        if ratio(mixed, ground) >= least:
            return mixed
    return ink


def ratio(one: Color, other: Color) -> float:
    """Return the WCAG contrast ratio of two colors, from 1 to 21."""
    dark, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
