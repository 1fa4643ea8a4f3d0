"""One message, cut into pieces: at "then", at semicolons, at the items of a list, at the ends of sentences and lines.

A cut is only a proposal: `grammar` joins again what makes sense only together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from accord.coder.models.offline.reading import HEAD, Rule, compiled

MOST = 60
"""How many pieces a message may have. More than that is a text, not a list of requests."""

CUT = re.compile(
    r";|\n|(?<!\S)(?:and )?(?:then|after(?:wards| that)|finally)(?=[\s,:])|(?<=[.!?]) (?=[A-Z\ue000-\uf8ff])",
)
ITEM = re.compile(r"^[ \t]*(?:(?:[Ss]tep )?(\d{1,3})[.):]|([-*•]))[ \t]+", re.MULTILINE)
SHELL = re.compile(r"[ \t\n]*\$ ")


class Piece(NamedTuple):
    """Where a step may begin and end in the text."""

    start: int
    end: int
    listed: bool = False
    """Whether it is an item of a list: then it is a step of its own, whatever it says."""


def pieces(text: str, headers: Sequence[Rule], mark: str) -> list[Piece]:
    """The pieces of a message. `headers` are the rules after which the rest is content, and no place to cut."""
    items = _items(text)
    if items:
        return items
    found: list[Piece] = []
    start = 0
    while start < len(text) and len(found) <= MOST:
        end, after = _end(text, start, headers, mark)
        if text[start:end].strip():
            found.append(Piece(start, end))
        start = after
    return found if len(found) <= MOST else [Piece(0, len(text))]


def _items(text: str) -> list[Piece]:
    """The items of a list, when the message is one: `1. …`, `2. …`, or `- …` on each line."""
    marks = list(ITEM.finditer(text))
    numbered = [match for match in marks if match[1]]
    if numbered:
        # Only the next number in turn begins an item: others belong to what is being said.
        chosen, wanted = [], 1
        for match in numbered:
            if int(match[1]) == wanted:
                chosen.append(match)
                wanted += 1
    else:
        chosen = marks
    if not chosen or len(chosen) > MOST or (len(chosen) < 2 and not numbered):
        return []
    before = text[: chosen[0].start()].strip()
    if before and not before.endswith((":", ".", "!")):
        return []
    bounds = [*(match.start() for match in chosen[1:]), len(text)]
    return [Piece(match.end(), bound, True) for match, bound in zip(chosen, bounds, strict=True)]


def _end(text: str, start: int, headers: Sequence[Rule], mark: str) -> tuple[int, int]:
    """Where the piece that begins here ends, and where the next begins."""
    place = start
    if SHELL.match(text, start):
        line = text.find("\n", SHELL.match(text, start).end())  # type: ignore[union-attr]
        return (line, line + 1) if line >= 0 else (len(text), len(text))
    head = text[start : start + HEAD]
    lead = len(head) - len(head.lstrip())
    for rule in headers:
        match = compiled(rule, mark).match(head, lead)
        if match is None:
            continue
        body = re.compile(rf"\s*({mark})?").match(text, start + match.end())
        if body is not None and body[1]:
            place = body.end()  # quoted: it ends with the quotation
        elif match[0].endswith(":") or text.startswith("\n", start + match.end()):
            return len(text), len(text)
        elif rule.build.__name__ in ("write", "append"):
            return _inline(text, start + match.end())
        break
    cut = CUT.search(text, place)
    return (cut.start(), cut.end()) if cut else (len(text), len(text))


def _inline(text: str, start: int) -> tuple[int, int]:
    """Content that begins in the middle of a line: the rest of it, and of the message when there are more lines."""
    line = text.find("\n", start)
    cut = CUT.search(text, start, line if line >= 0 else len(text))
    if cut:
        return cut.start(), cut.end()
    if line < 0 or CUT.match(text, len(text) - len(text[line:].lstrip())):
        return (line, line + 1) if line >= 0 else (len(text), len(text))
    return len(text), len(text)
