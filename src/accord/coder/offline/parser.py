"""Parse English into requests: split a prompt into steps, and parse each with the first rule that matches.

A step that no rule matches is `Unknown`. The parser never guesses, because a request may delete files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from accord.coder.offline.message import Masked, mask
from accord.coder.offline.requests import (
    Append,
    DeleteFiles,
    MoveFile,
    Outline,
    ReadFiles,
    Replace,
    Search,
    Step,
    Talk,
    Unclear,
    Unknown,
    Where,
    WriteFile,
)
from accord.coder.offline.rules import about, commands, edits, files, navigation, talk
from accord.coder.offline.rules.rule import BEFORE, HEAD, MAX_POLITE_WORDS, Context, Reader, Rule, compile_rule

# Ignored after a request.
AFTER = re.compile(
    r"[\s,]*(?:\b(?:please|pls|for me|for us|thanks|thank you|thx|now|right now"
    r"|if you can|if possible|first|too|as well|"
    r"ok|okay|will you|would you|can you|could you|again)|(?<=\S)[.!?…;,]+|(?<=\s)[:;]-?[)D])\s*$",
    re.IGNORECASE,
)
SMILE = re.compile(r"[\s\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+$")
WEAK = re.compile(r",? and (?:also |then )?|, ?(?=[a-z$])", re.IGNORECASE)

MAX_JOINED = 6
"""Maximum number of pieces to join into one request if they don't parse by themselves."""

# Order matters: the first rule that matches wins.
CONTENT = [*edits.CONTENT_RULES, *commands.CONTENT_RULES, *talk.CONTENT_RULES]
RULES = [
    *edits.RULES,
    *commands.RULES,
    *talk.RULES,
    *navigation.RULES,
    *about.RULES,
    *files.RULES,
    *edits.MIDDLE_RULES,
    *talk.MIDDLE_RULES,
    *commands.LAST_RULES,
]


def parse(text: str, context: Context | None = None) -> list[Step]:
    """Parse a message into steps, in order."""
    return parse_masked(mask(text), context)


def parse_masked(message: Masked, context: Context | None = None) -> list[Step]:
    """Parse a message whose quoted parts are masked."""
    return _Parser(message, context or Context()).steps()


class Parsed(NamedTuple):
    """The steps of a piece of the message."""

    steps: list[Step]
    free: bool
    """Whether it ends with free text: then following pieces that aren't requests may belong to it."""


