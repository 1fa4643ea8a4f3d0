"""English to requests: a prompt is cut into steps, and each is read by the first rule that fits.

What is not understood is said to be so (`Unknown`), never guessed at: these words may delete files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import NamedTuple

from accord.coder.models.offline import changing, doing, looking
from accord.coder.models.offline.reading import HEAD, Context, Reader, Rule, compiled
from accord.coder.models.offline.requests import (
    Append,
    DeleteFiles,
    MoveFile,
    Outline,
    ReadFiles,
    Replace,
    Step,
    Talk,
    Unknown,
    Where,
    WriteFile,
)
from accord.coder.models.offline.steps import Piece, pieces
from accord.coder.models.offline.words import Masked, masked

# Before a request, and after it: passed over.
BEFORE = re.compile(
    r"(?:(?:please|pls|kindly|could you|can you|would you|will you|can i|could i|may i|i want you to|i'd like you to|"
    r"i would like you to|i want to|i'd like to|i would like to|i need you to|i need to"
    r"|you should|now|first|firstly|next|"
    r"finally|lastly|also|just|then|and|so|ok|okay|hey|hi|hello|well|let's|let us|let me"
    r"|go ahead and|help me|quickly|"
    r"accord|agent|do|try to|secondly|thirdly|afterwards)(?:[,:!]\s*|\s+))",
    re.IGNORECASE,
)
AFTER = re.compile(
    r"[\s,]*(?:\b(?:please|pls|for me|for us|thanks|thank you|thx|now|right now"
    r"|if you can|if possible|first|too|as well|"
    r"ok|okay|will you|would you|can you|could you|again)|[.!?…;,]+|(?<=\s)[:;]-?[)D]"
    r"|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+)\s*$",
    re.IGNORECASE,
)
WEAK = re.compile(r",? and (?:also |then )?|, ?(?=[a-z$])", re.IGNORECASE)

FIRM = [*changing.RULES, *doing.RULES, *looking.RULES]
CONTENT = [*changing.CONTENT_RULES, *doing.CONTENT_RULES]
MIDDLE = [*changing.MIDDLE_RULES, *doing.MIDDLE_RULES]


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
        self.reader = Reader(message, Context(attached=context.attached, last=context.last))

    def steps(self) -> list[Step]:
        cut = pieces(self.message.text, CONTENT, self.message.mark)
        steps: list[Step] = []
        while cut:
            taken, found = self.longest(cut)
            steps += found
            cut = cut[taken:]
        steps = [step for step in steps if not isinstance(step, Talk)] or steps[:1]
        return steps or [Unknown(text="")]

    def text(self, first: Piece, last: Piece) -> str:
        return self.message.text[first.start : last.end]

    def longest(self, cut: list[Piece]) -> tuple[int, list[Step]]:
        """How many pieces make the next step, and what it is."""
        first = cut[0]
        reading = self.piece(self.text(first, first))
        if reading is None:
            # A cut in the wrong place, perhaps: with its neighbours it may make sense.
            for count in range(2, 1 if first.listed else min(4, len(cut)) + 1):
                joined = self.piece(self.text(first, cut[count - 1]))
                if joined is not None:
                    self.remember(joined.steps)
                    return count, joined.steps
            return 1, [Unknown(text=self.message.raw(self.text(first, first)).strip())]
        self.remember(reading.steps)
        count = 1
        if reading.free and not first.listed:
            while count < len(cut) and self.piece(self.text(cut[count], cut[count])) is None:
                count += 1
            if count > 1:
                reading = self.piece(self.text(first, cut[count - 1])) or reading
        return count, reading.steps

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
        head = text[:HEAD]
        if len(text) <= HEAD:
            for cut in islice(WEAK.finditer(text), 6):
                left = self.one(text[: cut.start()])
                if left is None or left.free:
                    continue
                last = self.reader.context.last
                self.remember(left.steps)
                right = self.piece(text[cut.end() :])
                if right is not None:
                    return Reading([*left.steps, *right.steps], right.free)
                self.reader.context.last = last
        return self.one(text) if head.strip() else None

    def one(self, text: str) -> Reading | None:
        """One request, by the first rule that fits."""
        text = text.strip()
        while (polite := BEFORE.match(text)) is not None and polite.end() < len(text):
            if (early := self.by_content(text)) is not None:
                return early
            text = text[polite.end() :]
        return self.by_content(text) or self.by_words(text)

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
            return None
        text = " ".join(text.split())
        trimmed = AFTER.sub("", text)
        while trimmed != text and trimmed:
            text, trimmed = trimmed, AFTER.sub("", trimmed)
        for rule in chain(FIRM, MIDDLE):
            match = compiled(rule, self.message.mark).fullmatch(text)
            if match is not None and (step := rule.build(self.reader, match.groupdict())) is not None:
                return Reading([step], False)
        return self.by_content(text, doing.LATE_RULES)
