"""Everything that agents do with sessions in memory they do with sessions in a file: the same tests, another store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agent.test_closing
import agent.test_listing
import agent.test_load_and_resume
import agent.test_new_session
import agent.test_sessions
import agent.test_unstable_sessions
import pytest
from support import stored_sessions

from accord import SqliteStore

SUITES: list[Any] = [
    agent.test_closing,
    agent.test_listing,
    agent.test_new_session,
    agent.test_load_and_resume,
    agent.test_sessions,
    agent.test_unstable_sessions,
]
for suite in SUITES:
    globals().update({name: test for name, test in vars(suite).items() if name.startswith("test_")})


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SqliteStore]]:
    """Replace every store in memory by one in a file."""
    made: list[SqliteStore] = []

    def store() -> SqliteStore:
        made.append(SqliteStore(tmp_path / f"{len(made)}.db"))
        return made[-1]

    for module in (stored_sessions, *SUITES):
        if hasattr(module, "MemoryStore"):
            monkeypatch.setattr(module, "MemoryStore", store)
    yield made
    for each in made:
        each._end()


def test_the_tests_above_are_of_a_file(files: list[SqliteStore]) -> None:
    assert isinstance(stored_sessions.Kept().store, SqliteStore)
    assert len([name for name in globals() if name.startswith("test_")]) > 60
