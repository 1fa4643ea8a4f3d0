"""The file itself: its versions, its neighbors, and what is in it that this program does not know."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from store.stored_agents import Disk, Filed, in_file, locked, texts
from support.link import until
from support.wire_client import begin_session, hello, new_session, turn

from accord import SqliteStore, StoreFailed, Turn
from accord.model.statement import ToolPatch
from accord.store import database, maintenance
from accord.testing import wire_client
from accord.testing.stores import info, list_ids, read_history, say


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "sessions.db"


async def make_store(path: Path, *words: str, id: str = "a") -> SqliteStore:
    """A store with one session in which these words were said."""
    store = SqliteStore(path)
    await store.create(info(id))
    for word in words:
        store.append(id, say(word))
    await store.update(info(id))
    return store


def by_hand(path: Path, *statements: str, values: tuple[Any, ...] = ()) -> list[Any]:
    """Changes the file as no store would."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return [connection.execute(statement, values).fetchall() for statement in statements]
    finally:
        connection.close()


async def test_without_a_path_sessions_are_in_the_users_data_directory(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path / "mine"))
    async with SqliteStore() as store:
        assert store.path == str(tmp_path / "mine" / "sessions.db")
        assert await list_ids(store) == []


async def test_the_file_is_its_owners_alone(path: Path) -> None:
    store = await make_store(path, "secret")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in [path.parent, *sorted(path.parent.iterdir())]}
    await store.close()
    assert modes.pop("data") == 0o700
    assert set(modes) == {"sessions.db", "sessions.db-wal", "sessions.db-shm"}
    assert set(modes.values()) == {0o600}


async def test_a_closed_store_leaves_one_file_and_may_be_used_again(path: Path) -> None:
    store = await make_store(path, "one")
    await store.close()
    assert os.listdir(path.parent) == ["sessions.db"]
    store.append("a", say("two"))
    assert await read_history(store, "a") == [say("one"), say("two")]
    await store.close()


async def test_a_file_of_a_newer_version_is_rejected_and_left_alone(path: Path) -> None:
    await (await make_store(path, "x")).close()
    by_hand(path, "PRAGMA user_version = 99")
    with pytest.raises(
        StoreFailed, match=r"written by a newer version of Accord \(format 99; this one supports up to 2\); upd"
    ):
        await SqliteStore(path).list()
    assert by_hand(path, "PRAGMA user_version") == [[(99,)]]


async def test_an_older_file_is_brought_up_to_date_and_loses_nothing(path: Path, monkeypatch: Any) -> None:
    await (await make_store(path, "old")).close()
    step = ("ALTER TABLE sessions ADD COLUMN color TEXT", "UPDATE sessions SET color = 'blue'")
    monkeypatch.setattr(database, "STEPS", (*database.STEPS, step))
    monkeypatch.setattr(database, "VERSION", 3)
    async with SqliteStore(path) as store:
        assert await read_history(store, "a") == [say("old")]
    assert by_hand(path, "PRAGMA user_version", "SELECT color FROM sessions") == [[(3,)], [("blue",)]]


async def test_a_step_that_fails_changes_nothing(path: Path, monkeypatch: Any) -> None:
    await (await make_store(path, "old")).close()
    monkeypatch.setattr(database, "STEPS", (*database.STEPS, ("CREATE TABLE new (x)", "SELECT nonsense")))
    monkeypatch.setattr(database, "VERSION", 3)
    with pytest.raises(StoreFailed):
        await SqliteStore(path).list()
    monkeypatch.undo()
    async with SqliteStore(path) as store:
        assert await read_history(store, "a") == [say("old")]
    assert by_hand(path, "SELECT name FROM sqlite_master WHERE name = 'new'") == [[]]


@pytest.mark.parametrize("content", [b"just some notes\n" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_file_that_is_not_a_session_database_is_rejected_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreFailed, match=r"can't save sessions in .*notes.txt: .*; move it away"):
        await SqliteStore(path).list()
    assert path.read_bytes() == content


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    by_hand(path, "CREATE TABLE theirs (x)")
    with pytest.raises(StoreFailed, match="is a database of another program"):
        await SqliteStore(path).list()
    assert by_hand(path, "SELECT name FROM sqlite_master") == [[("theirs",)]]


async def test_a_directory_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreFailed, match=r"File exists; check the directory, or set ACCORD_DATA_HOME"):
        await SqliteStore(tmp_path / "file" / "sessions.db").list()


