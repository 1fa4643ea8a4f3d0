"""Changed files, with the number of their lines."""

from __future__ import annotations

from accord.model.tool import Diff
from accord.transcript.transcript import Transcript
from accord.tui.session.changed_files import ChangedFile, ChangedFiles


def test_the_lines_of_completed_calls_are_added_up() -> None:
    transcript, changed = Transcript("s"), ChangedFiles()
    assert changed.update(transcript) == []
    transcript.patch_tool("1", status="completed", content=[Diff.of("a", "one\ntwo\n", "one\n2\n")])
    transcript.patch_tool("2", status="in_progress", content=[Diff.of("b", None, "new\n")])
    assert changed.update(transcript) == [ChangedFile("a", 1, 1)]
    transcript.patch_tool("2", status="completed")
    transcript.patch_tool("3", status="completed", content=[Diff.of("a", "2\n", "2\n3\n")])
    transcript.patch_tool("4", status="failed", content=[Diff.of("c", None, "never\n")])
    assert changed.update(transcript) == [ChangedFile("a", 2, 1), ChangedFile("b", 1, 0)]
    assert changed.update(transcript) == [ChangedFile("a", 2, 1), ChangedFile("b", 1, 0)]


def test_counting_starts_again_for_another_transcript() -> None:
    transcript, changed = Transcript("s"), ChangedFiles()
    transcript.patch_tool("1", status="completed", content=[Diff.of("a", None, "x\n")])
    assert changed.update(transcript) == [ChangedFile("a", 1, 0)]
    assert changed.update(Transcript("t")) == []