class _Parser:
    """Parses one message."""

    def __init__(self, message: Masked, context: Context) -> None:
        self.message = message
        self.words = message.without_pronouns()
        self.reader = Reader(message, Context(attached=context.attached, last=context.last))
        self.cache: dict[tuple[str, str | None], Parsed | None] = {}
        """Parsed pieces, by their text and the meaning of "it": pieces are parsed more than once."""

    def steps(self) -> list[Step]:
        whole = self.parse_by_content(self.words.strip(), talk.WHOLE_RULES)
        if whole is not None:
            return whole.steps
        self.splitter = Splitter(self.words, CONTENT, self.message.mark)
        steps = self.parse_all(self.splitter.pieces())
        steps = [step for step in steps if not isinstance(step, Talk)] or steps[:1]
        return steps or [Unknown(text="")]

    def parse_all(self, cut: list[Piece]) -> list[Step]:
        steps: list[Step] = []
        while cut:
            taken, found = self.take_step(cut)
            steps += found
            cut = cut[taken:]
        return steps

    def text(self, first: Piece, last: Piece) -> str:
        return self.words[first.start : last.end]

    def take_step(self, cut: list[Piece]) -> tuple[int, list[Step]]:
        """Parse the next step; return how many pieces it takes."""
        first = cut[0]
        parsed = self.parse_piece(self.text(first, first))
        if parsed is None and first.leads and self.text(first, first).rstrip().endswith(":"):
            return 1, []
        if parsed is None and first.listed:
            return 1, self.parse_item(first)
        if (parsed is None or _is_unclear(parsed)) and (joined := self.join(cut)) is not None:
            return joined
        if parsed is None:
            return 1, [Unknown(text=self.message.raw(self.text(first, first)).strip())]
        self.update_context(parsed.steps)
        count = 1
        if parsed.free and not first.listed and not first.leads:
            while count < len(cut) and self.parse_piece(self.text(cut[count], cut[count])) is None:
                count += 1
            if count > 1:
                parsed = self.parse_piece(self.text(first, cut[count - 1])) or parsed
        return count, parsed.steps

    def join(self, cut: list[Piece]) -> tuple[int, list[Step]] | None:
        """Join a piece with its neighbors, if none of them parses by itself: the split may be in the wrong place."""
        for count in range(2, min(MAX_JOINED, len(cut)) + 1):
            last = cut[count - 1]
            parsed = self.parse_piece(self.text(cut[0], last))
            if parsed is not None and not _is_unclear(parsed):
                self.update_context(parsed.steps)
                return count, parsed.steps
            if last.listed or self.parse_piece(self.text(last, last)) is not None:
                return None
        return None

    def parse_item(self, piece: Piece) -> list[Step]:
        """Parse a list item that contains several requests."""
        steps = self.parse_all(self.splitter.split(piece.start, piece.end))
        if any(isinstance(step, Unknown) for step in steps):
            return [Unknown(text=self.message.raw(self.text(piece, piece)).strip())]
        return steps

    def update_context(self, steps: list[Step]) -> None:
        """Update the meaning of "it" for the following steps."""
        for step in steps:
            match step:
                case ReadFiles(paths=[*_, path]) | DeleteFiles(paths=[*_, path]):
                    self.reader.context.last = path
                case WriteFile(path=path) | Append(path=path) | Outline(path=path) | MoveFile(target=path):
                    self.reader.context.last = path
                case Replace(where=Where(path=path, glob=None)) if path != ".":
                    self.reader.context.last = path

    def parse_piece(self, text: str) -> Parsed | None:
        """Parse a piece: one request, or several joined by "and"."""
        if not text[:HEAD].strip():
            return None
        if len(text) > HEAD:
            return self.parse_one(text)
        known = (text, self.reader.context.last)
        if known not in self.cache:
            self.cache[known] = self.parse_several(text) or self.parse_one(text)
        return self.cache[known]

    def parse_several(self, text: str) -> Parsed | None:
        """Parse requests that are joined by "and" or a comma."""
        last = self.reader.context.last
        for cut in islice(WEAK.finditer(text), 6):
            left = self.parse_one(text[: cut.start()])
            if left is None or left.free or _is_unclear(left):
                continue
            self.update_context(left.steps)
            rest = text[cut.end() :]
            right = self.parse_piece(rest) or self.repeat_elsewhere(left, rest)
            self.reader.context.last = last
            if right is not None:
                return Parsed([*left.steps, *right.steps], right.free)
        return None

    def repeat_elsewhere(self, left: Parsed, text: str) -> Parsed | None:
        """Repeat a step in other files: `replace a with b in x.py and y.py`."""
        match left.steps:
            case [Replace(where=Where(glob=None)) | Search(where=Where(glob=None)) as step] if step.where.path != ".":
                text = _trim(" ".join(text.split()))
                paths = self.reader.paths(text) if self.reader.is_pathlike(text) else []
                places = [Where(path=path) for path in paths]
                return (
                    Parsed([msgspec.structs.replace(step, where=place) for place in places], False) if places else None
                )
        return None

    def parse_one(self, text: str) -> Parsed | None:
        """Parse one request with the first rule that matches."""
        text = text.strip()
        for _ in range(MAX_POLITE_WORDS):
            found = self.parse_by_content(text) or self.parse_by_words(text)
            polite = BEFORE.match(text)
            if found is not None or polite is None or polite.end() == len(text):
                return found
            text = text[polite.end() :]
        return None

    def parse_by_content(self, text: str, rules: Sequence[Rule] = CONTENT) -> Parsed | None:
        """Parse a request that ends with literal content."""
        head = text[:HEAD]
        for rule in rules:
            match = compile_rule(rule, self.message.mark).match(head)
            if match is not None:
                body = text[match.end() :]
                step = rule.build(self.reader, {"body": body, **match.groupdict()})
                if step is not None:
                    bare = body.strip().rstrip(".,!?")
                    return Parsed([step], not self.reader.is_quoted(bare))
        return None

    def parse_by_words(self, text: str) -> Parsed | None:
        """Parse a request with rules that match all of it."""
        if len(text) > HEAD:
            return self.parse_by_content(text, commands.LATE_RULES)
        text = _trim(" ".join(text.split()))
        found = self.parse_by_rules(text)
        if found is None and (plain := SMILE.sub("", text)) not in ("", text):
            found = self.parse_by_rules(_trim(plain))
        return found or self.parse_by_content(text, commands.LATE_RULES) or self.parse_by_rules(text, commands.VERBS)

    def parse_by_rules(self, text: str, rules: Sequence[Rule] = RULES) -> Parsed | None:
        for rule in rules:
            match = compile_rule(rule, self.message.mark).fullmatch(text)
            if match is not None and (step := rule.build(self.reader, match.groupdict())) is not None:
                return Parsed([step], False)
        return None


def _is_unclear(parsed: Parsed) -> bool:
    return any(isinstance(step, Unclear) for step in parsed.steps)


