"""The state of a session that its clients share: modes, options, titles, closing, deleting, and a log that fails."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import BOB, TIMEOUT_SECONDS, HubClient, InProcessSpawner, joined

from accord import Agent, AgentSession, StoreFailed, Turn
from accord.hub import commit_queue
from accord.hub.event_log import MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.spawner import CommandSpawner
from accord.model.session import Choice, Option

SHOWCASE = [sys.executable, "-P", "-m", "accord", "showcase", "--pace", "0"]


class Modal(Agent):
    """Has two modes, names its sessions, and can resume them."""

    options = (
        Option(
            id="mode",
            name="Mode",
            category="mode",
            value="ask",
            choices=[Choice(value="ask", name="Ask"), Choice(value="code", name="Code")],
        ),
    )

    async def resume_session(self, session: AgentSession) -> None:
        """Accept any session."""

    async def prompt(self, turn: Turn) -> None:
        await turn.set_title(turn.text)
        await turn.say(turn.text)


def place(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


async def test_a_change_by_one_client_reaches_the_others_and_those_that_load_later(tmp_path: Path) -> None:
    async with Hub(CommandSpawner(SHOWCASE), root=tmp_path) as hub, joined(hub) as first, joined(hub) as second:
        result = await first.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        session, modes = result["sessionId"], result["modes"]
        await second.call("session/resume", place(session, tmp_path))
        other = next(each["id"] for each in modes["availableModes"] if each["id"] != modes["currentModeId"])
        await first.call("session/set_mode", {"sessionId": session, "modeId": other})
        changed = await second.wait(lambda m: "current_mode_update" in str(m))
        assert changed["params"]["update"]["currentModeId"] == other

        async with joined(hub) as late:
            loaded = await late.call("session/load", place(session, tmp_path))
            assert loaded["modes"] == {**modes, "currentModeId": other}


async def test_titles_are_listed(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Modal), root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "Rename the parser"))
        (listed,) = (await client.call("session/list", {"cwd": str(tmp_path)}))["sessions"]

        assert (listed["sessionId"], listed["title"], listed["cwd"]) == (session, "Rename the parser", str(tmp_path))
        assert (await client.call("session/list", {"cwd": "/elsewhere"}))["sessions"] == []


async def test_sessions_are_listed_in_pages(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Modal), root=tmp_path, isolation="shared") as hub, joined(hub) as client:
        for _ in range(101):
            await client.new_session(str(tmp_path))
        first = await client.call("session/list")
        second = await client.call("session/list", {"cursor": first["nextCursor"]})

        assert (len(first["sessions"]), len(second["sessions"])) == (100, 1)
        assert "nextCursor" not in second
        assert (await client.fail("session/list", {"cursor": "nonsense"}))["code"] == -32602


async def test_closing_a_session_only_detaches_while_others_use_it(version: int, tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Modal), root=tmp_path) as hub,
        joined(hub, version=version) as first,
        joined(hub, version=version) as second,
    ):
        session = await first.new_session(str(tmp_path))
        await second.call("session/resume", place(session, tmp_path))
        await first.call("session/close", {"sessionId": session})
        assert hub.stats.sessions == 1
        assert "isn't open" in (await first.fail("session/prompt", {"sessionId": session, "prompt": []}))["message"]
        await second.call("session/close", {"sessionId": session})
        assert (hub.stats.sessions, hub.stats.agent_processes) == (0, 0)
        await first.call("session/resume", place(session, tmp_path))
        assert "result" in await first.response(first.prompt(session, "again"))


async def test_a_deleted_session_is_gone(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Modal), root=tmp_path) as hub, joined(hub, version=version) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "secret"))
        await client.call("session/delete", {"sessionId": session})

        assert (await client.call("session/list"))["sessions"] == []
        assert (await client.fail("session/resume", place(session, tmp_path)))["code"] == -32002


async def test_an_idle_session_without_clients_is_closed_and_can_be_opened_again(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Modal), root=tmp_path, idle_seconds=0.01) as hub, joined(hub) as observer:
        async with joined(hub) as client:
            session = await client.new_session(str(tmp_path))
            await client.response(client.prompt(session, "one"))
        while hub.stats.sessions:
            await observer.call("session/list")
        async with joined(hub) as client:
            await client.call("session/load", place(session, tmp_path))
            assert client.texts() == ["one"]
            await client.response(client.prompt(session, "two"))
            assert client.texts() == ["one", "two"]


async def test_a_session_of_one_version_is_refused_to_a_client_of_the_other(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Modal), root=tmp_path) as hub,
        joined(hub, version=1) as first,
        joined(hub, version=2) as second,
    ):
        session = await first.new_session(str(tmp_path))
        error = await second.fail("session/resume", place(session, tmp_path))

        assert error["message"] == "this session uses protocol version 1, but your client uses version 2"


async def test_requests_before_initialize_are_refused_and_pipelined_ones_wait(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Modal), root=tmp_path) as hub:
        client = HubClient(hub)
        assert "send initialize first" in (await client.fail("session/list"))["message"]
        client.start("initialize", {"protocolVersion": 1})
        assert await client.call("session/list") == {"sessions": []}
        assert "already initialized" in (await client.fail("initialize", {"protocolVersion": 1}))["message"]
        await client.close()


async def test_methods_that_the_agent_does_not_offer_are_not_found(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Modal), root=tmp_path) as hub:
        client = HubClient(hub, version=version)
        result = await client.initialize()
        assert "fork" not in str(result)
        for method in ("session/fork", "session/archive", "session/unarchive", "session/status"):
            assert (await client.fail(method, {"sessionId": "x"}))["code"] == -32601
        await client.close()


class FailingLog(MemoryEventLog):
    """A log whose disk is full for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False
        self.has_failed = asyncio.Event()

    def commit(self) -> None:
        if self.is_full:
            self.has_failed.set()
            raise StoreFailed("the disk is full")


async def test_nothing_is_sent_before_it_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_queue, "RETRY_SECONDS", 0.01)
    log = FailingLog()
    async with (
        Hub(InProcessSpawner(Modal), root=tmp_path, log=log, shared_sessions=True) as hub,
        joined(hub) as client,
        joined(hub, BOB) as bob,
    ):
        session = await client.new_session(str(tmp_path))
        other = await bob.new_session(str(tmp_path))
        log.is_full = True
        prompt = client.prompt(session, "hello")
        await asyncio.wait_for(log.has_failed.wait(), TIMEOUT_SECONDS)
        refused = await bob.response(bob.prompt(other, "hello"))

        assert refused["error"]["message"] == "the disk is full"
        assert client.texts() == []
        log.is_full = False
        assert "result" in await client.response(prompt)
        assert client.texts() == ["hello"]