async def test_an_unwritable_file_is_an_error_and_nothing_is_lost(path: Path) -> None:
    store = await make_store(path, "one")
    connection = store._writer._connection
    assert connection is not None
    connection.execute("PRAGMA query_only = ON")
    store.append("a", say("two"))
    with pytest.raises(StoreFailed, match="it isn't writable; make it and its directory writable"):
        await _save(store)
    assert store.unsaved
    connection.execute("PRAGMA query_only = OFF")
    await _save(store)
    assert await read_history(store, "a") == [say("one"), say("two")]
    await store.close()


async def _save(store: SqliteStore) -> None:
    waiting = store.save()
    if waiting is not None:
        await waiting


# -- what later versions may have written


async def test_statements_of_a_later_version_are_skipped_counted_and_kept(path: Path, caplog: Any) -> None:
    store = await make_store(path, "before")
    await store.close()
    later = b'[["agent","m","x"],{"type":"Danced","steps":3},{"type":"Said","role":"agent"},7,["robot","m","y"]]'
    by_hand(path, "INSERT INTO said SELECT max(place) + 1, ? FROM said", values=(later,))
    by_hand(path, "INSERT INTO said SELECT max(place) + 1, ? FROM said", values=(b'[["agent","m","half',))
    async with SqliteStore(path) as store:
        store.append("a", say("after"))
        with caplog.at_level(logging.WARNING):
            assert texts(await read_history(store, "a")) == ["before", "x", "after"]
        assert store.skipped == {"Danced": 1, "Said": 1, "nameless": 2, "damaged": 1}
        assert "session a: skipped entries that this version of Accord doesn't know (1 × Danced" in caplog.text
        await store.copy("a", info("b"))
    assert by_hand(path, "SELECT count(*) FROM said WHERE data = ?", values=(later,)) == [[(2,)]]


async def test_fields_that_a_later_version_has_added_are_ignored(path: Path) -> None:
    await (await make_store(path)).close()
    later = b'[{"type":"ToolPatch","id":"c","title":"T","mood":"good"},{"type":"PlanGone","id":"p","why":"done"}]'
    by_hand(path, "INSERT INTO said SELECT (key << 32) + 1, ? FROM sessions", values=(later,))
    async with SqliteStore(path) as store:
        assert [type(each).__name__ for each in await read_history(store, "a")] == ["ToolPatch", "RemovePlan"]


# -- several at once


async def test_two_processes_use_one_file_at_once(path: Path) -> None:
    first, second = SqliteStore(path), SqliteStore(path)
    await asyncio.gather(first.create(info("a")), second.create(info("b")))
    for number in range(200):
        first.append("a", say(f"a{number}"))
        second.append("b", say(f"b{number}"))
        await asyncio.gather(_save(first), _save(second))
    assert texts(await read_history(second, "a")) == [f"a{number}" for number in range(200)]
    assert texts(await read_history(first, "b")) == [f"b{number}" for number in range(200)]
    assert sorted(await list_ids(first)) == ["a", "b"]
    await first.close()
    await second.close()


async def test_a_session_can_be_opened_twice_and_the_updates_of_both_are_saved(path: Path) -> None:
    here, there = Filed(path, ["one"], ["three"]), Filed(path, ["two"])
    async with wire_client(here) as ours, wire_client(there) as theirs:
        session = await begin_session(ours, 1)
        await turn(ours, 1, session, "a")
        await hello(theirs, 1)
        await theirs.call("session/load", {"sessionId": session, "cwd": "/project", "mcpServers": []})
        await turn(theirs, 1, session, "b")
        await turn(ours, 1, session, "c")
    assert texts(in_file(path, session)) == ["one", "two", "three"]


async def test_updates_of_a_session_deleted_elsewhere_reach_no_other_session(path: Path) -> None:
    here, there = await make_store(path, "x"), SqliteStore(path)
    assert await there.delete("a")
    await there.create(info("new"))
    here.append("a", say("too late"))
    await here.update(info("a"))
    assert await read_history(there, "new") == []
    assert await list_ids(there) == ["new"]
    await here.close()
    await there.close()


async def test_a_lock_of_a_moment_is_waited_for(path: Path) -> None:
    store = await make_store(path, "one")
    with locked(path):
        store.append("a", say("two"))
        waiting = store.save()
        assert waiting is not None, "the loop must not wait for another process"
        store.append("a", say("three"))
    await waiting
    assert not store.unsaved
    assert texts(in_file(path, "a")) == ["one", "two", "three"]
    await store.close()


