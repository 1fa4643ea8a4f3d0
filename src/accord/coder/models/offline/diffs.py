"""Reading a diff as git prints it: which files, how many lines, and what was added where."""

from __future__ import annotations

import re
from typing import NamedTuple

HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
HEAD = re.compile(r"^diff --git (?:\"?a/(.+?)\"?) (?:\"?b/(.+?)\"?)$")
STATUS = re.compile(r"^(?:\?\?|[ MADRCTU]{1,2}|!!) +(\S.*)$")


class Added(NamedTuple):
    """A line that is new."""

    line: int
    text: str


class FileDiff:
    """What happened to one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.added: list[Added] = []
        self.removed = 0
        self.binary = False

    @property
    def counts(self) -> str:
        return f"+{len(self.added)} −{self.removed}"


def file_diffs(text: str) -> list[FileDiff]:
    """The files of a diff, in its order."""
    found: list[FileDiff] = []
    line, inside = 0, False
    for each in text.split("\n"):
        if head := HEAD.match(each):
            found.append(FileDiff(head[2]))
            inside = False
        elif not found:
            continue
        elif hunk := HUNK.match(each):
            line, inside = int(hunk[1]), True
        elif each.startswith("Binary files ") and not inside:
            found[-1].binary = True
        elif inside and each.startswith("+"):
            found[-1].added.append(Added(line, each[1:].rstrip("\r")))
            line += 1
        elif inside and each.startswith("-"):
            found[-1].removed += 1
        elif inside and (each.startswith(" ") or not each):
            line += 1
        elif not each.startswith("\\"):
            inside = False
    return found


def status_paths(text: str) -> list[str]:
    """The files that a short status names, before any diff."""
    before = re.split(r"^diff --git ", text, maxsplit=1, flags=re.MULTILINE)[0]
    found = [match[1].rpartition(" -> ")[2].strip('"') for line in before.split("\n") if (match := STATUS.match(line))]
    return list(dict.fromkeys(found))
