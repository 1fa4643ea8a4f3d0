"""Long sessions: turns that never end, histories without end, and a disk that is full."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import InProcessSpawner, joined
from support.link import until

from accord import Agent, Turn
from accord.errors import StoreFailed
from accord.hub import commit_queue, history
from accord.hub.event_log import Event, EventLog, MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.hub.sqlite_log import SqliteEventLog
from accord.transports.base import Transport


class Endless(Agent):
    """Says a number of words, and then works until it is cancelled. `call 3` starts three tool calls instead."""

    async def prompt(self, turn: Turn) -> None:
        kind, _, count = turn.text.partition(" ")
        for number in range(int(count)):
            if kind == "say":
                await turn.say(f"{number} ")
            else:
                async with turn.tool(f"call {number}", kind="read") as tool:
                    await tool.show("x" * 1000)
        await asyncio.Event().wait()

    async def resume_session(self, session: Any) -> None:
        pass


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EventLog]:
    made: EventLog = MemoryEventLog() if request.param == "memory" else SqliteEventLog(tmp_path / "log.db")
    yield made
    made.close()


def events_of(log: EventLog, session: str) -> Sequence[Event]:
    return log.events(session, 0, 1_000_000)


def load(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


async def test_the_events_of_a_turn_that_does_not_end_are_compacted(log: EventLog, tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Endless), root=tmp_path, log=log, compact_after=20) as hub,
        joined(hub) as client,
    ):
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "say 600")
        await client.wait(lambda message: "'599 '" in str(message))
        await until(lambda: len(events_of(log, session)) < 200)
        assert "".join(client.texts()).split() == [str(number) for number in range(600)]
        async with joined(hub) as late:
            await late.call("session/load", load(session, tmp_path))
            assert "".join(late.texts()) == "".join(client.texts())
            assert len(late.texts()) < 200


async def test_a_long_history_is_compacted_in_small_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    class Measured(MemoryEventLog):
        def compact(self, session_id: str, events: Iterable[Event], until: int, after: int = 0) -> None:
            sizes.append(sum(len(event.params) for event in self.events(session_id, after, until - after)))
            super().compact(session_id, events, until, after)

    monkeypatch.setattr(history, "STEP_BYTES", 10_000)
    log = Measured()
    async with (
        Hub(InProcessSpawner(Endless), root=tmp_path, log=log, compact_after=200) as hub,
        joined(hub) as client,
    ):
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "say 600")
        await client.wait(lambda message: "'599 '" in str(message))
        await until(lambda: sum(sizes) > 20_000)
        assert max(sizes) <= 10_000
        async with joined(hub) as late:
            await late.call("session/load", load(session, tmp_path))
            assert "".join(late.texts()) == "".join(client.texts())


async def test_the_oldest_events_are_dropped_when_a_session_gets_too_large(log: EventLog, tmp_path: Path) -> None:
    limit = 50_000
    async with Hub(InProcessSpawner(Endless), root=tmp_path, log=log, max_session_bytes=limit) as hub:
        async with joined(hub, name="c") as client:
            session = await client.new_session(str(tmp_path))
            client.prompt(session, "call 150")
            await client.wait(lambda message: "call 149" in str(message))
            titles = [update["title"] for update in client.updates() if update["sessionUpdate"] == "tool_call"]
            assert titles == [f"call {number}" for number in range(150)], "who is there gets everything"
            first = next(each for each in client.messages if each.get("method") == "session/update")
            await until(lambda: sum(len(event.params) for event in events_of(log, session)) <= limit)

        async with joined(hub) as late:
            await late.call("session/load", load(session, tmp_path))
            kept = [update["title"] for update in late.updates() if update["sessionUpdate"] == "tool_call"]
            assert late.texts() == [
                "The oldest part of this session was dropped: the server keeps 50000 bytes of each.\n\n"
            ]
            assert 0 < len(kept) < 50
            assert kept == titles[-len(kept) :]
        async with joined(hub, name="c") as returned:
            cursor = first["params"]["_meta"]["accord/cursor"]
            await returned.call("session/resume", load(session, tmp_path) | {"_meta": {"accord/after": cursor}})
            assert returned.messages[1]["method"] == "_accord/snapshot"


def test_a_page_of_events_has_a_size_limit(log: EventLog) -> None:
    for seq in range(1, 6):
        event = Event(seq=seq, kind="notification", method="m", params=b"x" * 10, recorded_at=0.0)
        log.append("s", event)
    log.commit()

    assert [event.seq for event in log.events("s", 1, 100, 20)] == [2, 3]
    assert [event.seq for event in log.events("s", 1, 100, 1)] == [2], "an event that is too large comes alone"
    assert [event.seq for event in log.events("s", 1, 1, 20)] == [2]


async def test_large_events_are_read_and_dropped_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    dropped: list[int] = []

    class Measured(MemoryEventLog):
        def events(self, session_id: str, after: int, limit: int, max_bytes: int = sys.maxsize) -> Sequence[Event]:
            page = super().events(session_id, after, limit, max_bytes)
            read.append(sum(len(event.params) for event in page[:-1]))
            return page

        def compact(self, session_id: str, events: Iterable[Event], until: int, after: int = 0) -> None:
            gone = super().events(session_id, after, until)
            dropped.append(sum(len(event.params) for event in gone if event.seq < until))
            super().compact(session_id, events, until, after)

    monkeypatch.setattr(history, "PAGE_BYTES", 4_000)
    monkeypatch.setattr(history, "STEP_BYTES", 10_000)
    limit = 200_000
    log = Measured()
    async with Hub(InProcessSpawner(Endless), root=tmp_path, log=log, max_session_bytes=limit) as hub:
        async with joined(hub) as client:
            session = await client.new_session(str(tmp_path))
            client.prompt(session, "call 200")
            await client.wait(lambda message: "call 199" in str(message))
            await until(lambda: len(dropped) > 1 and hub.stats.running_turns == 1)
        async with joined(hub) as late:
            await late.call("session/load", load(session, tmp_path))
            assert len(late.texts()) == 1, "one message about all of it"
    assert max(read) < 4_000
    assert max(dropped) < 10_000


class CountingLog(MemoryEventLog):
    """Counts the events that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    def events(self, session_id: str, after: int, limit: int, max_bytes: int = sys.maxsize) -> Sequence[Event]:
        found = super().events(session_id, after, limit, max_bytes)
        self.read += len(found)
        return found


