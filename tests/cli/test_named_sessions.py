"""accord run --name: sessions that are continued by a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli_runner import Accord, Here, agent

from accord.cli.support import named_sessions
from accord.cli.support.named_sessions import NamedSessions


def run(accord: Accord, *words: str) -> str:
    done = accord("run", "--agent", "built-in", "--json", *words)
    return str(done.events("session")[0]["session_id"])


def test_a_named_session_is_created_and_then_continued(accord: Accord) -> None:
    first = run(accord, "--name", "api", "hello")
    assert run(accord, "-s", "api", "hello again") == first
    assert run(accord, "-s", "other", "hello") != first


def test_a_name_belongs_to_one_directory(accord: Accord) -> None:
    (accord.project / "sub").mkdir()
    assert run(accord, "-s", "api", "hello") != run(accord, "-s", "api", "--cwd", "sub", "hello")


def test_a_session_that_no_longer_exists_is_replaced_with_a_warning(accord: Accord) -> None:
    first = run(accord, "-s", "api", "hello")
    accord("sessions", "delete", "--yes", first)
    done = accord("run", "--agent", "built-in", "-s", "api", "hello")
    assert done.status == 0
    assert "The session 'api' no longer exists; this is a new one." in done.err


@pytest.mark.parametrize("flags", [["--continue"], ["--session", "x"], ["--no-save"]])
def test_a_name_cannot_be_combined_with_another_choice(here: Here, flags: list[str]) -> None:
    assert here("run", "--agent", agent(), "--name", "api", *flags, "hello").status == 2


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65])
def test_a_name_is_a_plain_word(here: Here, name: str) -> None:
    assert here("run", "--agent", agent(), "--name", name, "hello").status == 2


def test_names_are_saved_in_a_private_file_of_limited_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_sessions, "MAX_NAMES", 2)
    names = NamedSessions(tmp_path / "data" / "names.json")
    for number in range(3):
        names.save("a", tmp_path, f"n{number}", f"s{number}")
    names.save("a", tmp_path, "n1", "new")
    assert [names.find("a", tmp_path, f"n{number}") for number in range(3)] == [None, "new", "s2"]
    assert names.path.stat().st_mode & 0o777 == 0o600


def test_a_damaged_file_of_names_is_replaced(tmp_path: Path) -> None:
    names = NamedSessions(tmp_path / "names.json")
    names.path.write_text("[{")
    assert names.find("a", tmp_path, "n") is None
    names.save("a", tmp_path, "n", "s")
    assert names.find("a", tmp_path, "n") == "s"
