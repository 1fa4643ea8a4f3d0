"""What changed in the working tree, and what in it a machine can find fault with."""

from __future__ import annotations

import re
from typing import NamedTuple

from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import counted, fenced, named
from accord.coder.models.offline.diffs import FileDiff, file_diffs, status_paths
from accord.coder.models.offline.script import Script, Situation, use, want

LONG = 120
MOST = 25
IS_TEST = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.")
IS_CODE = re.compile(r"\.(?:py|js|jsx|ts|tsx|rs|go|java|rb|c|cc|cpp|h|hpp|cs|swift|kt|php|sh)$")


class Fault(NamedTuple):
    """What is looked for in added lines, most important first."""

    pattern: re.Pattern[str]
    words: str
    code_only: bool = True


FAULTS = (
    Fault(re.compile(r"^(?:<{7}|>{7}|={7})(?: |$)"), "a conflict marker was left", False),
    Fault(
        re.compile(r"(?i)(?:api[_-]?key|secret|password|token)\s*[:=]\s*[\"'][^\"'\s]{8,}[\"']"),
        "looks like a secret",
        False,
    ),
    Fault(re.compile(r"\b(?:breakpoint\(\)|pdb\.set_trace\(|debugger\b(?!\w)|dbg!\()"), "a debugger was left"),
    Fault(
        re.compile(r"^\s*(?:print\(|console\.log\(|System\.out\.print|fmt\.Print|println!\()"),
        "prints, perhaps for debugging",
    ),
    Fault(re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"), "an open end", False),
    Fault(re.compile(r"^\s*except\s*:|except\s+(?:Base)?Exception\s*:\s*pass"), "catches everything"),
    Fault(re.compile(r"[ \t]+$"), "white space at the end of the line"),
)


def show_changes(step: r.ShowChanges, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, "I look at what changed.", want("show_changes", path=step.path))
    diffs, names = file_diffs(result.text), status_paths(result.text)
    if not diffs and not names:
        return _said(result.text)
    return f"{_overview(diffs, names)}{_patch(result.text)}"


def _said(text: str) -> str:
    text = text.strip()
    return text if text and len(text) < 400 else "Nothing has changed."


def _overview(diffs: list[FileDiff], names: list[str]) -> str:
    others = [name for name in names if name not in {diff.path for diff in diffs}]
    lines = [f"{counted(len(diffs) + len(others), 'file')} changed:", ""]
    lines += [f"- `{diff.path}`" + (" (binary)" if diff.binary else f" {diff.counts}") for diff in diffs[:40]]
    lines += [f"- `{name}` (new, or without a diff)" for name in others[: 40 - len(lines)]]
    return "\n".join(lines)


def _patch(text: str) -> str:
    start = re.search(r"^diff --git ", text, re.MULTILINE)
    return f"\n\n{fenced(text[start.start() :], 'diff', most=60)}" if start else ""


def review(step: r.Review, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, "I look at what changed.", want("show_changes"))
    diffs, names = file_diffs(result.text), status_paths(result.text)
    if not diffs and not names:
        return f"There is nothing to review: {_said(result.text)}"
    found = [(place, words) for place, words in _faults(diffs)]
    changed = [*(diff.path for diff in diffs), *(name for name in names if name not in {diff.path for diff in diffs})]
    code = [path for path in changed if IS_CODE.search(path) and not IS_TEST.search(path)]
    lines = [_overview(diffs, names), "", "**What I noticed**, by rule and not by understanding:", ""]
    lines += [f"- `{place}`: {words}" for place, words in found[:MOST]]
    if len(found) > MOST:
        lines.append(f"- … and {len(found) - MOST} more")
    if code and not any(IS_TEST.search(path) for path in changed):
        lines.append(f"- No test changed, though {named(code, 3)} did.")
    large = [diff.path for diff in diffs if len(diff.added) > 400]
    if large:
        lines.append(f"- More than 400 lines were added to {named(large, 3)}: a large change to review at once.")
    if "go on" in result.text[-300:] or "left out" in result.text[-300:]:
        lines.append("- The diff is longer than what I was shown; this is about its beginning.")
    if lines[-1] == "":
        lines.append("- Nothing: no conflict markers, debuggers, prints, open ends, or long lines.")
    return "\n".join(lines)


def _faults(diffs: list[FileDiff]) -> list[tuple[str, str]]:
    found: list[tuple[int, str, str]] = []
    for diff in diffs:
        is_code = bool(IS_CODE.search(diff.path))
        for line, text in diff.added:
            for rank, fault in enumerate(FAULTS):
                if (is_code or not fault.code_only) and fault.pattern.search(text[:2000]):
                    found.append((rank, f"{diff.path}:{line}", f"{fault.words}{_quoted(text)}"))
            if is_code and len(text) > LONG:
                found.append((len(FAULTS), f"{diff.path}:{line}", f"a line of {len(text)} characters"))
    return [(place, words) for _, place, words in sorted(found, key=lambda each: each[0])]


def _quoted(text: str) -> str:
    text = text.strip()
    return f": `{text[:80]}`" if text and "`" not in text else ""
