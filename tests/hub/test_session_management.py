"""Forks, archived sessions, status, long lists, and the subagents of sessions that share a process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE, BOB, HubClient, InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub import session_registry, sqlite_log
from accord.hub.agent_host import Isolation
from accord.hub.event_log import EventLog, MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.hub.sqlite_log import SqliteEventLog
from accord.transports.base import Transport
from accord.transports.memory import pair

ADMIN = Principal("root", "admin")
WATCHER = Principal("wall", "watcher")


class Forker(Agent):
    """Echoes, and supports every operation on sessions."""

    unstable = True

    def __init__(self) -> None:
        self.store = self.kept
        self.sources: list[str] = []

    async def prompt(self, turn: Turn) -> None:
        if turn.text == "wait":
            await asyncio.Event().wait()
        await turn.say(f"echo {turn.text}")

    async def fork_session(self, session: Any, source: str) -> None:
        self.sources.append(source)


def place(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


async def run_prompt(client: HubClient, session: str, text: str) -> None:
    start = len(client.messages)
    await client.response(client.prompt(session, text))
    if client.version == 2:
        await client.wait(lambda message: "'idle'" in str(message), start)


def choose_method(version: int) -> str:
    return "session/load" if version == 1 else "session/resume"


def make_params(session: str, cwd: Path, version: int) -> dict[str, Any]:
    return place(session, cwd) | ({} if version == 1 else {"replayFrom": {"type": "start"}})


# -- forks


@pytest.mark.parametrize("isolation", ["session", "shared"])
async def test_a_fork_continues_apart_from_its_source(isolation: Isolation, version: int, tmp_path: Path) -> None:
    agent = Forker()
    async with Hub(InProcessSpawner(lambda: agent), root=tmp_path, isolation=isolation) as hub:
        async with joined(hub, version=version) as client:
            source = await client.new_session(str(tmp_path))
            await run_prompt(client, source, "one")
            fork = (await client.call("session/fork", place(source, tmp_path)))["sessionId"]
            assert fork != source
            assert len(agent.sources) == 1
            await client.call("session/close", {"sessionId": source})
            await run_prompt(client, fork, "two")
            assert client.texts() == ["echo one", "echo two"]

        async with joined(hub, version=version) as late:
            await late.call(choose_method(version), make_params(fork, tmp_path, version))
            assert late.texts() == ["echo one", "echo two"]
            assert {each["params"]["sessionId"] for each in late.messages if "params" in each} == {fork}
        async with joined(hub, version=version) as late:
            await late.call(choose_method(version), make_params(source, tmp_path, version))
            assert late.texts() == ["echo one"]


async def test_a_fork_belongs_to_the_principal_that_made_it(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Forker), root=tmp_path) as hub,
        joined(hub, ALICE) as alice,
        joined(hub, BOB) as bob,
        joined(hub, WATCHER) as watcher,
    ):
        source = await alice.new_session(str(tmp_path))
        assert (await bob.fail("session/fork", place(source, tmp_path)))["code"] == -32002
        await alice.call("_accord/share", {"sessionId": source, "principal": "*", "role": "driver"})
        assert "watcher" in (await watcher.fail("session/fork", place(source, tmp_path)))["message"]
        fork = (await bob.call("session/fork", place(source, tmp_path)))["sessionId"]

        listed = (await bob.call("session/list"))["sessions"]
        assert {each["sessionId"] for each in listed} == {source, fork}
        assert [each["sessionId"] for each in (await alice.call("session/list"))["sessions"]] == [source]
        outside = await bob.fail("session/fork", place(source, tmp_path.parent))
        assert outside["code"] == -32602


@pytest.mark.parametrize("isolation", ["session", "shared"])
async def test_a_request_of_another_principal_does_not_leave_a_session_open(
    isolation: Isolation, tmp_path: Path
) -> None:
    agent = Forker()
    async with Hub(InProcessSpawner(lambda: agent), root=tmp_path, isolation=isolation) as hub:
        async with joined(hub) as alice:
            source = await alice.new_session(str(tmp_path))
            await run_prompt(alice, source, "one")
            await alice.call("_accord/share", {"sessionId": source, "principal": "bob", "role": "driver"})
            await alice.call("session/close", {"sessionId": source})
        async with joined(hub, BOB) as bob, joined(hub, BOB, version=2) as newer:
            await bob.fail("session/delete", {"sessionId": source})
            await bob.fail("_accord/share", {"sessionId": source, "principal": "eve"})
            await bob.fail("session/attach", {"sessionId": source, "role": "king"})
            await bob.fail("session/fork", place(source, tmp_path.parent))
            await newer.fail("session/resume", place(source, tmp_path))
            assert not hub.sessions
            fork = (await bob.call("session/fork", place(source, tmp_path)))["sessionId"]
            await run_prompt(bob, fork, "two")
            assert [each.id for each in hub.sessions] == [fork]


async def test_a_fork_request_that_is_sent_again_creates_no_second_fork(tmp_path: Path) -> None:
    agent = Forker()
    async with Hub(InProcessSpawner(lambda: agent), root=tmp_path) as hub:
        async with joined(hub, name="c") as client:
            source = await client.new_session(str(tmp_path))
            first = await client.call("session/fork", place(source, tmp_path), key="fork")
        async with joined(hub, name="c") as client:
            assert await client.call("session/fork", place(source, tmp_path), key="fork") == first
    assert len(agent.sources) == 1


# -- archive and status


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_an_archived_session_is_hidden_from_default_lists(kind: str, version: int, tmp_path: Path) -> None:
    log: EventLog = MemoryEventLog() if kind == "memory" else SqliteEventLog(tmp_path / "log.db")

    async def list_ids(client: HubClient, **filter: str) -> list[str]:
        return [each["sessionId"] for each in (await client.call("session/list", filter))["sessions"]]

    async with Hub(InProcessSpawner(Forker), root=tmp_path, log=log) as hub, joined(hub, version=version) as client:
        hidden, shown = await client.new_session(str(tmp_path)), await client.new_session(str(tmp_path))
        await run_prompt(client, hidden, "one")
        for _ in range(2):
            assert await client.call("session/archive", {"sessionId": hidden}) == {}
        assert len(hub.sessions) == 1, "it is closed"
        assert await list_ids(client) == await list_ids(client, archived="exclude") == [shown]
        assert await list_ids(client, archived="only") == [hidden]
        assert set(await list_ids(client, archived="include")) == {hidden, shown}
        assert (await client.fail("session/list", {"archived": "x"}))["code"] == -32602
        for _ in range(2):
            assert await client.call("session/unarchive", {"sessionId": hidden}) == {}
        assert set(await list_ids(client)) == {hidden, shown}
        assert len(hub.sessions) == 1, "it isn't opened"
        start = len(client.messages)
        await client.call(choose_method(version), make_params(hidden, tmp_path, version))
        assert "echo one" in str(client.messages[start:])


async def test_the_agent_archives_what_the_hub_archives(version: int, tmp_path: Path) -> None:
    agent = Forker()

    async def list_archived() -> list[bool]:
        return [bool(info.archived) for info in (await agent.store.list(archived="include")).sessions]

    async with (
        Hub(InProcessSpawner(lambda: agent), root=tmp_path, isolation="shared") as hub,
        joined(hub, version=version) as client,
    ):
        session = {"sessionId": await client.new_session(str(tmp_path))}
        await run_prompt(client, session["sessionId"], "one")
        await client.call("session/archive", session)
        assert await list_archived() == [True], "it was open"
        await client.call("session/unarchive", session)
        assert await list_archived() == [False]
        await client.call("session/archive", session)
        assert await list_archived() == [True], "it was closed"
        await client.call(choose_method(version), make_params(session["sessionId"], tmp_path, version))
        await run_prompt(client, session["sessionId"], "two")
        await client.call("session/unarchive", session)
        assert await list_archived() == [False], "it was open again"
        assert len(hub.sessions) == 1, "unarchiving doesn't close it"


async def test_only_the_owner_archives_a_session(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Forker), root=tmp_path) as hub,
        joined(hub, ALICE) as alice,
        joined(hub, BOB) as bob,
        joined(hub, ADMIN) as admin,
    ):
        session = await alice.new_session(str(tmp_path))
        assert (await bob.fail("session/archive", {"sessionId": session}))["code"] == -32002
        await alice.call("_accord/share", {"sessionId": session, "principal": "bob", "role": "driver"})
        assert "only the owner" in (await bob.fail("session/archive", {"sessionId": session}))["message"]
        await admin.call("session/archive", {"sessionId": session})
        assert (await alice.call("session/list"))["sessions"] == []


async def test_the_status_of_a_session_is_reported_without_opening_it(version: int, tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Forker), root=tmp_path) as hub,
        joined(hub, version=version) as client,
        joined(hub, BOB, version=version) as bob,
    ):
        session = await client.new_session(str(tmp_path))
        idle = {"status": "open"} | ({} if version == 1 else {"state": {"state": "idle"}})
        assert await client.call("session/status", {"sessionId": session}) == idle
        client.prompt(session, "wait")
        if version == 2:
            await client.wait(lambda message: "'running'" in str(message))
            running = {"status": "open", "state": {"state": "running"}}
            assert await client.call("session/status", {"sessionId": session}) == running
        await client.call("session/close", {"sessionId": session})
        assert await client.call("session/status", {"sessionId": session}) == {"status": "saved"}
        assert not hub.sessions
        error = await bob.fail("session/status", {"sessionId": session})
        assert (error["code"], error["data"]["sessionId"]) == (-32002, session)


# -- lists


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_each_principal_gets_its_pages_of_sessions(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_registry, "PAGE_SIZE", 3)
    log: EventLog = MemoryEventLog() if kind == "memory" else SqliteEventLog(tmp_path / "log.db")

    async def list_all(client: HubClient, **filter: str) -> list[str]:
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await client.call("session/list", {**filter, **cursor})
            assert len(page["sessions"]) <= 3
            found += [each["sessionId"] for each in page["sessions"]]
            if "nextCursor" not in page:
                return found
            cursor = {"cursor": page["nextCursor"]}

    (tmp_path / "inner").mkdir()
    async with (
        Hub(InProcessSpawner(Forker), root=tmp_path, log=log, isolation="shared") as hub,
        joined(hub, ALICE) as alice,
        joined(hub, BOB) as bob,
        joined(hub, ADMIN) as admin,
    ):
        hers = [await alice.new_session(str(tmp_path)) for _ in range(7)]
        his = [await bob.new_session(str(tmp_path / "inner")) for _ in range(4)]
        for name in ("bob", "*"):
            await alice.call("_accord/share", {"sessionId": hers[0], "principal": name, "role": "watcher"})

        assert await list_all(alice) == [hers[0], *reversed(hers[1:])], "the last changed comes first"
        assert await list_all(bob) == [hers[0], *reversed(his)]
        assert await list_all(admin) == [hers[0], *reversed(his), *reversed(hers[1:])]
        assert await list_all(admin, cwd=str(tmp_path / "inner")) == list(reversed(his))
        await alice.call("_accord/share", {"sessionId": hers[0], "principal": "*"})
        await alice.call("_accord/share", {"sessionId": hers[0], "principal": "bob"})
        assert await list_all(bob) == list(reversed(his))


async def test_listing_sessions_does_not_delay_other_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others_were_served = threading.Event()
    real = sqlite_log._list_sessions

    def list_slowly(*args: Any) -> Any:
        assert others_were_served.wait(20)
        return real(*args)

    monkeypatch.setattr(sqlite_log, "_list_sessions", list_slowly)
    log = SqliteEventLog(tmp_path / "log.db")
    async with Hub(InProcessSpawner(Forker), root=tmp_path, log=log) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        listing = client.start("session/list")
        await client.response(client.prompt(session, "hello"))
        others_were_served.set()
        assert len((await client.response(listing))["result"]["sessions"]) == 1


async def test_a_log_without_an_index_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    async with Hub(InProcessSpawner(Forker), root=tmp_path, log=SqliteEventLog(path)) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await client.call("_accord/share", {"sessionId": session, "principal": "bob", "role": "driver"})
    old = sqlite3.connect(path, isolation_level=None)
    old.execute("CREATE TABLE before (id TEXT PRIMARY KEY, updated_at REAL NOT NULL, data BLOB NOT NULL)")
    old.execute("INSERT INTO before SELECT id, updated_at, data FROM sessions")
    old.execute("DROP TABLE shares")
    old.execute("DROP TABLE sessions")
    old.execute("ALTER TABLE before RENAME TO sessions")
    old.execute("PRAGMA user_version = 1")
    old.close()

    async with Hub(InProcessSpawner(Forker), root=tmp_path, log=SqliteEventLog(path)) as hub:
        for principal in (ALICE, BOB):
            async with joined(hub, principal) as client:
                assert [each["sessionId"] for each in (await client.call("session/list"))["sessions"]] == [session]


# -- subagents


class CountingAgent:
    """A raw agent that numbers its sessions."""

    def __init__(self) -> None:
        self.transport: Transport
        self.sessions = 0

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        ours, self.transport = pair()
        self.transport.start(self)
        return ours

    def describe(self) -> str:
        return "a raw agent"

    def on_lines(self, block: bytes) -> None:
        for message in map(json.loads, block.splitlines()):
            result: dict[str, Any] = {}
            if message.get("method") == "initialize":
                result = {"protocolVersion": 1, "agentCapabilities": {}}
            elif message.get("method") == "session/new":
                self.sessions += 1
                result = {"sessionId": f"s{self.sessions}"}
            if "id" in message and "method" in message:
                self.send(id=message["id"], result=result)

    def on_oversized(self, head: bytes, size: int) -> None: ...

    def on_end(self, error: Exception | None) -> None: ...

    def send(self, **message: Any) -> None:
        self.transport.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def update(self, session: str, update: dict[str, Any]) -> None:
        self.send(method="session/update", params={"sessionId": session, "update": update})

    def say(self, session: str, text: str) -> None:
        self.update(session, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})


async def test_the_subagents_of_several_sessions_in_one_process_are_distinguished(tmp_path: Path) -> None:
    agent = CountingAgent()
    async with (
        Hub(agent, root=tmp_path, isolation="shared") as hub,
        joined(hub, ALICE) as alice,
        joined(hub, BOB) as bob,
    ):
        hers, his = await alice.new_session(str(tmp_path)), await bob.new_session(str(tmp_path))
        agent.update(hers, {"sessionUpdate": "subagent_update", "sessionId": "her-child"})
        agent.update(his, {"sessionUpdate": "subagent_update", "sessionId": "his-child"})
        agent.say("her-child", "for alice")
        agent.say("his-child", "for bob")
        agent.update("his-child", {"sessionUpdate": "subagent_update", "sessionId": "his-grandchild"})
        agent.say("his-grandchild", "for bob too")
        agent.say("nobody", "for nobody")
        agent.send(id=7, method="session/request_permission", params={"sessionId": "his-child", "options": []})
        agent.say(hers, "the end")
        agent.say(his, "the end")
        for client in (alice, bob):
            await client.wait(lambda message: "the end" in str(message))

        assert alice.texts() == ["for alice", "the end"]
        assert bob.texts() == ["for bob", "for bob too", "the end"]
        asked = await bob.wait_for("session/request_permission")
        assert asked["params"]["sessionId"] == "his-child"
        assert not [each for each in alice.messages if each.get("method") == "session/request_permission"]
        async with joined(hub, BOB) as late:
            await late.call("session/load", place(his, tmp_path))
            assert late.texts() == bob.texts()
