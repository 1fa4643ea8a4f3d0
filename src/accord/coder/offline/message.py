"""A message with its quoted parts masked, so that no rule matches inside them.

Each quoted part (quotation marks, backticks, a fenced block, a link to a file) is replaced by a mark in the text. Every
function here runs in linear time, because prompts can contain whole files."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import unquote, urlsplit

from accord.model.record import Record

Kind = Literal["fence", "code", "quote", "file"]


class Span(Record):
    """A quoted part of a message."""

    kind: Kind
    raw: str
    """As written in the message."""
    value: str
    """The text inside the quotation marks."""


CLOSING = {'"': '"', "“": "”", "„": "“”", "«": "»", "'": "'", "‘": "’"}
OPENINGS = re.compile("[`~@\\[" + "".join(CLOSING) + "]")
# A link as editors write it into the text of a prompt: [@name](file:///path)
LINK = re.compile(r"\[[^\]\n]{0,200}\]\((file://[^)\s]{1,2000})\)")
# A mention of a file: @src/app.py
MENTION = re.compile(r"@((?=[^\s@]{0,200}[./])[\w./~+-]{1,400}\w/?)")
BEFORE_QUOTE = frozenset(" \t\n([{:=,;>→")
AFTER_QUOTE = frozenset(" \t\n.,;:!?)]}-=→")
MAX_FILES = 100
"""Maximum number of files that words such as "this" can refer to."""
MAX_NESTED = 20_000
"""Maximum number of nested quotation marks to pair in a message, which bounds the time."""


class Masked:
    """A message with its quoted parts masked."""

    def __init__(self, text: str) -> None:
        # Delimit marks with two characters from the private use area that the message doesn't contain.
        present = set(text)
        self.open: str
        self.close: str
        self.open, self.close = [chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in present][:2]
        self.spans: list[Span] = []
        self.mark: str = f"{self.open}\\d+{self.close}"
        """Matches one quoted part."""
        self._marks = re.compile(f"{self.open}(\\d+){self.close}")
        self.text: str = ""

    def add(self, text: str) -> None:
        """Append text to the message, and mask its quoted parts."""
        self.text += "".join(
            self.set_aside(piece) if isinstance(piece, Span) else piece for piece in _Scanner(text).pieces()
        )

    def set_aside(self, span: Span) -> str:
        """Store a quoted part, and return its mark."""
        self.spans.append(span)
        return f"{self.open}{len(self.spans) - 1}{self.close}"

    def span(self, text: str) -> Span | None:
        """Return the quoted part if the text is just its mark."""
        match = self._marks.fullmatch(text.strip())
        return self.spans[int(match[1])] if match else None

    def without_pronouns(self) -> str:
        """Return the text without words that only refer to the file after them: `outline this @src/app.py`."""
        files = "|".join(str(index) for index, span in enumerate(self.spans[:MAX_FILES]) if span.kind == "file")
        if not files:
            return self.text
        pointing = rf"\b(?:this|that|these|it|them|the (?:attached )?files?):?\s+(?={self.open}(?:{files}){self.close})"
        return re.sub(pointing, "", self.text, flags=re.IGNORECASE)

    def value(self, text: str) -> str:
        """Return the inside of a quoted part, or other text as written."""
        span = self.span(text)
        return span.value if span else self.raw(text)

    def raw(self, text: str) -> str:
        """Return the text as written, including quotation marks."""
        return self._marks.sub(lambda match: self.spans[int(match[1])].raw, text)


def mask(text: str) -> Masked:
    """Mask the quoted parts of a message, and normalize its line endings."""
    text = text.replace("\r\n", "\n")
    result = Masked(text)
    result.add(text)
    return result


def path_from_uri(uri: str) -> str | None:
    """Return the path of a `file:` URI; None for other URIs."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    # file:///C:/project is C:/project
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


