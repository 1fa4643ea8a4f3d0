"""Convert HTML to text: headings, paragraphs, lists, links and code; no scripts, styles or forms.

The parser is our own because it must be linear in the size of the page: the standard library's can take hours over a
few malicious megabytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_SKIPPED = frozenset({"noscript", "template", "svg", "math", "iframe", "object", "head", "select"})
_RAW = frozenset({"script", "style", "textarea", "title"})
"""Elements that contain no other elements."""
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "ul", "ol", "dl", "table", "form"}
    | {"blockquote", "figure", "figcaption", "details", "summary", "address", "fieldset", "hr", "h1", "h2", "h3", "h4"}
    | {"h5", "h6", "pre"}
)
_LINES = frozenset({"br", "tr", "li", "dt", "dd"})
_MAX_SKIPPED_DEPTH = 100
"""The deepest nesting of skipped elements that is tracked."""

_MAX_TAG = 10_000
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_ATTRIBUTE = re.compile(r"""\b(href|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)


class Token(NamedTuple):
    """Text or a tag."""

    kind: str
    """text, start or end."""
    text: str
    """The text, or the tag's name in lower case."""
    rest: str = ""
    """The tag's attributes."""


def tokens(html: str) -> Iterator[Token]:
    """Split HTML into tokens in one pass. Malformed HTML is accepted."""
    at, close = 0, -1
    while True:
        start = html.find("<", at)
        if close < start:
            close = html.find(">", start)
        if start < 0 or close < 0:
            yield Token("text", unescape(html[at:]))
            return
        if start > at:
            yield Token("text", unescape(html[at:start]))
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            if end < 0:
                return
            at = end + 3
        elif html[start + 1] in "!?":
            at = close + 1
        elif not html[start + 1 : start + 3].strip("/")[:1].isalpha():
            yield Token("text", "<")
            at = start + 1
        else:
            match = _TAG.match(html, start, start + _MAX_TAG)
            if match is None:  # an unclosed quote: end the tag at the first `>`
                at = close + 1
                continue
            at = match.end()
            name = match[2].lower()
            yield Token("end" if match[1] else "start", name, match[3])
            if name in _RAW and not match[1]:
                ending = re.compile(f"</{name}", re.I).search(html, at)
                if ending is None:
                    return
                if name not in ("script", "style"):
                    yield Token("text", unescape(html[at : ending.start()]))
                at = ending.start()


class Page:
    """A page's title and text."""

    def __init__(self) -> None:
        self.title: str = ""
        self._pieces: list[str] = []
        self._end = ""  # the last two characters
        self._skipping: list[str] = []
        self._in_title = False
        self._pre = 0
        self._links: list[str] = []

    @property
    def text(self) -> str:
        lines = "".join(self._pieces).split("\n")
        text = "\n".join(line.rstrip() for line in lines)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

    def take(self, token: Token) -> None:
        """Handle the next token."""
        match token.kind:
            case "text":
                self._take_text(token.text)
            case "start":
                self._begin(token.text, token.rest)
            case _:
                self._finish(token.text)

    def _take_text(self, text: str) -> None:
        if self._in_title:
            self.title = " ".join((self.title + text).split())
        elif self._pre and not self._skipping:
            self._write(text)
        elif not self._skipping:
            words = re.sub(r"\s+", " ", text)
            self._write(words.removeprefix(" ") if self._end[-1:] in ("", "\n", " ") else words)

    def _begin(self, tag: str, rest: str) -> None:
        if tag == "title":
            self._in_title = not self.title
        if tag == "body":
            self._skipping.clear()
        if tag in _SKIPPED and len(self._skipping) < _MAX_SKIPPED_DEPTH:
            self._skipping.append(tag)
        if self._skipping or tag in _SKIPPED or tag in _RAW:
            return
        if tag in _BLOCKS:
            self._new_line(2)
        elif tag in _LINES:
            self._new_line(1)
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._write("#" * int(tag[1]) + " ")
            case "li":
                self._write("- ")
            case "td" | "th":
                self._write(" | " if self._end[-1:] not in ("", "\n") else "")
            case "pre":
                self._write("```\n")
                self._pre += 1
            case "a":
                self._links.append(_attribute(rest, "href"))
            case "img":
                alt = _attribute(rest, "alt")
                self._write(f"[image: {alt}]" if alt else "")

    def _finish(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in self._skipping:
            while self._skipping.pop() != tag:
                pass
            return
        if self._skipping:
            return
        if tag == "pre" and self._pre:
            self._pre -= 1
            self._new_line(1)
            self._write("```")
        if tag == "a" and self._links:
            link = self._links.pop()
            self._write(f" ({link})" if link.startswith(("http://", "https://")) else "")
        if tag in _BLOCKS:
            self._new_line(2)

    def _write(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._end = (self._end + text[-2:])[-2:]

    def _new_line(self, count: int) -> None:
        """Start a new line (1) or paragraph (2)."""
        there = len(self._end) - len(self._end.rstrip("\n"))
        if self._pieces and there < count:
            self._write("\n" * (count - there))


def _attribute(rest: str, name: str) -> str:
    for found in _ATTRIBUTE.finditer(rest):
        if found[1].lower() == name:
            return unescape(found[2] or found[3] or found[4] or "").strip()
    return ""


def to_text(html: str) -> Page:
    """Convert a page."""
    page = Page()
    for token in tokens(html):
        page.take(token)
    return page
