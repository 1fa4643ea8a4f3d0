"""Markdown as lines, while it is still being written.

Text comes in pieces. All blocks but the last are finished and are never looked at again; only the last one is parsed
and drawn anew with each piece, so a piece costs the same however long the message is. A block that grows too long to
be drawn again and again is cut, and what follows goes on as the same kind of block."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from textual.strip import Strip

from accord.tui.conversation.block import EDGE
from accord.tui.conversation.paragraph import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token
    from rich.console import Console, ConsoleOptions, RenderResult

    from accord.tui.look import Look

MOST_UNSETTLED = 6000
"""Characters of the last block that are still drawn anew; a longer block is cut."""
_parser = MarkdownIt("commonmark").enable(["strikethrough", "table"]).disable(["html_inline", "html_block"])
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Prose:
    """The lines of a text that grows. `fence` is the line that opened the code block it begins in, if it does."""

    def __init__(self, look: Look, width: int, style: Style | None = None, fence: str = "") -> None:
        self._look = look
        self._width = max(width, 8)
        self._style = style
        self._settled: list[Strip] = []
        self._open = ""
        self._opener = (
            f"{fence}\n" if fence else ""
        )  # what makes the rest of a block that was cut the same kind of block
        self._tail: list[Strip] | None = []
        self._has_blocks = False
        self._goes_on = False  # whether what is open is the rest of a paragraph that was cut

    @property
    def lines(self) -> list[Strip]:
        """All lines as they are now."""
        tail = self.tail  # first: reading it settles what comes before it
        return [*self._settled, *tail]

    @property
    def settled(self) -> list[Strip]:
        """The lines that will not change any more."""
        return self._settled

    @property
    def tail(self) -> list[Strip]:
        """The lines of what may still change."""
        if self._tail is None:
            self._tail = self._read()
        return self._tail

    def feed(self, text: str) -> None:
        """Takes what was written since. Nothing is drawn yet."""
        while text:
            room = max(MOST_UNSETTLED - len(self._open), 512)
            self._open += text[:room]
            text = text[room:]
            self._tail = None
            if len(self._open) >= MOST_UNSETTLED:
                self._tail = self._read()
                if len(self._open) >= MOST_UNSETTLED:
                    self._cut()

    def _read(self) -> list[Strip]:
        """Parses what is open; gives the lines of its last block and settles those before it."""
        source = self._opener + self._open
        tokens = _parser.parse(source)
        starts = [place for place, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
        if not starts:
            return []
        last = starts[-1]
        place = tokens[last].map
        first_line = place[0] if place else 0
        if last > 0 and first_line > 0:
            for begin, end in pairwise(starts):
                self._settle(tokens[begin:end])
                self._opener = ""  # only the first of them goes on with what was cut
            # Lines are found by counting: markdown-it counts every line end once.
            self._open = "\n".join(source.split("\n")[first_line:])
        return self._drawn(tokens[last:])

    def _settle(self, tokens: list[Token]) -> None:
        self._settled += self._drawn(tokens)
        self._has_blocks = True
        self._goes_on = False

    def _drawn(self, tokens: list[Token]) -> list[Strip]:
        words = paragraph(tokens, self._look)
        if words is not None:
            lines = self._look.wrapped(words, self._width, self._style)
        else:
            lines = self._look.draw(_Words(tokens, self._look.code_theme), self._width, self._style)
        while lines and not lines[-1].text.strip():
            lines.pop()
        while lines and not lines[0].text.strip():
            lines.pop(0)
        needs_gap = self._has_blocks and lines and not self._opener and not self._goes_on
        return [self._look.line(("", None)), *lines] if needs_gap else lines

    def _cut(self) -> None:
        """Settles most of a block that is too long, and remembers how to go on with it."""
        source = self._opener + self._open
        end = source.rfind("\n", 0, len(source) - 1) + 1 or source.rfind(" ", 0, len(source) - 1) + 1
        fence = _FENCE.match(source)
        if not end or (fence and end <= fence.end() + 1):
            end = len(source)
        head, rest = source[:end], source[end:]
        tokens = _parser.parse(head)
        self._settle(tokens)
        self._goes_on = bool(tokens) and tokens[-1].type == "paragraph_close"  # more of it is no new one
        rows = head.split("\n", 2)
        if fence:
            self._opener = f"{fence[0]}\n"
        elif len(rows) > 2 and "|" in rows[0] and re.fullmatch(r"[\s|:-]+", rows[1]):
            self._opener = ""  # a table goes on with its header shown again
            rest = f"{rows[0]}\n{rows[1]}\n{rest}"
        self._open = rest
        self._tail = None


class _Code(CodeBlock):
    """Code with its colours, and a line at its side instead of a box of another colour."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        width = max(options.max_width - 2, 4)
        syntax = Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default")
        bar = Segment("│ ", console.get_style("markdown.hr") + EDGE)
        for line in console.render_lines(syntax, options.update(width=width), pad=False):
            yield bar
            yield from line
            yield Segment.line()


class _Heading(Heading):
    """A heading at the left, like everything else."""

    LEVEL_ALIGN = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "left")


class _Words(Markdown):
    """Markdown that was parsed already."""

    elements = {**Markdown.elements, "fence": _Code, "code_block": _Code, "heading_open": _Heading}

    def __init__(self, tokens: list[Token], code_theme: str) -> None:
        self.markup = ""
        self.parsed = tokens
        self.code_theme = code_theme
        self.justify = None
        self.style: Any = "none"
        self.hyperlinks = True
        self.inline_code_lexer = None
        self.inline_code_theme = code_theme

    def _flatten_tokens(self, tokens: Iterable[Token]) -> Iterable[Token]:
        for token in super()._flatten_tokens(tokens):
            # Single line ends inside a paragraph are kept: agents write lists of short lines and mean them.
            if token.type == "softbreak":
                token.type = "hardbreak"
            yield token
