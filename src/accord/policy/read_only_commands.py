"""Read-only commands, which need no question if the files they name may be read: `cat`, `ls`, `grep` and similar.

A command counts if its program is listed here, each of its options is known to only read, and the line is plain (see
`shell.plain_line`). The files that it names are then checked like those of `read_file`.

The list is deliberately short. It excludes programs that read more than the files they name (`grep -r`, `rg`), programs
that a repository can make run others (`git`: filters, hooks and other configuration), and programs with options that
write files or run commands (`find`, `sort`, `awk`, `tar`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from accord.policy.patterns.safe_arguments import Limits


def _long(text: str) -> frozenset[str]:
    return frozenset(f"--{name}" for name in text.split())


_PART = Limits("qv0123456789", "nc", _long("lines bytes quiet verbose"))
_READERS = {
    # `tail -f` never ends, `ls -L` describes the targets of links, and `wc --files0-from` reads a list of files.
    "cat": Limits("AbeEnstTuv", "", _long("number number-nonblank show-all show-ends show-tabs squeeze-blank")),
    "grep": Limits(
        "invwxlLcoqshHEFGa0123456789",
        "eABCm",
        _long("ignore-case line-number count files-with-matches word-regexp line-regexp invert-match only-matching")
        | _long("fixed-strings extended-regexp max-count context after-context before-context no-filename quiet"),
    ),
    "head": _PART,
    "ls": Limits("1aAdFghlnoprsStU", "", _long("all almost-all directory human-readable classify")),
    "nl": Limits("", "bw", frozenset()),
    "tail": _PART,
    "wc": Limits("clLmw", "", _long("bytes chars lines words max-line-length")),
}
_PRINT_LINES = re.compile(r"[0-9]+(?:,(?:[0-9]+|\$))?p")
_VALUE = re.compile(r"[A-Za-z0-9_.,+ -]*")


def files_read(words: Sequence[str]) -> list[str] | None:
    """Return the words that may name files if a command only reads, else None. `.` is the directory in which it runs.

    Regular expressions are among the words: one that looks like a path outside the project needs a question."""
    match words:
        case ["sed", "-n", script, *files] if _PRINT_LINES.fullmatch(script):
            return None if any(file.startswith("-") for file in files) else files
        case [program, *rest] if program in _READERS:
            found = _plain_words(_READERS[program], rest)
            return ["."] if found == [] and program == "ls" else found
    return None


def _plain_words(limits: Limits, words: Sequence[str]) -> list[str] | None:
    """Return the words that aren't options; None if an option isn't known."""
    found: list[str] = []
    takes_value = is_over = False
    for word in words:
        if takes_value:
            takes_value = False
        elif word.startswith("-") and word not in ("-", "--"):
            if is_over:  # a file, unless the `--` was the value of an option
                return None
            is_known, takes_value = limits.reads(word)
            if not is_known or not _VALUE.fullmatch(word.partition("=")[2]):
                return None
        elif word == "--":
            is_over = True
        else:
            found.append(word)
    return None if takes_value else found
