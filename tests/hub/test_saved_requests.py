"""Saved requests: those without a session are limited in number, and the others are removed with their session."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.hub_client import InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub.event_log import MAX_REQUESTS_WITHOUT_SESSION, PRUNE_EVERY, EventLog, MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.sqlite_log import SqliteEventLog

MAX_SAVED = MAX_REQUESTS_WITHOUT_SESSION + PRUNE_EVERY


class Silent(Agent):
    async def prompt(self, turn: Turn) -> None:
        """Do nothing."""


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EventLog]:
    log: EventLog = MemoryEventLog() if request.param == "memory" else SqliteEventLog(tmp_path / "log.db")
    yield log
    log.close()


def save_many(log: EventLog, count: int) -> None:
    for number in range(count):
        log.save_request(f"key{number}", "session/new", "")
        log.save_response(f"key{number}", b'{"result":{}}')
    log.commit()


def test_the_oldest_requests_without_a_session_are_removed(log: EventLog) -> None:
    log.save_request("prompt", "session/prompt", "s1")
    save_many(log, MAX_SAVED + 1)
    kept = [number for number in range(MAX_SAVED + 1) if log.request(f"key{number}") is not None]

    assert len(kept) <= MAX_SAVED
    newest = range(MAX_SAVED + 1 - MAX_REQUESTS_WITHOUT_SESSION, MAX_SAVED + 1)
    assert kept[-MAX_REQUESTS_WITHOUT_SESSION:] == list(newest)
    assert log.request("prompt") is not None


def test_a_response_to_a_request_that_was_removed_is_ignored(log: EventLog) -> None:
    log.save_request("first", "session/new", "")
    save_many(log, MAX_SAVED)
    log.save_response("first", b'{"result":{}}')
    log.commit()

    assert log.request("first") is None


def test_requests_without_a_session_of_earlier_runs_are_removed_too(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    SqliteEventLog(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [(f"old{number}",) for number in range(3 * MAX_SAVED)]
        connection.executemany("INSERT INTO requests VALUES (?, 'session/new', '', NULL)", rows)
    with closing(SqliteEventLog(path)) as log:
        log.save_request("new", "session/new", "")
        log.commit()

        assert log.request("old0") is None
        assert log.request(f"old{3 * MAX_SAVED - 1}") is not None
        assert log.request("new") is not None


async def test_the_request_that_created_a_session_is_removed_with_it(log: EventLog, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Silent), root=tmp_path, log=log) as hub, joined(hub, name="a") as client:
        session = await client.new_session(str(tmp_path), key="1")
        saved = log.request("alice/a:1")
        await client.call("session/delete", {"sessionId": session})
        await client.call("_accord/ping")

        assert saved is not None
        assert saved.session_id == session
        assert log.request("alice/a:1") is None
