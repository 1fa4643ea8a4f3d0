"""Streaming Markdown: render a text to lines while it is still being written.

Text arrives in pieces. All blocks but the last are settled and never touched again; only the last one is parsed and
rendered again with each piece, so a piece costs the same however long the message is. A block that grows too long for
that is split, and the rest continues as the same kind of block."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from rich.markdown import BlockQuote, CodeBlock, Heading, HorizontalRule, ListElement, ListItem, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from textual.strip import Strip

from accord.tui.transcript.blocks.base import EDGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.syntax import SyntaxTheme

    from accord.tui.theme import TextStyles


MAX_UNSETTLED = 6000
"""Characters up to which the last block is rendered again as it grows; a longer block is split."""
_parser = MarkdownIt("commonmark").enable(["strikethrough", "table"]).disable(["html_inline", "html_block"])
_FOOTNOTE = re.compile(r"\[\^([^\s\]]{1,40})\]")
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_TASK = re.compile(r"\[([ xX])\]\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a paragraph that begins with `[^1]:` as a footnote, not as the definition of a link."""
    begin = state.bMarks[start] + state.tShift[start]
    label = _FOOTNOTE.match(state.src, begin, state.eMarks[start])
    if label is None or state.src[label.end() : label.end() + 1] != ":" or state.is_code_block(start):
        return False
    if silent:
        return True
    line = start + 1
    while line < end and not state.isEmpty(line):
        line += 1
    token = state.push("paragraph_open", "p", 1)
    token.map = [start, line]
    token = state.push("inline", "", 0)
    words = state.getLines(start, line, state.blkIndent, False).strip()[label.end() - begin + 1 :].strip()
    token.content, token.map, token.children = f"{label[0]} {words}", [start, line], []
    state.push("paragraph_close", "p", -1)
    state.line = line
    return True


_parser.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph"]})


def _raise_footnotes(text: str) -> str:
    """Show `[^1]` as a raised number."""
    return _FOOTNOTE.sub(
        lambda found: found[1].translate(_SUPERSCRIPT) if found[1].isdecimal() else f"[{found[1]}]", text
    )


class Prose:
    """The lines of a growing text. `fence` is the opening line of the code block it starts in, if any."""

    def __init__(self, text_styles: TextStyles, width: int, style: Style | None = None, fence: str = "") -> None:
        self._text_styles = text_styles
        self._width = max(width, 8)
        self._style = style
        self._settled: list[Strip] = []
        self._open = ""
        self._opener = f"{fence}\n" if fence else ""  # makes the rest of a split block the same kind of block
        self._tail: list[Strip] | None = []
        self._has_blocks = False
        self._goes_on = False  # whether the open text continues a split paragraph

    @property
    def lines(self) -> list[Strip]:
        """All lines."""
        tail = self.tail  # first: reading the tail settles lines before it
        return [*self._settled, *tail]

    @property
    def settled(self) -> list[Strip]:
        """The lines that won't change any more."""
        return self._settled

    @property
    def tail(self) -> list[Strip]:
        """The lines that may still change."""
        if self._tail is None:
            self._tail = self._read()
        return self._tail

    def feed(self, text: str) -> None:
        """Append text. Nothing is rendered yet."""
        while text:
            room = max(MAX_UNSETTLED - len(self._open), 512)
            self._open += text[:room]
            text = text[room:]
            self._tail = None
            if len(self._open) >= MAX_UNSETTLED:
                self._tail = self._read()
                if len(self._open) >= MAX_UNSETTLED:
                    self._cut()

    def _read(self) -> list[Strip]:
        """Parse the open text: return the lines of its last block, and settle the blocks before it."""
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
                self._opener = ""  # only the first block continues the split one
            # Lines are located by counting: markdown-it counts every line end once.
            self._open = "\n".join(source.split("\n")[first_line:])
        return self._render(tokens[last:])

    def _settle(self, tokens: list[Token]) -> None:
        self._settled += self._render(tokens)
        self._has_blocks = True
        self._goes_on = False

    def _render(self, tokens: list[Token]) -> list[Strip]:
        words = paragraph(tokens, self._text_styles)
        if words is not None:
            lines = self._text_styles.wrap(words, self._width, self._style)
        else:
            lines = self._text_styles.draw(_Words(tokens, self._text_styles.code_theme), self._width, self._style)
        while lines and not lines[-1].text.strip():
            lines.pop()
        while lines and not lines[0].text.strip():
            lines.pop(0)
        needs_gap = self._has_blocks and lines and not self._opener and not self._goes_on
        return [self._text_styles.line(("", None)), *lines] if needs_gap else lines

    def _cut(self) -> None:
        """Settle most of a block that is too long, and remember how to continue it."""
        source = self._opener + self._open
        end = source.rfind("\n", 0, len(source) - 1) + 1 or source.rfind(" ", 0, len(source) - 1) + 1
        fence = _FENCE.match(source)
        if not end or (fence and end <= fence.end() + 1):
            end = len(source)
        head, rest = source[:end], source[end:]
        tokens = _parser.parse(head)
        self._settle(tokens)
        self._goes_on = bool(tokens) and tokens[-1].type == "paragraph_close"  # more text continues it
        rows = head.split("\n", 2)
        if fence:
            self._opener = f"{fence[0]}\n"
        elif len(rows) > 2 and "|" in rows[0] and re.fullmatch(r"[\s|:-]+", rows[1]):
            self._opener = ""  # a split table repeats its header
            rest = f"{rows[0]}\n{rows[1]}\n{rest}"
        self._open = rest
        self._tail = None


