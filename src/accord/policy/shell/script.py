"""The result of parsing a command line: its simple commands, and the files that the shell itself opens."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LINE = 64 * 1024
MAX_DEPTH = 16
MAX_WORDS = 500

PLAIN_NAME = re.compile(r"[A-Za-z0-9_@%+:,./-]+")
# Control and invisible characters: shells disagree about them, and users can't see them.
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


class NotAnalyzable(Exception):
    """Raised inside this package for a command line that can't be analyzed; becomes `Script.problem`."""


class Word(NamedTuple):
    """One word of a command."""

    text: str
    """The value that the command gets if `literal`, else the source text."""
    literal: bool = True
    """Whether the shell passes it on unchanged: no variable, no pattern, no substitution."""
    source: str = ""
    """The source text."""


class SimpleCommand(NamedTuple):
    """One command. The first of its words names the program."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    """`NAME=value` before it."""


class Found:
    """Accumulates the commands and files found in a command line."""

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.suspects: list[SimpleCommand] = []
        """Words that may be a command inside another one: too uncertain to allow, but certain enough to deny."""
        self.writes: list[str] = []
        self.reads: list[str] = []
        self._words = 0

    def record(self, command: SimpleCommand) -> None:
        """Record a command."""
        self.commands.append(SimpleCommand(command.words[:MAX_WORDS], command.assignments[:MAX_WORDS]))
        self._words += len(command.words) + len(command.assignments)
        if self._words > MAX_WORDS:
            raise NotAnalyzable(f"it has more than {MAX_WORDS} words")


class Script(NamedTuple):
    """A parsed command line."""

    commands: tuple[SimpleCommand, ...]
    writes: tuple[str, ...] = ()
    """Files that the shell itself writes, as spelled in the line; `~/` is the home directory."""
    reads: tuple[str, ...] = ()
    suspects: tuple[SimpleCommand, ...] = ()
    problem: str | None = None
    """Why it can't be analyzed. In that case the other fields contain only what was found before the problem."""

    @property
    def is_plain(self) -> bool:
        """Whether this is a single command whose words are all known."""
        if self.problem is not None or self.writes or self.reads or self.suspects or len(self.commands) != 1:
            return False
        return all(word.literal for word in (*self.commands[0].assignments, *self.commands[0].words))


def check_text(text: str) -> None:
    """Raise `NotAnalyzable` for text that is too long or contains invisible characters."""
    if len(text) > MAX_LINE:
        raise NotAnalyzable(f"it is longer than {MAX_LINE} characters")
    odd = _ODD.search(text)
    if odd is not None:
        raise NotAnalyzable(f"it contains the invisible or control character U+{ord(odd[0]):04X}")
