"""What is known of a command line once it has been read: the simple commands in it and the files it opens itself."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LINE = 64 * 1024
MAX_DEPTH = 16
MAX_WORDS = 500

PLAIN_NAME = re.compile(r"[A-Za-z0-9_@%+:,./-]+")
# Control characters, and what only looks like nothing: no shell, and no person, reads them for certain.
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


class Unjudged(Exception):
    """A command line holds something that cannot be judged. Never leaves this room."""


class Word(NamedTuple):
    """One word of a command."""

    text: str
    """What the command will get when `literal`, else the source of it."""
    literal: bool = True
    """Whether the shell passes it on as it stands: no variable, no pattern, no substitution."""
    source: str = ""
    """As it was written."""


class Simple(NamedTuple):
    """One command with its words, the first of which names the program."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    """`NAME=value` before it."""


class Found:
    """Everything that has been found in a command line so far."""

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.suspects: list[Simple] = []
        """What may be a command inside another: too uncertain to allow anything, good enough to deny."""
        self.writes: list[str] = []
        self.reads: list[str] = []
        self._words = 0

    def note(self, command: Simple) -> None:
        """A command was found."""
        self.commands.append(Simple(command.words[:MAX_WORDS], command.assignments[:MAX_WORDS]))
        self._words += len(command.words) + len(command.assignments)
        if self._words > MAX_WORDS:
            raise Unjudged(f"it has more than {MAX_WORDS} words")


class Script(NamedTuple):
    """A command line that has been read."""

    commands: tuple[Simple, ...]
    writes: tuple[str, ...] = ()
    """Files that the shell itself will write, as they are spelled; `~/` is the user's own folder."""
    reads: tuple[str, ...] = ()
    suspects: tuple[Simple, ...] = ()
    problem: str | None = None
    """Why it cannot be judged; then the rest is only what was seen up to there."""


def check_text(text: str) -> None:
    """Refuses what cannot be read for certain, before anything is read."""
    if len(text) > MAX_LINE:
        raise Unjudged(f"it is longer than {MAX_LINE} characters")
    odd = _ODD.search(text)
    if odd is not None:
        raise Unjudged(f"it holds the invisible or control character U+{ord(odd[0]):04X}")
