"""Patterns for commands: `git status`, `npm run *`, `git log --oneline *`.

A pattern is written as words, quoted like a shell's where they hold spaces. `*` stands for anything within a word; as
the last word, alone, it stands for any number of further words, none included.

A pattern is read in two ways. To allow, every word of the command has to match, in its place: `git status` allows
`git status` and nothing longer. To ask or to deny, it is enough that the words occur in this order, the first of them
as the name of the program, whatever stands between or after: `git push` catches `git -C x push --force`.

A star never covers what only the shell will know where that could be an option, nor the options in `RISKY`, by which a
harmless command writes files or runs others: a rule has to spell those out. The list is a help and cannot be complete;
a star after an interpreter (`python *`) hands over everything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from accord.errors import RuleError
from accord.policy.script import PLAIN_NAME, Simple, Word

Pieces = tuple[str, ...]
"""A word of a pattern, cut at its stars."""


class Pattern(NamedTuple):
    """A pattern that has been read."""

    words: tuple[Pieces, ...]
    is_open: bool
    """Whether any number of words may follow."""

    @property
    def is_exact(self) -> bool:
        return not self.is_open and all(len(pieces) == 1 for pieces in self.words)


class Risk(NamedTuple):
    """The options of a command that do more than it seems to."""

    long: tuple[str, ...] = ()
    short: str = ""
    words: tuple[str, ...] = ()
    """Words that are risky as they stand."""
    leading: bool = False
    """Whether every option before the first plain word is one."""


RISKY = {
    "git": Risk(
        (
            "--output", "--exec", "--exec-path", "--ext-diff", "--textconv", "--upload-pack", "--receive-pack",
            "--open-files-in-pager", "--config", "--config-env", "--git-dir", "--work-tree", "--template",
        ),
        short="O",
        leading=True,
    ),
    "find": Risk(words=("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls")),
    "fd": Risk(("--exec", "--exec-batch"), short="xX"),
    "sort": Risk(("--output", "--compress-program", "--temporary-directory"), short="oT"),
    "rg": Risk(("--pre", "--hostname-bin", "--search-zip"), short="z"),
    "tar": Risk(
        ("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script",
         "--new-volume-script", "--rmt-command"),
        short="IF",
    ),
    "tree": Risk(("--output",), short="o"),
    "curl": Risk(
        ("--output", "--remote-name", "--output-dir", "--config", "--upload-file", "--cookie-jar"), short="oOKTc"
    ),
    "wget": Risk(("--output-document", "--output-file", "--post-file", "--use-askpass", "--config"), short="Oo"),
    "sed": Risk(("--in-place", "--file"), short="if"),
    "date": Risk(("--set",), short="s"),
    "man": Risk(("--pager", "--html", "--preprocessor"), short="PH"),
    "less": Risk(("--log-file", "--LOG-FILE"), short="oO"),
    "rsync": Risk(("--rsh", "--rsync-path"), short="e"),
    "zip": Risk(("--unzip-command",), short="T"),
}  # fmt: skip

_HARMLESS_LEADING = frozenset({"--no-pager", "-P", "--no-optional-locks", "--version", "--help"})
_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9_.,:+-]*")
_HARMLESS = frozenset(
    {"CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "LINES"}
    | {"NO_COLOR", "PYTHONUNBUFFERED", "TERM", "TZ"}
)
_HARMLESS_PAGERS = frozenset({"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0"})


@lru_cache(maxsize=4096)
def read(text: str) -> Pattern:
    """Reads a pattern; `RuleError` says what is wrong with it."""
    words: list[Pieces] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\n":
            at += 1
        if at >= len(text):
            break
        pieces, at = _word(text, at)
        words.append(pieces)
    if not words:
        raise RuleError("an empty command pattern; expected words such as git status, or npm run *")
    is_open = len(words) > 0 and words[-1] == ("", "")
    return Pattern(tuple(words[:-1] if is_open else words), is_open)


def _word(text: str, at: int) -> tuple[Pieces, int]:
    pieces = [""]
    while at < len(text) and text[at] not in " \t\n":
        char = text[at]
        if char in "'\"":
            end = text.find(char, at + 1)
            if end < 0:
                raise RuleError(f"the command pattern {text!r} has a {char} that is never closed")
            inside = text[at + 1 : end]
            if char == '"' and any(each in inside for each in "$`\\"):
                raise RuleError(f"the command pattern {text!r} has $, ` or \\ in double quotes; use single quotes")
            pieces[-1] += inside
            at = end + 1
        elif char == "\\":
            if at + 1 == len(text):
                raise RuleError(f"the command pattern {text!r} ends with a backslash; expected a character after it")
            pieces[-1] += text[at + 1]
            at += 2
        elif char == "*":
            if len(pieces) == 1 or pieces[-1]:
                pieces.append("")
            at += 1
        elif char in ";&|<>()$`":
            raise RuleError(
                f"the command pattern {text!r} has a bare {char!r}; a pattern is one command, so quote it, "
                f"or use line: for one whole command line"
            )
        else:
            pieces[-1] += char
            at += 1
    return tuple(pieces), at


def written(words: Sequence[str]) -> str:
    """The pattern that matches these words and no others."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    if word and re.fullmatch(r"[A-Za-z0-9_@%+=:,./{}^~!#?\[\]-]+", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def covers(text: str, command: Simple) -> bool:
    """Whether a pattern allows a command."""
    pattern = read(text)
    words = [word for word in command.assignments if not is_harmless(word)] + list(command.words)
    if not command.words or not PLAIN_NAME.fullmatch(command.words[0].text):
        return False
    if len(words) < len(pattern.words) or (len(words) > len(pattern.words) and not pattern.is_open):
        return False
    risk = RISKY.get(command.words[0].text.rpartition("/")[2])
    start = len(words) - len(command.words)  # where the name of the program stands
    for place, word in enumerate(words):
        pieces = pattern.words[place] if place < len(pattern.words) else ("", "")
        is_rest = place >= len(pattern.words)
        if not word.literal and not (is_rest and _is_safe_to_expand(word, risk)):
            return False
        if word.literal and not fits(pieces, word.text):
            return False
        if risk is None or not word.literal or len(pieces) == 1 or place <= start:
            continue
        option = _risky_option(risk, word.text, leading=_is_leading(words, start, place))
        if option and not pieces[0].startswith(option):
            return False
    return True


def catches(text: str, command: Simple) -> bool:
    """Whether a pattern may speak of a command, for asking and denying."""
    return _catches(read(text).words, command)


def _catches(pattern: Sequence[Pieces], command: Simple) -> bool:
    words = [word.text.casefold() for word in command.words]
    both = [word.text.casefold() for word in command.assignments] + words
    wanted = [tuple(piece.casefold() for piece in pieces) for pieces in pattern]
    if not wanted:
        return True
    for seen in (words, both):
        if not seen:
            continue
        name = seen[0].rpartition("/")[2] if "=" not in seen[0] else seen[0]
        if not (fits(wanted[0], seen[0]) or fits(wanted[0], name)):
            continue
        rest = iter(seen[1:])
        if all(any(fits(pieces, word) for word in rest) for pieces in wanted[1:]):
            return True
    return False


def may_catch(text: str, command: Simple) -> bool:
    """Whether a pattern could speak of a command once the shell has filled in what only it knows."""
    name = Simple(command.words[:1])
    first = read(text).words[:1]
    return any(not word.literal for word in command.words) and (not first or _catches(first, name))


def is_harmless(word: Word) -> bool:
    """Whether an assignment changes only how output looks."""
    name, _, value = word.text.partition("=")
    if not word.literal:
        return False
    return word.text in _HARMLESS_PAGERS or (name in _HARMLESS and _HARMLESS_VALUE.fullmatch(value) is not None)


def is_plain_environment(variables: Sequence[tuple[str, str]]) -> bool:
    """Whether variables that are set for a command change only how output looks."""
    return all(is_harmless(Word(f"{name}={value}")) for name, value in variables)


def fits(pieces: Pieces, word: str) -> bool:
    """Whether a text is made of these pieces, with anything between them."""
    if len(pieces) == 1:
        return word == pieces[0]
    first, *middle, last = pieces
    if len(word) < len(first) + len(last) or not word.startswith(first) or not word.endswith(last):
        return False
    at, end = len(first), len(word) - len(last)
    for piece in middle:
        at = word.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _is_safe_to_expand(word: Word, risk: Risk | None) -> bool:
    """Whether what the shell makes of a word cannot be a risky option: a pattern for names that does not begin one."""
    if risk is None:
        return True
    return re.match(r"[A-Za-z0-9_./]", word.source) is not None and not any(char in word.source for char in "$`(…")


def _is_leading(words: Sequence[Word], start: int, place: int) -> bool:
    return all(word.text.startswith("-") for word in words[start + 1 : place + 1])


def _risky_option(risk: Risk, word: str, *, leading: bool) -> str:
    """The risky option that a word is, may be short for, or contains."""
    if word in risk.words:
        return word
    if not word.startswith("-") or len(word) < 2:
        return ""
    if risk.leading and leading:
        return "" if word in _HARMLESS_LEADING else word
    name = word.partition("=")[0]
    if word.startswith("--"):
        # Long options may be cut short, down to what is still unique.
        return name if any(option.startswith(name) or name == option for option in risk.long) and len(name) > 2 else ""
    return name if any(letter in risk.short for letter in name[1:]) else ""
