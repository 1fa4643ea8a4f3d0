"""One message, cut into pieces: at "then", at semicolons, at the items of a list, at the ends of sentences and lines.

A cut is only a proposal: `grammar` joins again what makes sense only together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from accord.coder.models.offline.reading import BEFORE, HEAD, MOST_POLITE, Rule, compiled

MOST = 60
"""How many pieces a message may have. More than that is a text, not a list of requests."""

CUT = re.compile(
    r";|\n|(?<!\S)(?:and )?(?:then|after(?:wards| that)|finally)(?=[\s,:])|(?<=[.!?]) (?=[A-Z\ue000-\uf8ff])",
)
ITEM = re.compile(r"^[ \t]*(?:(?:[Ss]tep )?(\d{1,3})[.):]|([-*•]))[ \t]+", re.MULTILINE)
SHELL = re.compile(r"\$ ")
NEXT = re.compile(r"\S")
THIS = r"\s*(?:(?:this|it|the following|following)\b[ \t]*:?)?\s*({mark})"


class Piece(NamedTuple):
    """Where a step may begin and end in the text."""

    start: int
    end: int
    listed: bool = False
    """Whether it is an item of a list: then it is a step of its own, whatever it says."""
    leads: bool = False
    """Whether it stands before a list, and may only lead up to it: "please do this:"."""


class Cutter:
    """Cuts one message. `headers` are the rules after which the rest is content, and no place to cut."""

    def __init__(self, text: str, headers: Sequence[Rule], mark: str) -> None:
        self.text = text
        self.headers = headers
        self.mark = mark
        self.quoted = re.compile(THIS.replace("{mark}", mark))

    def pieces(self) -> list[Piece]:
        """The pieces of the message: the items of a list, when it is one."""
        items = self.items()
        if not items:
            return self.cut(0, len(self.text))
        before = self.cut(0, items[0].start, until=items[0].start)
        if before and before[-1].end > items[0].start:
            return self.cut(0, len(self.text))  # the list is the content of something
        marked = ITEM.search(self.text)
        end = marked.start() if marked else 0
        leading = [piece._replace(end=min(piece.end, end), leads=True) for piece in before if piece.start < end]
        return [*leading, *items]

    def cut(self, start: int, end: int, until: int | None = None) -> list[Piece]:
        """The pieces of a part of the message. Those that begin before `until`, when that is said."""
        found: list[Piece] = []
        for _ in range(MOST * 10):
            begins = NEXT.search(self.text, start, end)
            if begins is None or (until is not None and begins.start() >= until):
                return found if len(found) <= MOST else [Piece(0, len(self.text))]
            start = begins.start()
            stop, after = self.end(start, end)
            if self.text[start:stop].strip():
                found.append(Piece(start, stop))
            start = after
        return [Piece(0, len(self.text))]

    def items(self) -> list[Piece]:
        """The items of a list: `1. …`, `2. …`, or `- …` on each line."""
        marks = list(islice(ITEM.finditer(self.text), MOST * 10))
        numbered = [match for match in marks if match[1]]
        chosen = marks
        if numbered:
            # Only the next number in turn begins an item: others belong to what is being said.
            chosen = []
            for match in numbered:
                if int(match[1]) == len(chosen) + 1:
                    chosen.append(match)
        if not chosen or len(chosen) > MOST or (len(chosen) < 2 and not numbered):
            return []
        bounds = [*(match.start() for match in chosen[1:]), len(self.text)]
        return [Piece(match.end(), bound, True) for match, bound in zip(chosen, bounds, strict=True)]

    def end(self, start: int, end: int) -> tuple[int, int]:
        """Where the piece that begins here ends, and where the next begins."""
        text = self.text
        if SHELL.match(text, start):
            return self.line(start, end)
        place = start
        header = self.header(start)
        if header is not None:
            rule, body = header
            quoted = self.quoted.match(text, body)
            if quoted is not None:
                place = quoted.end()  # it ends with the quotation
            elif text[body - 1] == ":" or text.startswith("\n", body) or rule.build.__name__ == "plan":
                return len(text), len(text)
            elif rule.build.__name__ in ("write", "append"):
                return self.inline(body, end)
        found = CUT.search(text, place, end)
        return (found.start(), found.end()) if found else (end, end)

    def header(self, start: int) -> tuple[Rule, int] | None:
        """The rule whose content begins in this piece, and where."""
        head = self.text[start : start + HEAD]
        place = 0
        for _ in range(MOST_POLITE):
            for rule in self.headers:
                match = compiled(rule, self.mark).match(head, place)
                if match is not None:
                    return rule, start + match.end()
            polite = BEFORE.match(head, place)
            if polite is None:
                break
            place = polite.end()
        return None

    def line(self, start: int, end: int) -> tuple[int, int]:
        line = self.text.find("\n", start, end)
        return (line, line + 1) if line >= 0 else (end, end)

    def inline(self, start: int, end: int) -> tuple[int, int]:
        """Content that begins in the middle of a line: the rest of it, and of the message when there are more lines."""
        line = self.text.find("\n", start, end)
        found = CUT.search(self.text, start, line if line >= 0 else end)
        if found:
            return found.start(), found.end()
        if line < 0:
            return end, end
        following = NEXT.search(self.text, line)
        if following is None or CUT.match(self.text, following.start()):
            return line, line + 1
        return len(self.text), len(self.text)