class _Code(CodeBlock):
    """A code block with syntax highlighting, and a bar at its side instead of a background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # `Syntax` itself would give each line a background as wide as its text.
        syntax: Any = Syntax("", self.lexer_name, theme=self.theme)
        code = syntax.highlight(str(self.text).rstrip("\n"))
        code.rstrip()
        bar = Segment("│ ", console.get_style("markdown.hr") + EDGE)
        for line in console.render_lines(code, options.update(width=max(options.max_width - 2, 4)), pad=False):
            yield bar
            yield from line
            yield Segment.line()


class _Quote(BlockQuote):
    """A quotation, with a bar at its side."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bar = Segment("▎ ", console.get_style("markdown.hr") + EDGE)
        options = options.update(width=max(options.max_width - 2, 4))
        for line in console.render_lines(self.elements, options, style=self.style, pad=False):
            yield bar
            yield from line
            yield Segment.line()


class _Rule(HorizontalRule):
    """A line across the page."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment("─" * options.max_width, console.get_style("markdown.hr"))
        yield Segment.line()


class _List(ListElement):
    """A list with bullets, numbers or boxes of tasks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = 1 if self.list_start is None else self.list_start
        width = len(str(first + len(self.items) - 1))
        for number, item in enumerate(self.items, first):
            mark = "•" if self.list_type == "bullet_list_open" else f"{number:>{width}}."
            task = item.task if isinstance(item, _Item) else None
            if task is not None:
                mark = f"{'' if mark == '•' else f'{mark} '}{'☐' if task == ' ' else '☑'}"
            yield from _render_item(item, f"{mark} ", console, options)


class _Item(ListItem):
    """An item of a list, and whether it is a task: a space while it is open, else x."""

    def __init__(self, task: str | None = None) -> None:
        super().__init__()
        self.task = task

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Item:
        return cls(token.meta.get("task"))


def _render_item(item: ListItem, mark: str, console: Console, options: ConsoleOptions) -> RenderResult:
    options = options.update(width=max(options.max_width - len(mark), 1))
    edge = Segment(mark, console.get_style("markdown.item.bullet"))
    for line in console.render_lines(item.elements, options, style=item.style, pad=False):
        yield edge
        yield from line
        yield Segment.line()
        edge = Segment(" " * len(mark))


class _Heading(Heading):
    """A left-aligned heading."""

    LEVEL_ALIGN = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "left")


class _Words(Markdown):
    """Markdown from parsed tokens."""

    elements = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
        "blockquote_open": _Quote,
        "hr": _Rule,
        "bullet_list_open": _List,
        "ordered_list_open": _List,
        "list_item_open": _Item,
    }

    def __init__(self, tokens: list[Token], code_theme: SyntaxTheme) -> None:
        self.markup = ""
        self.parsed = tokens
        self.code_theme: Any = code_theme
        self.justify = None
        self.style: Any = "none"
        self.hyperlinks = True
        self.inline_code_lexer = None
        self.inline_code_theme: Any = code_theme

    def _flatten_tokens(self, tokens: Iterable[Token]) -> Iterable[Token]:
        tokens = list(tokens)
        _mark_tasks(tokens)
        for token in super()._flatten_tokens(tokens):
            # Keep single line breaks inside a paragraph: agents write lists of short lines and mean them.
            if token.type == "softbreak":
                token.type = "hardbreak"
            elif token.type == "text":
                token.content = _raise_footnotes(token.content)
            yield token


def _mark_tasks(tokens: list[Token]) -> None:
    """Note at each list item whether it is a task, and remove the box from its text."""
    for item, paragraph_open, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type != "list_item_open" or paragraph_open.type != "paragraph_open" or not inline.children:
            continue
        first = inline.children[0]
        if (box := _TASK.match(f"{first.content} ")) is not None:
            item.meta["task"] = box[1].lower()
            first.content = first.content[box.end() :]


_STYLES = {"strong": Style(bold=True), "em": Style(italic=True), "s": Style(strike=True)}


def paragraph(tokens: list[Token], text_styles: TextStyles) -> Text | None:
    """Render a simple paragraph; return None for any other block. Much faster than Rich's Markdown."""
    if len(tokens) != 3 or tokens[0].type != "paragraph_open":
        return None
    return _inline(tokens[1].children or (), text_styles)


def first_line(source: str, text_styles: TextStyles) -> Text:
    """Return the first line of a text, without Markdown syntax."""
    source = source.strip().partition("\n")[0]
    inline = next((token for token in _parser.parse(source) if token.type == "inline"), None)
    words = _inline(inline.children or (), text_styles) if inline is not None else None
    return Text(source) if words is None else words


def _inline(children: Iterable[Token], text_styles: TextStyles) -> Text | None:
    """Return a text with simple styles; None if it has links or anything else that isn't simple."""
    words = Text()
    styles = [Style.null()]
    for child in children:
        kind, _, end = child.type.rpartition("_")
        if child.type == "text":
            words.append(_raise_footnotes(child.content), styles[-1])
        elif child.type == "code_inline":
            words.append(child.content, styles[-1] + text_styles.code)
        elif child.type in ("softbreak", "hardbreak"):
            words.append("\n")
        elif kind not in _STYLES:
            return None
        elif end == "open":
            styles.append(styles[-1] + _STYLES[kind])
        else:
            styles.pop()
    return words
