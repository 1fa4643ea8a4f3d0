"""Real agent processes and our own client: a client sees the same through a hub as without one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE

import accord
from accord.hub.hub import Hub
from accord.hub.spawner import CommandSpawner
from accord.hub.sqlite_log import SqliteEventLog
from accord.transports.memory import pair

SHOWCASE = [sys.executable, "-P", "-m", "accord", "showcase", "--pace", "0"]
CODER = [sys.executable, "-P", "-m", "accord", "agent", "--memory", "--model", "offline"]
PROMPTS = [
    "/plan",
    "/thoughts",
    "/tools 3",
    "/diff",
    "/image",
    "/permission",
    "/elicit",
    "/usage",
    "/unicode",
    "/big 64",
]


async def play(target: Any, version: int, cwd: Path) -> list[tuple[str, str, list[str]]]:
    """Run the showcase's topics. Returns each turn's text, its end, and the types of its events."""
    played = []
    async with accord.connect(
        target,
        versions={version},
        cwd=cwd,
        permissions=accord.allow_all,
        elicitation=lambda form: {"name": "Ada"} if "name" in form.schema.get("properties", {}) else None,
    ) as agent:
        session = await agent.new_session()
        for text in PROMPTS:
            turn = session.prompt(text)
            # Commands are announced after session/new, at any time.
            events = [type(e).__name__ async for e in turn if not isinstance(e, accord.CommandsChanged)]
            ended = await turn
            played.append((ended.text, ended.stop_reason, events))
        await session.close()
    return played


async def test_the_showcase_looks_the_same_through_a_hub(version: int, tmp_path: Path) -> None:
    direct = await play(SHOWCASE, version, tmp_path)
    log = SqliteEventLog(tmp_path / "log" / "events.db")
    async with Hub(CommandSpawner(SHOWCASE), root=tmp_path, log=log) as hub:
        ours, theirs = pair()
        serving = asyncio.ensure_future(hub.accept(theirs, ALICE))
        through_hub = await play(ours, version, tmp_path)
        await serving

    assert through_hub == direct
    assert hub.stats.agent_processes == 0


async def test_the_coding_agent_edits_the_servers_files_with_the_clients_permission(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes.txt").write_text("one\ntwo\n")
    asked: list[str] = []

    def permit(request: accord.PermissionRequest) -> bool:
        asked.append(request.title)
        return True

    async with Hub(CommandSpawner(CODER), root=project) as hub:
        ours, theirs = pair()
        serving = asyncio.ensure_future(hub.accept(theirs, ALICE))
        async with accord.connect(ours, cwd=project, permissions=permit) as agent:
            session = await agent.new_session()
            turn = await session.prompt('replace "two" with "three" in notes.txt')
        await serving

    assert turn.stop_reason == "end_turn"
    assert (project / "notes.txt").read_text() == "one\nthree\n"
    assert asked


@pytest.mark.parametrize("version", [1])
async def test_our_client_loads_a_session_that_the_hub_has_saved(version: int, tmp_path: Path) -> None:
    log = tmp_path / "log" / "events.db"
    async with Hub(CommandSpawner(SHOWCASE), root=tmp_path, log=SqliteEventLog(log)) as hub:
        ours, theirs = pair()
        serving = asyncio.ensure_future(hub.accept(theirs, ALICE))
        async with accord.connect(ours, cwd=tmp_path) as agent:
            session = await agent.new_session()
            await session.prompt("/thoughts")
            text, id = session.transcript.text, session.id
        await serving
    async with Hub(CommandSpawner(SHOWCASE), root=tmp_path, log=SqliteEventLog(log)) as hub:
        ours, theirs = pair()
        serving = asyncio.ensure_future(hub.accept(theirs, ALICE))
        async with accord.connect(ours, cwd=tmp_path) as agent:
            listed = [each async for each in agent.list_sessions()]
            loaded = await agent.load_session(id)
            assert [each.id for each in listed] == [id]
            assert loaded.transcript.text == text
            assert len(hub.sessions) == 1
        await serving