def _trim(text: str) -> str:
    """Strip the polite words after a request."""
    trimmed = AFTER.sub("", text)
    while trimmed and trimmed != text:
        text, trimmed = trimmed, AFTER.sub("", trimmed)
    return text


MAX_PIECES = 60
"""A message with more pieces is a text, not a list of requests."""

CUT = re.compile(
    r";|\n|(?<!\S)(?:and )?(?:then|after(?:wards| that)|finally)(?=[\s,:])|(?<=[.!?]) (?=[A-Z\ue000-\uf8ff])",
)
ITEM = re.compile(r"^[ \t]*(?:(?:[Ss]tep )?(\d{1,3})[.):]|([-*•]))[ \t]+", re.MULTILINE)
SHELL = re.compile(r"\$ ")
NEXT = re.compile(r"\S")
THIS = r"\s*(?:(?:this|it|the following|following)\b[ \t]*:?)?\s*({mark})"


class Piece(NamedTuple):
    """The start and end of a possible step in the text."""

    start: int
    end: int
    listed: bool = False
    """Whether it is a list item, which is always a separate step."""
    leads: bool = False
    """Whether it comes before a list and may just introduce it: "please do this:"."""


class Splitter:
    """Splits a message at "then", semicolons, list items, and the ends of sentences and lines.

    `headers` are the rules after which the rest is content, which must not be split. A split is only a proposal: the
    parser joins pieces that make sense only together."""

    def __init__(self, text: str, headers: Sequence[Rule], mark: str) -> None:
        self.text = text
        self.headers = headers
        self.mark = mark
        self.quotation: re.Pattern[str] = re.compile(THIS.replace("{mark}", mark))

    def pieces(self) -> list[Piece]:
        """Split the message, by list items if it is a list."""
        items = self.items()
        if not items:
            return self.split(0, len(self.text))
        before = self.split(0, items[0].start, until=items[0].start)
        if before and before[-1].end > items[0].start:
            return self.split(0, len(self.text))  # the list is the content of a request
        marked = ITEM.search(self.text)
        end = marked.start() if marked else 0
        leading = [piece._replace(end=min(piece.end, end), leads=True) for piece in before if piece.start < end]
        return [*leading, *items]

    def split(self, start: int, end: int, until: int | None = None) -> list[Piece]:
        """Split a part of the message. If `until` is given, only return pieces that start before it."""
        found: list[Piece] = []
        for _ in range(MAX_PIECES * 10):
            begins = NEXT.search(self.text, start, end)
            if begins is None or (until is not None and begins.start() >= until):
                return found if len(found) <= MAX_PIECES else [Piece(0, len(self.text))]
            start = begins.start()
            stop, after = self.end(start, end)
            if self.text[start:stop].strip():
                found.append(Piece(start, stop))
            start = after
        return [Piece(0, len(self.text))]

    def items(self) -> list[Piece]:
        """Find the items of a list: `1. …`, `2. …`, or `- …` on each line."""
        marks = list(islice(ITEM.finditer(self.text), MAX_PIECES * 10))
        numbered = [match for match in marks if match[1]]
        chosen = marks
        if numbered:
            # Only the next number in sequence starts an item; other numbers belong to the text.
            chosen = []
            for match in numbered:
                if int(match[1]) == len(chosen) + 1:
                    chosen.append(match)
        if not chosen or len(chosen) > MAX_PIECES or (len(chosen) < 2 and not numbered):
            return []
        bounds = [*(match.start() for match in chosen[1:]), len(self.text)]
        return [Piece(match.end(), bound, True) for match, bound in zip(chosen, bounds, strict=True)]

    def end(self, start: int, end: int) -> tuple[int, int]:
        """Return where the piece that starts here ends, and where the next one starts."""
        text = self.text
        if SHELL.match(text, start):
            return self.line(start, end)
        place = start
        header = self.header(start)
        if header is not None:
            rule, body = header
            quoted = self.quotation.match(text, body)
            if quoted is not None:
                place = quoted.end()  # the piece ends with the quotation
            elif text[body - 1] == ":" or text.startswith("\n", body) or rule.extent == "message":
                return len(text), len(text)
            elif rule.extent == "lines":
                return self.inline(body, end)
        found = CUT.search(text, place, end)
        return (found.start(), found.end()) if found else (end, end)

    def header(self, start: int) -> tuple[Rule, int] | None:
        """Return the rule whose content starts in this piece, and where it starts."""
        head = self.text[start : start + HEAD]
        place = 0
        for _ in range(MAX_POLITE_WORDS):
            for rule in self.headers:
                match = compile_rule(rule, self.mark).match(head, place)
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
        """Return the end of content that starts in the middle of a line: the rest of the line, or of the message."""
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
