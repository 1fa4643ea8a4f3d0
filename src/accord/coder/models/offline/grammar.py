"""English to requests: a prompt is cut into steps, and each is read by the first rule that fits.

What is not understood is said to be so (`Unknown`), never guessed at: these words may delete files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from accord.coder.models.offline import changing, doing, looking, talking, tracing
from accord.coder.models.offline.reading import BEFORE, HEAD, MOST_POLITE, Context, Reader, Rule, compiled
from accord.coder.models.offline.requests import (
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
from accord.coder.models.offline.steps import Cutter, Piece
from accord.coder.models.offline.words import Masked, masked

# After a request: passed over.
AFTER = re.compile(
    r"[\s,]*(?:\b(?:please|pls|for me|for us|thanks|thank you|thx|now|right now"
    r"|if you can|if possible|first|too|as well|"
    r"ok|okay|will you|would you|can you|could you|again)|(?<=\S)[.!?…;,]+|(?<=\s)[:;]-?[)D])\s*$",
    re.IGNORECASE,
)
SMILE = re.compile(r"[\s\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+$")
WEAK = re.compile(r",? and (?:also |then )?|, ?(?=[a-z$])", re.IGNORECASE)

JOINED = 6
"""How many pieces are tried as one request, when they are none by themselves."""

# The first rule that fits is the one that counts.
CONTENT = [*changing.CONTENT_RULES, *doing.CONTENT_RULES, *talking.CONTENT_RULES]
RULES = [
    *changing.RULES,
    *doing.RULES,
    *talking.RULES,
    *tracing.RULES,
    *looking.RULES,
    *changing.MIDDLE_RULES,
    *talking.MIDDLE_RULES,
    *doing.LAST_RULES,
]


def understood(text: str, context: Context | None = None) -> list[Step]:
    """The steps that a message asks for, in order."""
    return read(masked(text), context)


def read(message: Masked, context: Context | None = None) -> list[Step]:
    """The same, of a message whose quoted parts have been set aside."""
    return _Grammar(message, context or Context()).steps()


class Reading(NamedTuple):
    """A piece of the message, understood."""

    steps: list[Step]
    free: bool
    """Whether it ends in words that may be any: then what is no request by itself may belong to them."""


class _Grammar:
    """Reads one message."""

    def __init__(self, message: Masked, context: Context) -> None:
        self.message = message
        self.words = message.without_pointing()
        self.reader = Reader(message, Context(attached=context.attached, last=context.last))
        self.read: dict[tuple[str, str | None], Reading | None] = {}
        """What a piece was understood as, by its text and what "it" meant: pieces are looked at more than once."""

    def steps(self) -> list[Step]:
        whole = self.by_content(self.words.strip(), talking.WHOLE_RULES)
        if whole is not None:
            return whole.steps
        self.cutter = Cutter(self.words, CONTENT, self.message.mark)
        steps = self.all_of(self.cutter.pieces())
        steps = [step for step in steps if not isinstance(step, Talk)] or steps[:1]
        return steps or [Unknown(text="")]

    def all_of(self, cut: list[Piece]) -> list[Step]:
        steps: list[Step] = []
        while cut:
            taken, found = self.longest(cut)
            steps += found
            cut = cut[taken:]
        return steps

    def text(self, first: Piece, last: Piece) -> str:
        return self.words[first.start : last.end]

    def longest(self, cut: list[Piece]) -> tuple[int, list[Step]]:
        """How many pieces make the next step, and what it is."""
        first = cut[0]
        reading = self.piece(self.text(first, first))
        if reading is None and first.leads and self.text(first, first).rstrip().endswith(":"):
            return 1, []
        if reading is None and first.listed:
            return 1, self.item(first)
        if (reading is None or _is_unclear(reading)) and (joined := self.joined(cut)) is not None:
            return joined
        if reading is None:
            return 1, [Unknown(text=self.message.raw(self.text(first, first)).strip())]
        self.remember(reading.steps)
        count = 1
        if reading.free and not first.listed and not first.leads:
            while count < len(cut) and self.piece(self.text(cut[count], cut[count])) is None:
                count += 1
            if count > 1:
                reading = self.piece(self.text(first, cut[count - 1])) or reading
        return count, reading.steps

    def joined(self, cut: list[Piece]) -> tuple[int, list[Step]] | None:
        """A cut in the wrong place, perhaps: with neighbours that are no requests themselves it may make sense."""
        for count in range(2, min(JOINED, len(cut)) + 1):
            last = cut[count - 1]
            reading = self.piece(self.text(cut[0], last))
            if reading is not None and not _is_unclear(reading):
                self.remember(reading.steps)
                return count, reading.steps
            if last.listed or self.piece(self.text(last, last)) is not None:
                return None
        return None

    def item(self, piece: Piece) -> list[Step]:
        """An item of a list that asks for several things."""
        steps = self.all_of(self.cutter.cut(piece.start, piece.end))
        if any(isinstance(step, Unknown) for step in steps):
            return [Unknown(text=self.message.raw(self.text(piece, piece)).strip())]
        return steps

    def remember(self, steps: list[Step]) -> None:
        """What "it" means from here on."""
        for step in steps:
            match step:
                case ReadFiles(paths=[*_, path]) | DeleteFiles(paths=[*_, path]):
                    self.reader.context.last = path
                case WriteFile(path=path) | Append(path=path) | Outline(path=path) | MoveFile(target=path):
                    self.reader.context.last = path
                case Replace(where=Where(path=path, glob=None)) if path != ".":
                    self.reader.context.last = path

    def piece(self, text: str) -> Reading | None:
        """One piece: a request, or several joined by "and"."""
        if not text[:HEAD].strip():
            return None
        if len(text) > HEAD:
            return self.one(text)
        known = (text, self.reader.context.last)
        if known not in self.read:
            self.read[known] = self.several(text) or self.one(text)
        return self.read[known]

    def several(self, text: str) -> Reading | None:
        """Requests that are joined by "and", or by a comma."""
        last = self.reader.context.last
        for cut in islice(WEAK.finditer(text), 6):
            left = self.one(text[: cut.start()])
            if left is None or left.free or _is_unclear(left):
                continue
            self.remember(left.steps)
            rest = text[cut.end() :]
            right = self.piece(rest) or self.elsewhere(left, rest)
            self.reader.context.last = last
            if right is not None:
                return Reading([*left.steps, *right.steps], right.free)
        return None

    def elsewhere(self, left: Reading, text: str) -> Reading | None:
        """The same in another file: `replace a with b in x.py and y.py`."""
        match left.steps:
            case [Replace(where=Where(glob=None)) | Search(where=Where(glob=None)) as step] if step.where.path != ".":
                text = _trimmed(" ".join(text.split()))
                paths = self.reader.paths(text) if self.reader.pathlike(text) else []
                places = [Where(path=path) for path in paths]
                return (
                    Reading([msgspec.structs.replace(step, where=place) for place in places], False) if places else None
                )
        return None

    def one(self, text: str) -> Reading | None:
        """One request, by the first rule that fits."""
        text = text.strip()
        for _ in range(MOST_POLITE):
            found = self.by_content(text) or self.by_words(text)
            polite = BEFORE.match(text)
            if found is not None or polite is None or polite.end() == len(text):
                return found
            text = text[polite.end() :]
        return None

    def by_content(self, text: str, rules: Sequence[Rule] = CONTENT) -> Reading | None:
        """A request whose end is taken as it stands."""
        head = text[:HEAD]
        for rule in rules:
            match = compiled(rule, self.message.mark).match(head)
            if match is not None:
                body = text[match.end() :]
                step = rule.build(self.reader, {"body": body, **match.groupdict()})
                if step is not None:
                    bare = body.strip().rstrip(".,!?")
                    return Reading([step], not self.reader.quoted(bare))
        return None

    def by_words(self, text: str) -> Reading | None:
        """A request that is understood as a whole."""
        if len(text) > HEAD:
            return self.by_content(text, doing.LATE_RULES)
        text = _trimmed(" ".join(text.split()))
        found = self.by_rules(text)
        if found is None and (plain := SMILE.sub("", text)) not in ("", text):
            found = self.by_rules(_trimmed(plain))
        return found or self.by_content(text, doing.LATE_RULES) or self.by_rules(text, doing.VERBS)

    def by_rules(self, text: str, rules: Sequence[Rule] = RULES) -> Reading | None:
        for rule in rules:
            match = compiled(rule, self.message.mark).fullmatch(text)
            if match is not None and (step := rule.build(self.reader, match.groupdict())) is not None:
                return Reading([step], False)
        return None


def _is_unclear(reading: Reading) -> bool:
    return any(isinstance(step, Unclear) for step in reading.steps)


def _trimmed(text: str) -> str:
    """A request without what is said after it."""
    trimmed = AFTER.sub("", text)
    while trimmed and trimmed != text:
        text, trimmed = trimmed, AFTER.sub("", trimmed)
    return text
