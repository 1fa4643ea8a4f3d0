"""The files that the agent changed in a session, with added and removed lines, as its tool calls report them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from accord.model.tool import FINAL, ToolCall

if TYPE_CHECKING:
    from accord.model.tool import Diff
    from accord.transcript.transcript import Transcript

MAX_COMPARED = 100_000
"""Characters of a file from which on its lines aren't counted."""


class ChangedFile(NamedTuple):
    """A file, and how many lines were added and removed; 0 and 0 if that is unknown."""

    path: str
    added: int
    removed: int


class ChangedFiles:
    """Adds up the diffs of completed tool calls. Each is counted once, however long the session gets."""

    def __init__(self) -> None:
        self._transcript: Transcript | None = None
        self._first: object = None
        self._next = 0
        self._open: list[ToolCall] = []
        self._files: dict[str, ChangedFile] = {}

    def update(self, transcript: Transcript | None) -> list[ChangedFile]:
        """Add new changes, and return the files, the latest change first."""
        first = transcript.timeline[0] if transcript is not None and transcript.timeline else None
        # Start over with another transcript, or when earlier messages were loaded into this one.
        if transcript is not self._transcript or first is not self._first:
            self._transcript, self._first, self._next, self._open, self._files = transcript, first, 0, [], {}
        if transcript is None:
            return []
        new = transcript.timeline[self._next :]
        self._next = len(transcript.timeline)
        calls, self._open = [*self._open, *(item for item in new if isinstance(item, ToolCall))], []
        for call in calls:
            if call.status not in FINAL:
                self._open.append(call)
            elif call.status == "completed":
                for diff in call.diffs:
                    self._add(count_lines(diff))
        return list(reversed(self._files.values()))

    def _add(self, changed: Iterable[ChangedFile]) -> None:
        for each in changed:
            before = self._files.pop(each.path, ChangedFile(each.path, 0, 0))
            self._files[each.path] = ChangedFile(each.path, before.added + each.added, before.removed + each.removed)


def count_lines(diff: Diff) -> list[ChangedFile]:
    """Count the added and removed lines of each file in a diff."""
    from accord.tui.transcript.blocks.diff import rows_of, rows_of_patch

    patches = list(rows_of_patch(diff.given_patch)) if diff.given_patch is not None else []
    found = []
    for place, change in enumerate(diff.changes):
        if change.old_text is None and change.new_text is None:
            rows = patches[place][1] if len(patches) == len(diff.changes) else []
        elif len(change.old_text or "") + len(change.new_text or "") <= MAX_COMPARED:
            rows = rows_of(change, 0) or []
        else:
            rows = []
        signs = [row.sign for row in rows]
        found.append(ChangedFile(change.path, signs.count("+"), signs.count("-")))
    return found
