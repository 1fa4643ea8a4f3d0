"""Snapshot tests: compare transcripts, as readable text, with a file next to the tests."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Union

from accord.client.session import Session
from accord.store.export.sections import sections
from accord.store.export.text import text

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript

UPDATE_OPTION = "--acp-update"


def render_transcript(source: Union[Session, Transcript]) -> str:
    """Render a session as text: messages, thoughts, tool calls with their contents, notices and plans.

    The text contains neither ids nor times, so it is the same in every run and usually in both protocol versions."""
    transcript = source.transcript if isinstance(source, Session) else source
    return "".join(text(sections(transcript), thoughts=True, contents=True)).rstrip("\n") + "\n"


class SnapshotMismatch(AssertionError):
    """A transcript differs from its snapshot, or has no snapshot yet."""


class TranscriptSnapshot:
    """Compares transcripts with the files of one test."""

    def __init__(self, file: Path, *, is_updating: bool) -> None:
        self._file = file
        self._is_updating = is_updating

    def __call__(self, source: Union[Session, Transcript, str], name: str = "") -> None:
        """Compare a session, a transcript or a text. `name` distinguishes several snapshots in one test."""
        __tracebackhide__ = True  # pytest then shows the line of the test
        now = source if isinstance(source, str) else render_transcript(source)
        file = self._file.with_name(f"{self._file.stem}.{name}.txt") if name else self._file
        if self._is_updating:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(now, encoding="utf-8")
            return
        if not file.exists():
            raise SnapshotMismatch(f"there is no snapshot {file}; run pytest {UPDATE_OPTION} to write it:\n{now}")
        before = file.read_text(encoding="utf-8")
        if before != now:
            lines = difflib.unified_diff(before.splitlines(), now.splitlines(), str(file), "this run", lineterm="")
            changes = "\n".join(lines)
            raise SnapshotMismatch(
                f"the transcript changed; if that is intended, run pytest {UPDATE_OPTION}\n{changes}"
            )
