"""A page of HTML as text: headings, paragraphs, lists, links and code; no scripts, styles or forms."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "head", "select"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "ul", "ol", "dl", "table", "form"}
    | {"blockquote", "figure", "figcaption", "details", "summary", "address", "fieldset", "hr", "h1", "h2", "h3", "h4"}
    | {"h5", "h6", "pre"}
)
_LINES = frozenset({"br", "tr", "li", "dt", "dd"})
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)
_ENDLESS = 10_000
"""How deep elements may lie in each other before nesting is no longer followed."""


class Page(HTMLParser):
    """Reads a page; `title` and `text` are what it says."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._pieces: list[str] = []
        self._skipping: list[str] = []
        self._in_title = False
        self._pre = 0
        self._links: list[str | None] = []

    @property
    def text(self) -> str:
        lines = "".join(self._pieces).split("\n")
        text = "\n".join(line.rstrip() for line in lines)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        if tag == "body":
            self._skipping.clear()
        if tag in _SKIPPED:
            if len(self._skipping) < _ENDLESS:
                self._skipping.append(tag)
            return
        if self._skipping:
            return
        given = dict(attrs)
        if tag in _BLOCKS:
            self._new_line(2)
        elif tag in _LINES:
            self._new_line(1)
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self._pieces.append("- ")
        elif tag in ("td", "th"):
            self._pieces.append(" | " if self._pieces and not self._pieces[-1].endswith("\n") else "")
        elif tag == "pre":
            self._pieces.append("```\n")
            self._pre += 1
        elif tag == "a":
            self._links.append(given.get("href"))
        elif tag == "img" and given.get("alt"):
            self._pieces.append(f"[picture: {given['alt']}]")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in _SKIPPED:
            if tag in self._skipping:
                while self._skipping.pop() != tag:
                    pass
            return
        if self._skipping or tag in _VOID:
            return
        if tag == "pre" and self._pre:
            self._pre -= 1
            self._new_line(1)
            self._pieces.append("```")
        if tag == "a" and self._links:
            link = self._links.pop()
            if link and re.match(r"https?://", link):
                self._pieces.append(f" ({link})")
        if tag in _BLOCKS:
            self._new_line(2)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = " ".join((self.title + data).split())
        if self._skipping:
            return
        if self._pre:
            self._pieces.append(data)
            return
        words = re.sub(r"\s+", " ", data)
        if words.startswith(" ") and (not self._pieces or self._pieces[-1].endswith(("\n", " "))):
            words = words[1:]
        if words:
            self._pieces.append(words)

    def _new_line(self, count: int) -> None:
        """Begins a line, or a paragraph."""
        if not self._pieces:
            return
        end = "".join(self._pieces[-3:])[-2:]
        there = len(end) - len(end.rstrip("\n"))
        if there < count:
            self._pieces.append("\n" * (count - there))


def readable(html: str) -> Page:
    """Reads a page; what is wrong with its HTML does not matter."""
    page = Page()
    page.feed(html)
    page.close()
    return page
