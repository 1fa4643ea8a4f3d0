"""The lines of a review: the changes of a session or of the working tree, and the session's plan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from accord.model.tool import FileChange
from accord.terminal_text import one_line, sanitize
from accord.tui.session.review import ReviewLine
from accord.tui.transcript.blocks.diff import Row, rows_of, rows_of_patch

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript

MAX_LINES = 20_000
PLAN = "Plan"
_HEADING = ReviewLine("#", "")


def list_session_changes(transcript: Transcript, cwd: str) -> list[ReviewLine]:
    """Return the changes that the agent's tool calls made, by file. Consecutive changes are joined, so that
    a file that was changed and changed back shows only the net change."""
    lines: list[ReviewLine] = []
    patches: list[str] = []
    changes: dict[str, list[FileChange]] = {}
    for call in transcript.tool_calls.values():
        if call.status in ("failed", "cancelled"):
            continue
        for diff in call.diffs:
            if diff.given_patch is not None and not any(each.new_text or each.old_text for each in diff.changes):
                patches.append(diff.given_patch)
            for change in diff.changes:
                if change.old_text is not None or change.new_text is not None:
                    _join(changes.setdefault(change.path, []), change)
    for path, parts in changes.items():
        name = shorten_path(path, cwd)
        for part in parts:
            if part.old_text == part.new_text:
                continue
            rows = rows_of(part)
            if rows is not None and part.is_fragment:
                rows = [row._replace(old=None, new=None) for row in rows]
            lines += _list_rows(name, rows if rows is not None else [Row("@", None, None, "too long to show")])
    for patch in patches:
        lines += list_patch(patch)
    return lines[:MAX_LINES]


def list_patch(patch: str) -> list[ReviewLine]:
    """Return the lines of a Git patch."""
    lines = [line for name, rows in rows_of_patch(patch) for line in _list_rows(one_line(name), rows)]
    return lines[:MAX_LINES]


def list_plan(transcript: Transcript) -> list[ReviewLine]:
    """Return the session's plan, line by line."""
    lines: list[ReviewLine] = []
    for plan in transcript.plans.values():
        texts = [f"{number}. {entry.content}" for number, entry in enumerate(plan.entries, 1)]
        texts += [plan.markdown] if plan.markdown else []
        body = [row for text in texts for row in sanitize(text).splitlines()]
        if body:
            lines.append(_HEADING._replace(text=PLAN, file=PLAN))
            lines += [ReviewLine(" ", text, PLAN, None) for text in body]
    return lines[:MAX_LINES]


def _join(parts: list[FileChange], change: FileChange) -> None:
    """Add a change of a file to its earlier ones: to the last one, if it continues that."""
    if parts and parts[-1].new_text == change.old_text and not change.is_fragment:
        from msgspec import structs

        parts[-1] = structs.replace(parts[-1], new_text=change.new_text)
    else:
        parts.append(change)


def _list_rows(name: str, rows: list[Row]) -> list[ReviewLine]:
    added, removed = (sum(row.sign == sign for row in rows) for sign in "+-")
    lines = [_HEADING._replace(text=f"{name} +{added} -{removed}", file=name)]
    return [
        *lines,
        *(ReviewLine(row.sign, row.text, name, row.old if row.sign == "-" else row.new, row.marks) for row in rows),
    ]


def shorten_path(path: str, cwd: str) -> str:
    """Return a path relative to the project, as the review shows it."""
    inside = path.startswith(f"{cwd}{os.sep}")
    return one_line(path[len(cwd) + 1 :] if inside else path)