async def test_updates_that_could_not_be_saved_are_saved_before_later_ones(path: Path) -> None:
    store = await make_store(path, "one")
    Disk(store).fill()
    with locked(path):
        store.append("a", say("two" * 5000))
        waiting = store.save()
        assert waiting is not None
        store.append("a", say("three"))
    with pytest.raises(StoreFailed):
        await waiting
    store.append("a", say("four"))
    Disk(store).free()
    await _save(store)
    assert texts(in_file(path, "a")) == ["one", "two" * 5000, "three", "four"]
    await store.close()


# -- keeping it in order


async def test_the_log_is_moved_into_the_file_when_it_has_grown(path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(maintenance, "LOG_BYTES", 50_000)
    monkeypatch.setattr(maintenance, "_SAVES_PER_CHECK", 3)
    store = await make_store(path)
    grown = []
    for number in range(60):
        store.append("a", say(f"{number}" * 2000))
        await _save(store)
        grown.append(log_size(path))
        await asyncio.sleep(0)
    await until(lambda: log_size(path) < max(grown))
    assert texts(await read_history(store, "a")) == [f"{number}" * 2000 for number in range(60)]
    await store.close()


def log_size(path: Path) -> int:
    return os.path.getsize(f"{path}-wal")


def test_sqlite_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, asyncio\n"
        "from accord import Agent, SqliteStore\n"
        "from accord.testing import wire_client\n"
        "class Echo(Agent):\n"
        "    store = SqliteStore('/nonexistent/sessions.db')\n"
        "    async def prompt(self, turn): ...\n"
        "async def main():\n"
        "    async with wire_client(Echo()) as peer:\n"
        "        await peer.call('initialize', {'protocolVersion': 1})\n"
        "        print([name for name in ('sqlite3', 'accord.store.queries') if name in sys.modules])\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_new_session_costs_no_look_at_the_others(path: Path) -> None:
    store = await make_store(path)
    async with wire_client(Filed(path)) as peer:
        await hello(peer, 1)
        await new_session(peer)
    plans = by_hand(
        path,
        "EXPLAIN QUERY PLAN SELECT id FROM sessions WHERE archived = 0 AND changed <= 9 ORDER BY changed DESC LIMIT 51",
        "EXPLAIN QUERY PLAN SELECT id FROM sessions WHERE cwd = 'x' AND archived = 0 ORDER BY changed DESC LIMIT 51",
        "EXPLAIN QUERY PLAN SELECT id FROM sessions ORDER BY changed DESC LIMIT 51",
        "EXPLAIN QUERY PLAN SELECT max(changed) FROM sessions",
        "EXPLAIN QUERY PLAN SELECT place FROM said WHERE place BETWEEN 1 AND 2 ORDER BY place DESC LIMIT 1",
    )
    words = [step[3] for plan in plans for step in plan]
    assert not any("TEMP B-TREE" in word for word in words), words
    assert all("INDEX" in word or "PRIMARY KEY" in word for word in words), words
    await store.close()


async def test_a_call_that_shows_more_and_more_is_not_kept_again_and_again(path: Path) -> None:
    async def show(turn: Turn) -> None:
        async with turn.tool("Long") as tool:
            for number in range(200):
                await tool.show(f"{number}" + "x" * 1000)

    async with wire_client(Filed(path, [show])) as peer:
        session = await begin_session(peer, 2)
        await turn(peer, 2, session, "go")
    ((size,),) = by_hand(path, "SELECT sum(length(data)) FROM said")[0]
    assert size < 400_000
    patches = [
        each for each in in_file(path, session) if isinstance(each, ToolPatch) and isinstance(each.content, list)
    ]
    assert [len(patch.content) for patch in patches] == list(range(1, 201))  # type: ignore[arg-type]


async def test_the_first_version_of_the_file_is_still_read_and_searched(path: Path, monkeypatch: Any) -> None:
    with monkeypatch.context() as then:
        then.setattr(database, "STEPS", database.STEPS[:1])
        then.setattr(database, "VERSION", 1)
        await (await make_store(path, "old words")).close()
    async with SqliteStore(path) as store:
        assert await read_history(store, "a") == [say("old words")]
        store.append("a", say("and new ones"))
        assert [hit.session.id for hit in await store.search("new ones")] == ["a"]
    assert by_hand(path, "PRAGMA user_version") == [[(database.VERSION,)]]
