"""Markdown of a streaming answer, rendered block by block.

Rich does the rendering. It comes with the terminal client; without it, an answer is printed as it is."""

from __future__ import annotations

import io
import os
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown, MarkdownElement


MAX_BLOCK = 10_000
"""Longer blocks are printed in pieces: highlighting takes a millisecond per line, and everything else waits for it."""
MAX_PREVIEW = 4_000
"""How much of the end of an incomplete block is rendered each time."""


def is_available() -> bool:
    """Return whether Rich is installed."""
    from importlib.util import find_spec

    try:
        return find_spec("rich") is not None and find_spec("markdown_it") is not None
    except (ImportError, ValueError):
        return False


class _Rest(NamedTuple):
    """The rest of a text that was split."""

    text: str
    continues: bool = False
    """Whether it continues the code block that was split."""


class MarkdownStream:
    """Splits an answer into blocks as it arrives. All but the last block are complete."""

    def __init__(self, *, color: bool, has_lines_above: bool = False) -> None:
        """`has_lines_above` puts a blank line before the first block."""
        from markdown_it import MarkdownIt

        self._parser = MarkdownIt().enable(["table", "strikethrough"])
        self._color = color
        self._pending = ""
        self._printed = has_lines_above

    def feed(self, text: str) -> None:
        self._pending += text

    def take(self, width: int, *, everything: bool = False) -> list[str]:
        """Return the lines of the blocks that are complete, and forget them; at the end, of all blocks."""
        printed: list[str] = []
        while len(self._pending) > MAX_BLOCK:
            piece, rest = self._split(self._pending, MAX_BLOCK)
            self._pending = rest.text
            printed += self._print(piece, width)
            self._printed = not rest.continues
        complete = self._pending
        if not everything:
            starts = self._find_blocks(self._pending)
            complete = self._pending[: starts[-1]] if starts else ""
        if not complete.strip():
            if everything:
                self._pending = ""
            return printed
        self._pending = self._pending[len(complete) :]
        return printed + self._print(complete, width)

    def _print(self, text: str, width: int) -> list[str]:
        lead = [""] if self._printed else []
        self._printed = True
        return lead + self._render(text, width)

    def preview(self, width: int) -> list[str]:
        """Return the last lines of the block that isn't complete yet."""
        if not self._pending.strip():
            return []
        shown = self._pending
        if len(shown) > MAX_PREVIEW:
            shown = self._split(shown, len(shown) - MAX_PREVIEW)[1].text
        return ([""] if self._printed else []) + self._render(shown, width)

    def _find_blocks(self, text: str) -> list[int]:
        """Return the positions where blocks begin."""
        lines = text.splitlines(keepends=True)
        at = [0, *accumulate(map(len, lines))]
        return [at[token.map[0]] for token in self._parser.parse(text) if token.level == 0 and token.map]

    def _split(self, text: str, limit: int) -> tuple[str, _Rest]:
        """Split a text after at most `limit` characters: before a block, or at a line if there is only one."""
        head = text[:limit]
        starts = self._find_blocks(head)
        if starts and starts[-1] > 0:
            return head[: starts[-1]], _Rest(text[starts[-1] :])
        head = head[: head.rfind("\n") + 1] or head
        block = next((token for token in self._parser.parse(head) if token.level == 0), None)
        if block is not None and block.type == "fence" and block.map is not None:
            is_open = block.content.count("\n") >= block.map[1] - block.map[0] - 1
            if is_open:  # the rest is still code
                return head, _Rest(f"{block.markup}{block.info}\n{text[len(head) :]}", continues=True)
        return head, _Rest(text[len(head) :])

    def _render(self, text: str, width: int) -> list[str]:
        from rich.console import Console
        from rich.theme import Theme

        file = io.StringIO()
        console = Console(
            file=file,
            width=max(width, 10),
            force_terminal=True,
            color_system="standard" if self._color else None,
            no_color=not self._color,
            legacy_windows=False,
            theme=Theme({"markdown.code": "bold cyan"}),  # Rich adds a black background, also on light terminals
            _environ={name: os.environ[name] for name in ("TERM", "COLORTERM") if name in os.environ},
        )
        console.print(_markdown(text), end="")
        lines = file.getvalue().split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            del lines[0]
        return [line.rstrip() for line in lines]


def _markdown(text: str) -> Markdown:
    from rich.markdown import Heading, Markdown

    class LeftHeading(Heading):
        """A heading at the left; Rich centers it."""

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            yield self.text

    class LeftMarkdown(Markdown):
        elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": LeftHeading}

    # URLs are printed: a terminal link would hide its target.
    return LeftMarkdown(text, code_theme="ansi_dark", hyperlinks=False, inline_code_lexer=None)
