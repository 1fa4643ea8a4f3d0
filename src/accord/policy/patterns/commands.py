"""Patterns for commands: `git status`, `npm run *`, `git log --oneline *`.

A pattern consists of words, quoted as in a shell. `*` matches any text within a word. As the last word, it matches any
number of further words, including none.

To allow, every word of the command must match in its position: `git status` allows `git status` and nothing longer. To
ask or deny, it is enough that the words occur in this order, with the first as the name of the program and anything in
between: `git push` catches `git -C x push --force`.

`wildcards` limits what a star matches: for some well-known programs, only words that don't write files or run
programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from accord.errors import RuleError
from accord.policy.patterns import wildcards
from accord.policy.shell.script import PLAIN_NAME, SimpleCommand, Word

Pieces = tuple[str, ...]
"""A word of a pattern, split at its stars."""


class Pattern(NamedTuple):
    """A parsed pattern."""

    words: tuple[Pieces, ...]
    is_open: bool
    """Whether any number of words may follow."""

    @property
    def is_exact(self) -> bool:
        return not self.is_open and all(len(pieces) == 1 for pieces in self.words)


_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9_.,:+-]*")
_HARMLESS = frozenset(
    {"CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "LINES"}
    | {"NO_COLOR", "PYTHONUNBUFFERED", "TERM", "TZ"}
)
_HARMLESS_SETTINGS = frozenset(
    {f"{name}PAGER=cat" for name in ("", "AWS_", "GH_", "GIT_", "MAN", "SYSTEMD_")}
    | {"EDITOR=true", "GIT_EDITOR=true", "VISUAL=true", "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never"}
    | {"SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1"}
    | {f"SHELL={path}/{name}" for path in ("/bin", "/usr/bin") for name in ("sh", "bash", "zsh", "dash", "fish")}
)
# An agent that hides the user's secrets from its commands empties their variables.
_EMPTIED_SECRET = re.compile(
    r"(?!GIT_CONFIG_)[A-Z0-9_]*(?:(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|BEARER|WEBHOOK)"
    r"[A-Z0-9_]*|_(?:PAT|PASS|AUTH|CREDS?|DSN|PWD))="
)
# Agents set variables such as CLAUDECODE=1 or AGENT_SESSION_ID=x. These patterns match the names of variables that can
# change the effect of a command: those of loaders, interpreters, build tools and git. Other variables are harmless only
# if the value isn't a path, option or command.
_RISKY_NAME = re.compile(
    r"(?:LD|DYLD|BASH|SSH|GIT|PYTHON|PERL|RUBY|GEM(?!INI_)|BUNDLE|NODE|NPM|YARN|PNPM|BUN|DENO|_?JAVA|JDK|MAVEN|GRADLE|CARGO"
    r"|RUST|MAKE|CMAKE|PIP|UV|POETRY|PYTEST|TOX|NOX|PRE_COMMIT|HUSKY|DOCKER|XDG|LESS|MAN|PHP|LUA|GCC|GLIBC|MALLOC"
    r"|AWS|KUBE|SSL|OPENSSL|CURL|WGET|TAR|RSYNC|VIM|EMACS|TERMINFO|TERMCAP|CONDA|VIRTUAL|MISE|ASDF|DIRENV).*"
    r"|.*(?:PATH|FLAGS?|OPTS?|OPTIONS?|ARGS?|PAGER|EDITOR|SHELL|RC|HOME|DIR|ROOT|ENV|COMMAND|CMD|WRAPPER|RSH|ASKPASS"
    r"|BROWSER|PROXY|CONFIG|CONF|FILES?|PRELOAD|PLUGINS?|HOOKS?|STARTUP|INTERPRETER|EXEC?|BIN|LIB|LIBRARY|TOOLCHAIN"
    r"|OPEN|CLOSE|VISUAL|COMPILER|LINKER|MODULES?|PROGRAM|SCRIPT)"
    r"|CC|CXX|CPP|AR|AS|NM|FC|F77|IFS|ENV|PS[0-4]|TMP|TEMP|USER|LOGNAME|PATHEXT|COMSPEC|PROMPT.*|.*OPTS_.*",
    re.IGNORECASE,
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_VALUE = re.compile(r"(?:[A-Za-z0-9_.,:+][A-Za-z0-9_.,:+-]*)?")


@lru_cache(maxsize=4096)
def read(text: str) -> Pattern:
    """Parse a pattern, or raise `RuleError`."""
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
        raise RuleError("the command pattern is empty; expected words such as git status or npm run *")
    is_open = len(words) > 0 and words[-1] == ("", "")
    return Pattern(tuple(words[:-1] if is_open else words), is_open)


def _word(text: str, at: int) -> tuple[Pieces, int]:
    pieces = [""]
    while at < len(text) and text[at] not in " \t\n":
        char = text[at]
        if char in "'\"":
            end = text.find(char, at + 1)
            if end < 0:
                raise RuleError(f"the command pattern {text!r} has a {char} that isn't closed")
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
                f"the command pattern {text!r} has an unquoted {char!r}; a pattern is one command, so quote it, "
                f"or use line: for a whole command line"
            )
        else:
            pieces[-1] += char
            at += 1
    return tuple(pieces), at


def exact_pattern(words: Sequence[str]) -> str:
    """Return the pattern that matches exactly these words."""
    return " ".join(_quote(word) for word in words)


def _quote(word: str) -> str:
    if word and re.fullmatch(r"[A-Za-z0-9_@%+=:,./{}^~!#?\[\]-]+", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def covers(text: str, command: SimpleCommand) -> bool:
    """Return whether a pattern allows a command."""
    pattern = read(text)
    words = [word for word in command.assignments if not is_harmless(word)] + list(command.words)
    if not command.words or not PLAIN_NAME.fullmatch(command.words[0].text):
        return False
    if len(words) < len(pattern.words) or (len(words) > len(pattern.words) and not pattern.is_open):
        return False
    start = len(words) - len(command.words)  # index of the program name
    starred: set[int] = set()
    for place, word in enumerate(words):
        pieces = pattern.words[place] if place < len(pattern.words) else ("", "")
        is_rest = place >= len(pattern.words)
        if not word.literal and not is_rest:
            return False
        if word.literal and not fits(pieces, word.text):
            return False
        if len(pieces) > 1 and place > start and not _spells_option(pieces, word.text):
            starred.add(place - start)
    return wildcards.allows(words[start:], frozenset(starred))


def _spells_option(pieces: Pieces, word: str) -> bool:
    """Return whether a pattern spells out an option and leaves only its value to a star: `--output=*`."""
    name, has_value, _ = word.partition("=")
    return bool(has_value) and name.startswith("-") and pieces[0].startswith(name)


def catches(text: str, command: SimpleCommand) -> bool:
    """Return whether a pattern could apply to a command, for asking and denying."""
    return _catches(read(text).words, command)


def _catches(pattern: Sequence[Pieces], command: SimpleCommand) -> bool:
    words = [word.text.casefold() for word in command.words]
    both = [word.text.casefold() for word in command.assignments] + words
    folded = [tuple(piece.casefold() for piece in pieces) for pieces in pattern]
    if not folded:
        return True
    for seen in (words, both):
        if not seen:
            continue
        name = seen[0].rpartition("/")[2] if "=" not in seen[0] else seen[0]
        if not (fits(folded[0], seen[0]) or fits(folded[0], name)):
            continue
        rest = iter(seen[1:])
        if all(any(fits(pieces, word) for word in rest) for pieces in folded[1:]):
            return True
    return False


def may_catch(text: str, command: SimpleCommand) -> bool:
    """Return whether a pattern could match a command after the shell expands its words."""
    name = SimpleCommand(command.words[:1])
    first = read(text).words[:1]
    return any(not word.literal for word in command.words) and (not first or _catches(first, name))


def is_harmless(word: Word) -> bool:
    """Return whether an assignment only affects the appearance of output."""
    name, _, value = word.text.partition("=")
    if not word.literal:
        return False
    if word.text in _HARMLESS_SETTINGS or _EMPTIED_SECRET.fullmatch(word.text):
        return True
    return name in _HARMLESS and _HARMLESS_VALUE.fullmatch(value) is not None


def risky_variables(variables: Sequence[tuple[str, str]], line: str | None) -> list[tuple[str, str]]:
    """Return the variables that could change the effect of a command, by name or because the line uses them."""
    return [
        (name, value)
        for name, value in variables
        if (name and name in (line or ""))
        or not (is_harmless(Word(f"{name}={value}")) or _is_agent_variable(name, value))
    ]


def _is_agent_variable(name: str, value: str) -> bool:
    if _PLAIN_NAME.fullmatch(name) is None or _RISKY_NAME.fullmatch(name):
        return False
    return _PLAIN_VALUE.fullmatch(value) is not None


def fits(pieces: Pieces, word: str) -> bool:
    """Return whether a word consists of these pieces, with any text in between."""
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