class Worker(Agent):
    async def prompt(self, turn: Turn) -> None:
        for number in range(1000):
            await turn.say(f"{number} ")
        await turn.usage(500, 1000)

    async def resume_session(self, session: Any) -> None:
        pass


async def test_a_session_is_reopened_without_reading_its_history(version: int, tmp_path: Path) -> None:
    log = CountingLog()
    async with Hub(InProcessSpawner(Worker), root=tmp_path, log=log) as hub, joined(hub, version=version) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "x"))
        await client.wait(lambda message: "usage_update" in str(message))
        await client.wait(lambda message: version == 1 or "'idle'" in str(message))
        await client.call("session/close", {"sessionId": session})
        assert not hub.sessions
        log.read = 0
        await client.call("session/resume", load(session, tmp_path))
        assert len(hub.sessions) == 1
        assert log.read < 10


class HeldSpawner(InProcessSpawner):
    """Notes whether the hub reads from its agent."""

    def __init__(self) -> None:
        super().__init__(Worker)
        self.is_held = False

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        transport = await super().spawn(cwd, principal)
        pause, resume = transport.pause, transport.resume

        def note_pause() -> None:
            self.is_held = True
            pause()

        def note_resume() -> None:
            self.is_held = False
            resume()

        transport.pause, transport.resume = note_pause, note_resume  # type: ignore[method-assign]
        return transport


class FullLog(MemoryEventLog):
    """A log whose disk is full for a while."""

    is_full = False

    def commit(self) -> None:
        if self.is_full:
            raise StoreFailed("the disk is full")


async def test_agents_have_to_wait_while_nothing_can_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_queue, "RETRY_SECONDS", 0.01)
    log, spawner = FullLog(), HeldSpawner()
    async with Hub(spawner, root=tmp_path, log=log) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        log.is_full = True
        prompt = client.prompt(session, "x")
        await until(lambda: spawner.is_held)
        log.is_full = False
        assert "result" in await client.response(prompt)
        assert not spawner.is_held
        assert "".join(client.texts()).split() == [str(number) for number in range(1000)]


async def test_a_long_history_is_deleted_in_small_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 10)
    log = Counting()
    async with Hub(InProcessSpawner(Endless), root=tmp_path, log=log) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "say 100")
        await client.wait(lambda message: "'99 '" in str(message))
        deleting = client.start("session/delete", {"sessionId": session})
        assert (await client.fail("session/load", load(session, tmp_path)))["code"] == -32002, "it is gone at once"
        assert "result" in await client.response(deleting)
        assert not events_of(log, session) and log.session(session) is None
        assert sum(log.removed) >= 100 and max(log.removed) <= 10


class Counting(MemoryEventLog):
    """Counts the events that each write removes."""

    def __init__(self) -> None:
        super().__init__()
        self.removed: list[int] = []

    def compact(self, session_id: str, events: Iterable[Event], until: int, after: int = 0) -> None:
        before = len(events_of(self, session_id))
        super().compact(session_id, events, until, after)
        self.removed.append(before - len(events_of(self, session_id)))

    def delete_session(self, session_id: str) -> None:
        self.removed.append(len(events_of(self, session_id)))
        super().delete_session(session_id)


async def test_a_session_that_is_deleted_while_it_is_compacted_stays_deleted(
    log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 1)  # compaction yields to other tasks after each event
    async with (
        Hub(InProcessSpawner(Endless), root=tmp_path, log=log, compact_after=20) as hub,
        joined(hub) as client,
    ):
        session = await client.new_session(str(tmp_path))
        client.prompt(session, "say 1000")
        await client.wait(lambda message: "'999 '" in str(message))
        assert is_compacting()
        await client.call("session/delete", {"sessionId": session})
        await until(lambda: not is_compacting())
        assert log.session(session) is None
        assert not events_of(log, session)


def is_compacting() -> bool:
    return any(history.SessionHistory.__name__ + "._compact" in repr(task.get_coro()) for task in asyncio.all_tasks())
