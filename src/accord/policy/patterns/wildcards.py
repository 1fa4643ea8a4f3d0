"""Wildcards in command rules: the words that a star may match.

By default a star matches any words. Some programs look harmless, but an option or argument makes them write files or
run commands: `git log --output=F`, `sed '1e CMD'`, `curl -D F`, `uniq IN OUT`. For the ones listed here, a star matches
only harmless words (see `safe_arguments`), anything except risky words (`RISKY`), or nothing at all (`CLOSED`).
Anything else must be spelled out in the rule.

These lists can't be complete. For all other programs, a star allows everything that the program can do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from accord.policy.patterns.safe_arguments import (
    GIT,
    GIT_LEADING,
    GIT_LEADING_VALUED,
    GIT_LISTINGS,
    GIT_READING,
    LIMITS,
    PIP_READING,
    Limits,
)
from accord.policy.shell.script import Word


class Risk(NamedTuple):
    """The risky options of a program."""

    long: tuple[str, ...] = ()
    short: str = ""
    words: tuple[str, ...] = ()
    """Whole words that are risky."""


RISKY = {
    "find": Risk(words=("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls")),
    "fd": Risk(("--exec", "--exec-batch"), short="xX"),
    "sort": Risk(("--output", "--compress-program", "--temporary-directory"), short="oT"),
    "rg": Risk(("--pre", "--hostname-bin", "--search-zip"), short="z"),
    "tree": Risk(("--output",), short="oR"),
    "date": Risk(("--set",), short="s"),
    "file": Risk(("--compile",), short="C"),
    "man": Risk(("--pager", "--html", "--preprocessor", "--config-file"), short="PHC"),
    "rsync": Risk(("--rsh", "--rsync-path", "--daemon"), short="e"),
    "zip": Risk(("--unzip-command",), short="T"),
    "ag": Risk(("--pager",)),
    "bat": Risk(("--pager",)),
    "batcat": Risk(("--pager",)),
}
CLOSED = frozenset({"ed", "emacs", "ex", "nano", "nvim", "pico", "rvim", "sqlite", "sqlite3", "vi", "view", "vim"})
"""Programs whose arguments can be commands."""

_PYTHON = re.compile(r"python[0-9.]*")
_MODULES = (["-m", "pip"], ["-m", "json.tool"])
_PLAIN_GLOB = re.compile(r"[A-Za-z0-9_./][^$`(…]*")
_XXD_VALUED = re.compile(r"-(?:[cglnosR]|cols|group|len|name|offset|seek|skip)")
_PRINTS = frozenset({"-O-", "-qO-", "--output-document=-", "--spider"})

_ADDRESS = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\[\n]|\\[^\n]|\[\^?\]?[^\]/\\\n]*\])*/I?)"
_SUBSTITUTION = (
    r"s(?P<mark>[/|,#:@!%])(?:(?!(?P=mark))[^\\\[\n]|\\[^\n]|\[\^?\]?(?:(?!(?P=mark))[^\]\\\n])*\])*(?P=mark)"
    r"(?:(?!(?P=mark))[^\\\n]|\\[^\n])*(?P=mark)[gpiI0-9]*"
)
_SED = re.compile(rf"\s*(?:{_ADDRESS}(?:,\+?{_ADDRESS})?\s*!?\s*)?(?:[pdqP=lDnNgGhHx]|{_SUBSTITUTION})\s*")


def allows(words: Sequence[Word], starred: frozenset[int]) -> bool:
    """Return whether stars may match some words of a command. `words` begins with the program; `starred` has the
    indexes of the words that a star matches."""
    if not starred:
        return True
    texts = [word.text for word in words]
    program = texts[0].rpartition("/")[2]
    # A star that could match another module allows everything anyway.
    if _PYTHON.fullmatch(program) and texts[1:3] in _MODULES and starred.isdisjoint((1, 2)):
        return allows(words[2:], frozenset(place - 2 for place in starred))
    if program in CLOSED:
        return False
    if program == "git":
        return _allows_git(words, starred)
    if program in ("pip", "pip3"):
        reading = PIP_READING.get(texts[1]) if len(texts) > 1 else None
        return _is_within(reading, words, 2, starred) if reading is not None else 1 not in starred
    risk = RISKY.get(program)
    if risk is not None:
        return all(_expands_plainly(words[place]) and not _is_risky(risk, texts[place]) for place in starred)
    limits = LIMITS.get(program)
    if limits is None:
        return True
    check = _CHECKS.get(program)
    return _is_within(limits, words, 1, starred) and (check is None or check(words, starred))


def _is_within(limits: Limits, words: Sequence[Word], start: int, starred: frozenset[int]) -> bool:
    """Return whether the words matched by stars are within the limits, from `start` on."""
    starred = frozenset(place for place in starred if place >= start)
    plain = _plain_places(limits, words, start)
    end = next((place for place in range(start, len(words)) if words[place].text == "--"), len(words))
    for place in starred:
        word = words[place]
        if not (word.literal or (limits.plain is None and _expands_plainly(word))):
            return False
        if word.text.startswith("-") and len(word.text) > 1 and word.text != "--":
            # `--` may be the value of an option (`curl -H -- -o F`), so a word after it may still be one.
            if place > end or not limits.reads(word.text)[0]:
                return False
        elif limits.forbids(word.text):
            return False
    return limits.plain is None or len(plain) <= limits.plain or starred.isdisjoint(plain)


def _plain_places(limits: Limits, words: Sequence[Word], start: int) -> list[int]:
    """Return the indexes of words that are neither options nor their values."""
    places: list[int] = []
    takes_value = is_over = False
    for place in range(start, len(words)):
        text = words[place].text
        if not is_over and text == "--":
            is_over = True
        elif not is_over and text.startswith("-") and len(text) > 1:
            takes_value = limits.reads(text)[1]
            continue
        elif not takes_value:
            places.append(place)
        takes_value = False
    return places


def _allows_git(words: Sequence[Word], starred: frozenset[int]) -> bool:
    place = 1
    while place < len(words) and (option := words[place].text).startswith("-"):
        if place in starred and option not in GIT_LEADING:
            return False
        if option in GIT_LEADING_VALUED:
            place += 1
            if place in starred and option != "-C":  # sets a configuration value or another repository
                return False
        place += 1
    if place >= len(words):
        return True
    rest = tuple(word.text for word in words[place:])
    if place in starred and rest[0] not in GIT_READING:
        return rest in GIT_LISTINGS
    if any("::" in words[each].text for each in starred):  # a transport that runs a program
        return False
    limits = GIT.get(rest[0], Limits())
    return _is_within(limits, words, place + 1, starred)


def _allows_sed(words: Sequence[Word], starred: frozenset[int]) -> bool:
    """Return whether all scripts matched by stars only print, delete or substitute lines."""
    scripts: list[tuple[int, str]] = []
    for place, word in enumerate(words[1:], 1):
        option = re.fullmatch(r"(?:--expression(=?)|-[nErsuz]*e)(.*)", word.text, re.DOTALL)
        if option is None:
            continue
        if option[1] or option[2]:
            scripts.append((place, option[2]))
        elif place + 1 < len(words):
            scripts.append((place + 1, words[place + 1].text))
    if not scripts:
        scripts = [(place, words[place].text) for place in _plain_places(LIMITS["sed"], words, 1)[:1]]
    return all(words[place].literal and _is_plain_sed(text) for place, text in scripts if place in starred)


def _is_plain_sed(script: str) -> bool:
    at = 0
    while at < len(script):
        command = _SED.match(script, at)
        if command is None or (command.end() < len(script) and script[command.end()] not in ";\n"):
            return False
        at = command.end() + 1
    return True


def _allows_wget(words: Sequence[Word], starred: frozenset[int]) -> bool:
    """Return whether wget prints the page, or only checks that it exists."""
    texts = [word.text for word in words]
    named = [after for word, after in pairwise(texts) if re.fullmatch(r"-[qSdv46]*O|--output-document", word)]
    attached = [text for text in texts if re.match(r"-[qSdv46]*O.|--output-document=", text) and text not in _PRINTS]
    return not attached and all(each == "-" for each in named) and bool(named or _PRINTS.intersection(texts))


def _allows_make(words: Sequence[Word], starred: frozenset[int]) -> bool:
    """Allow no variables: make evaluates their values and runs programs that they name."""
    return not any("=" in words[place].text and not words[place].text.startswith("--") for place in starred)


def _allows_tar(words: Sequence[Word], starred: frozenset[int]) -> bool:
    """Check tar: the first word may be options without a dash, and an archive name with a colon is a remote host."""
    first = words[1].text if len(words) > 1 else ""
    if 1 in starred and not first.startswith("-") and not LIMITS["tar"].reads(f"-{first}")[0]:
        return False
    return not any(":" in words[place].text for place in starred)


def _allows_less(words: Sequence[Word], starred: frozenset[int]) -> bool:
    return not any(words[place].text.startswith("+") for place in starred)  # `+!cmd` runs a command


def _allows_xxd(words: Sequence[Word], starred: frozenset[int]) -> bool:
    """Check that xxd gets one file. Only the first letter of its options counts: the `s` of `-ps` takes no value."""
    files = 0
    takes_value = False
    for word in words[1:]:
        if takes_value or (word.text.startswith("-") and len(word.text) > 1):
            takes_value = not takes_value and _XXD_VALUED.fullmatch(word.text) is not None
        else:
            files += 1
    return files <= 1


def _allows_curl(words: Sequence[Word], starred: frozenset[int]) -> bool:
    return not any("{" in words[place].text for place in starred)  # curl expands `{file,x}://…` itself


_CHECKS = {
    "curl": _allows_curl,
    "sed": _allows_sed,
    "gsed": _allows_sed,
    "wget": _allows_wget,
    "make": _allows_make,
    "gmake": _allows_make,
    "tar": _allows_tar,
    "gtar": _allows_tar,
    "bsdtar": _allows_tar,
    "less": _allows_less,
    "xxd": _allows_xxd,
}


def _expands_plainly(word: Word) -> bool:
    """Return whether a word can't expand to an option: it is a literal, or a glob for ordinary names."""
    return word.literal or _PLAIN_GLOB.fullmatch(word.source) is not None


def _is_risky(risk: Risk, text: str) -> bool:
    """Return whether a word is, abbreviates or contains a risky option."""
    if text in risk.words:
        return True
    if not text.startswith("-") or len(text) < 2:
        return False
    name = text.partition("=")[0]
    if text.startswith("--"):
        # Long options may be abbreviated as long as they are unique.
        return len(name) > 2 and any(option.startswith(name) for option in risk.long)
    return any(letter in risk.short for letter in name[1:])
