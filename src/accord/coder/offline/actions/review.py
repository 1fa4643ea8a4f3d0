"""Show the changes in the working tree, and review them by simple rules. Parses the output of git."""

from __future__ import annotations

import re
from typing import NamedTuple

from accord.coder.history import Result
from accord.coder.offline import requests as r
from accord.coder.offline.replies import fence, join_names, pluralize
from accord.coder.offline.script import Script, Situation, call, data_of, use

LONG_LINE = 120
MAX_ISSUES = 25
IS_TEST = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.")
IS_CODE = re.compile(r"\.(?:py|js|jsx|ts|tsx|rs|go|java|rb|c|cc|cpp|h|hpp|cs|swift|kt|php|sh)$")


class Check(NamedTuple):
    """A pattern to look for in added lines."""

    pattern: re.Pattern[str]
    words: str
    code_only: bool = True


CHECKS = (
    Check(re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)"), "leftover conflict marker", False),
    Check(
        re.compile(r"(?i)(?:api[_-]?key|secret|password|token)\s*[:=]\s*[\"'][^\"'\s]{8,}[\"']"),
        "possible secret",
        False,
    ),
    Check(re.compile(r"\b(?:breakpoint\(\)|pdb\.set_trace\(|debugger\b(?!\w)|dbg!\()"), "leftover debugger call"),
    Check(
        re.compile(r"^\s*(?:print\(|console\.log\(|System\.out\.print|fmt\.Print|println!\()"),
        "possible debug output",
    ),
    Check(re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"), "open to-do", False),
    Check(re.compile(r"^\s*except\s*:|except\s+(?:Base)?Exception\s*:\s*pass"), "catches every exception"),
    Check(re.compile(r"[ \t]+$"), "trailing whitespace"),
)


def show_changes(step: r.ShowChanges, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, "Looking at the changes…", call("show_changes", path=step.path))
    diffs, names = _read(result)
    if not diffs and not names:
        return _quote_output(result.text)
    diff = data_of(result)["diff"]
    return _overview(diffs, names) + (f"\n\n{fence(diff, 'diff', limit=60)}" if diff else "")


def _read(result: Result) -> tuple[list[FileDiff], list[str]]:
    """Return the changes, and the names of all changed files."""
    data = data_of(result)
    return parse_diff(data["diff"]), [each["name"] for each in data["files"]]


def _quote_output(text: str) -> str:
    text = text.strip()
    return text if text and len(text) < 400 else "Nothing has changed."


def _overview(diffs: list[FileDiff], names: list[str]) -> str:
    others = [name for name in names if name not in {diff.path for diff in diffs}]
    lines = [f"{pluralize(len(diffs) + len(others), 'file')} changed:", ""]
    lines += [f"- `{diff.path}`" + (" (binary)" if diff.binary else f" {diff.counts}") for diff in diffs[:40]]
    lines += [f"- `{name}` (new, or without a diff)" for name in others[: 40 - len(lines)]]
    return "\n".join(lines)


def review(step: r.Review, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, "Looking at the changes…", call("show_changes"))
    diffs, names = _read(result)
    if not diffs and not names:
        return f"Nothing to review: {_quote_output(result.text)}"
    found = [(place, words) for place, words in _find_issues(diffs)]
    changed = [*(diff.path for diff in diffs), *(name for name in names if name not in {diff.path for diff in diffs})]
    code = [path for path in changed if IS_CODE.search(path) and not IS_TEST.search(path)]
    lines = [_overview(diffs, names), "", "**Findings** (from fixed rules, without understanding the code):", ""]
    lines += [f"- `{place}`: {words}" for place, words in found[:MAX_ISSUES]]
    if len(found) > MAX_ISSUES:
        lines.append(f"- … and {len(found) - MAX_ISSUES} more")
    if code and not any(IS_TEST.search(path) for path in changed):
        lines.append(f"- {join_names(code, 3)} changed, but no test did.")
    large = [diff.path for diff in diffs if len(diff.added) > 400]
    if large:
        lines.append(f"- More than 400 lines were added to {join_names(large, 3)}: a large change to review at once.")
    if not data_of(result)["complete"]:
        lines.append("- The diff was truncated; this covers only its beginning.")
    if lines[-1] == "":
        lines.append("- None: no conflict markers, debugger calls, debug output, open to-dos or long lines.")
    return "\n".join(lines)


def _find_issues(diffs: list[FileDiff]) -> list[tuple[str, str]]:
    found: list[tuple[int, str, str]] = []
    for diff in diffs:
        is_code = bool(IS_CODE.search(diff.path))
        for line, text in diff.added:
            for rank, check in enumerate(CHECKS):
                if (is_code or not check.code_only) and check.pattern.search(text[:2000]):
                    found.append((rank, f"{diff.path}:{line}", f"{check.words}{_quote(text)}"))
            if is_code and len(text) > LONG_LINE:
                found.append((len(CHECKS), f"{diff.path}:{line}", f"line of {len(text)} characters"))
    return [(place, words) for _, place, words in sorted(found, key=lambda issue: issue[0])]


def _quote(text: str) -> str:
    text = text.strip()
    return f": `{text[:80]}`" if text and "`" not in text else ""


HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
HEAD = re.compile(r"^diff --git (?:\"?a/(.+?)\"?) (?:\"?b/(.+?)\"?)$")


class Added(NamedTuple):
    """An added line."""

    line: int
    text: str


class FileDiff:
    """The changes to one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.added: list[Added] = []
        self.removed = 0
        self.binary = False

    @property
    def counts(self) -> str:
        return f"+{len(self.added)} −{self.removed}"


def parse_diff(text: str) -> list[FileDiff]:
    """Parse the files of a diff, in order. Lenient, because the tool may have truncated it."""
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