class _Scanner:
    """Finds the quoted parts of a text in one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.exhausted: dict[str, int] = {}
        """How far a closing mark was searched for without success, so that no text is searched twice."""
        self.newline = -1
        self.budget = MAX_NESTED

    def pieces(self) -> list[str | Span]:
        found: list[str | Span] = []
        place, size = 0, len(self.text)
        while place < size:
            opening = OPENINGS.search(self.text, place)
            start = opening.start() if opening else size
            found.append(self.text[place:start])
            if start == size:
                break
            place, span = self.parse_at(start)
            found.append(span if span is not None else self.text[start:place])
        return found

    def parse_at(self, start: int) -> tuple[int, Span | None]:
        """Return the quoted part that starts here, if any, and the position after it."""
        char = self.text[start]
        if char in "`~":
            length = 1
            while self.text.startswith(char, start + length):
                length += 1
            if length >= 3:
                return self.fence(start, char * length)
            return self.code(start, char * length) if char == "`" else (start + length, None)
        if char == "@":
            mention = MENTION.match(self.text, start) if not start or self.text[start - 1] in BEFORE_QUOTE else None
            if mention is None:
                return start + 1, None
            return mention.end(), Span(kind="file", raw=mention[0], value=mention[1])
        if char == "[":
            link = LINK.match(self.text, start)
            if link is None:
                return start + 1, None
            return link.end(), Span(kind="file", raw=link[0], value=path_from_uri(link[1]) or link[1])
        return self.quote(start)

    def find(self, what: str, start: int) -> int:
        if self.exhausted.get(what, -1) >= 0:
            return -1
        found = self.text.find(what, start)
        if found < 0:
            self.exhausted[what] = start
        return found

    def end_of_line(self, start: int) -> int:
        if self.newline < start:
            found = self.text.find("\n", start)
            self.newline = found if found >= 0 else len(self.text)
        return self.newline

    def fence(self, start: int, fence: str) -> tuple[int, Span | None]:
        inside = start + len(fence)
        inline, head = self.find(fence, inside), self.end_of_line(inside)
        if 0 <= inline < head:  # ```within one line```
            end = inline + len(fence)
            return end, Span(kind="code", raw=self.text[start:end], value=self.text[inside:inline].strip())
        closing = self.find("\n" + fence, head) if head < len(self.text) else -1
        if closing < 0:
            return inside, None
        end = closing + 1 + len(fence)
        return end, Span(kind="fence", raw=self.text[start:end], value=self.text[head + 1 : closing + 1])

    def code(self, start: int, ticks: str) -> tuple[int, Span | None]:
        inside = start + len(ticks)
        closing = self.find(ticks, inside)
        if closing < 0:
            return inside, None
        end = closing + len(ticks)
        value = self.text[inside:closing]
        if len(ticks) > 1 and value[:1] == value[-1:] == " ":
            value = value[1:-1]
        return end, Span(kind="code", raw=self.text[start:end], value=value)

    def quote(self, start: int) -> tuple[int, Span | None]:
        """Parse a quotation. It starts after a space and ends before one: `don't` has none, `"a "b" c"` has one."""
        text, char = self.text, self.text[start]
        if start and text[start - 1] not in BEFORE_QUOTE:
            return start + 1, None
        # Don't search other lines for the match of an apostrophe.
        limit = self.end_of_line(start) if char == "'" else len(text)
        if self.exhausted.get(char, -1) >= limit:
            return start + 1, None
        first, depth, place = -1, 0, start
        while first < 0 or self.budget > 0:
            place = min(
                (found for each in CLOSING[char] if (found := text.find(each, place + 1, limit)) >= 0), default=-1
            )
            if place < 0:
                break
            self.budget -= 1
            closes = place + 1 == len(text) or text[place + 1] in AFTER_QUOTE
            if closes and depth == 0:
                return self.make_quotation(start, place)
            if closes:
                first = first if first >= 0 else place
                depth -= 1
            elif text[place] == char and text[place - 1] in BEFORE_QUOTE:
                depth += 1
        if first >= 0:  # the nested marks don't pair, so it ends at the first possible place
            return self.make_quotation(start, first)
        self.exhausted[char] = limit
        return start + 1, None

    def make_quotation(self, start: int, closing: int) -> tuple[int, Span]:
        span = Span(kind="quote", raw=self.text[start : closing + 1], value=self.text[start + 1 : closing])
        return closing + 1, span
