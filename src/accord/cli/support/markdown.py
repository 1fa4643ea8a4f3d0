"""Markdown of a streaming answer, rendered block by block.

Rich does the rendering. It comes with the terminal client; without it, an answer is printed as it is."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown, MarkdownElement


def is_available() -> bool:
    """Return whether Rich is installed."""
    from importlib.util import find_spec

    try:
        return find_spec("rich") is not None and find_spec("markdown_it") is not None
    except (ImportError, ValueError):
        return False


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
        complete = self._pending
        if not everything:
            lines = self._pending.splitlines(keepends=True)
            starts = [token.map[0] for token in self._parser.parse(self._pending) if token.level == 0 and token.map]
            complete = "".join(lines[: starts[-1]]) if starts else ""
        if not complete.strip():
            if everything:
                self._pending = ""
            return []
        self._pending = self._pending[len(complete) :]
        lead = [""] if self._printed else []
        self._printed = True
        return lead + self._render(complete, width)

    def preview(self, width: int) -> list[str]:
        """Return the lines of the block that isn't complete yet."""
        if not self._pending.strip():
            return []
        return ([""] if self._printed else []) + self._render(self._pending, width)

    def _render(self, text: str, width: int) -> list[str]:
        from rich.console import Console

        file = io.StringIO()
        console = Console(
            file=file,
            width=max(width, 10),
            force_terminal=True,
            color_system="standard" if self._color else None,
            no_color=not self._color,
            legacy_windows=False,
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

    # Addresses are printed: a terminal link would hide where it leads.
    return LeftMarkdown(text, code_theme="ansi_dark", hyperlinks=False, inline_code_lexer=None)
