"""A home directory that is not writable: one turn works, with a warning; continuing a session does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.cli_runner import Accord

from accord.config.directories import why_not_writable


@pytest.fixture
def nowhere(tmp_path: Path) -> dict[str, str]:
    """Directories below a file, which not even root can create."""
    file = tmp_path / "file"
    file.write_text("")
    names = ("ACCORD_CONFIG_HOME", "ACCORD_DATA_HOME", "ACCORD_CACHE_HOME")
    return {"HOME": str(file / "home"), **{name: str(file / "home" / name) for name in names}}


@pytest.mark.parametrize("words", [["run", "list files"], ["run", "-"], ["chat"]])
def test_one_turn_works_without_a_writable_home(accord: Accord, nowhere: dict[str, str], words: list[str]) -> None:
    (accord.project / "notes.txt").write_text("hello\n")
    done = accord(*words, stdin="list files" if words != ["run", "list files"] else None, env=nowhere)
    assert done.status == 0
    assert "notes.txt" in done.out
    assert done.err == (
        "warning: This session and its decisions won't be saved: "
        f"{nowhere['ACCORD_DATA_HOME']} isn't writable (Not a directory)\n"
    )


def test_with_json_an_unwritable_home_is_reported_by_an_event(accord: Accord, nowhere: dict[str, str]) -> None:
    done = accord("run", "--json", "--v2", "hello", env=nowhere)
    assert done.status == 0
    assert [line["title"].partition(":")[0] for line in done.events("notice")][:1] == [
        "This session and its decisions won't be saved"
    ]


def test_continuing_a_session_fails_without_a_writable_home(accord: Accord, nowhere: dict[str, str]) -> None:
    done = accord("run", "--session", "sess_1", "hello", env=nowhere)
    assert done.status == 1
    assert "can't save sessions" in done.err or "no session" in done.err


def test_checking_whether_files_can_be_created_creates_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    assert why_not_writable(tmp_path) is None
    assert why_not_writable(tmp_path / "a" / "b") is None
    assert why_not_writable(tmp_path / "file") == "Not a directory"
    assert why_not_writable(tmp_path / "file" / "a" / "b") == "Not a directory"
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # as for a user who may not, which root never is
    assert why_not_writable(tmp_path / "a") == "Permission denied"
    assert os.listdir(tmp_path) == ["file"]
