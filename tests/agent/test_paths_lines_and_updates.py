"""Rules for every message of an agent: absolute paths, lines that count from 1, updates that name their session."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import script_agent
from support.wire_client import begin_session

from accord import Location, MemoryStore, Turn
from accord.testing import wire_client


@pytest.mark.req("V1-FRAME-41", "V2-FRAME-30")
@pytest.mark.parametrize("method", ["session/new", "session/list"])
async def test_a_path_that_is_not_absolute_is_refused(version: int, method: str) -> None:
    agent = script_agent()
    agent.store = MemoryStore()
    async with wire_client(agent) as peer:
        await begin_session(peer, version)
        answer = await peer.call(method, {"cwd": "project", "mcpServers": []})
    assert answer["error"]["code"] == -32602
    assert "absolute" in answer["error"]["message"]


@pytest.mark.req("V2-FRAME-29", "V1-SETUP-12")
@pytest.mark.parametrize("method", ["session/prompt", "session/set_config_option"])
async def test_a_session_that_is_not_open_is_not_found_by_name(version: int, method: str) -> None:
    more: dict[str, Any] = {"prompt": [{"type": "text", "text": "hi"}]}
    if method == "session/set_config_option":
        more = {"configId": "mode", "type": "id", "value": "x"}
    async with wire_client(script_agent()) as peer:
        await begin_session(peer, version)
        answer = await peer.call(method, {"sessionId": "nowhere", **more})
    assert answer["error"]["code"] == -32002
    assert answer["error"]["data"] == {"sessionId": "nowhere"}


@pytest.mark.req("V1-FRAME-42", "V2-FRAME-30", "V1-UPD-01")
async def test_updates_name_their_session_and_kind_and_lines_count_from_one(version: int) -> None:
    async def work(turn: Turn) -> None:
        places = ["a.py:1", "b.py:0", Location(path="c.py", line=7), "d.py"]
        async with turn.tool("Look", kind="read", locations=places):
            await turn.say("looking")

    async with wire_client(script_agent(work)) as peer:
        session = await begin_session(peer, version)
        await peer.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]})
        if version == 2:
            while not any(update.get("state") == "idle" for update in peer.updates):
                await peer.receive()
        notes = [message["params"] for message in peer.received if message.get("method") == "session/update"]

    assert notes and all(set(note) == {"sessionId", "update"} and note["sessionId"] == session for note in notes)
    assert all(isinstance(note["update"]["sessionUpdate"], str) for note in notes)
    places = next(note["update"]["locations"] for note in notes if note["update"].get("locations"))
    assert places == [
        {"path": "/project/a.py", "line": 1},
        {"path": "/project/b.py"},
        {"path": "/project/c.py", "line": 7},
        {"path": "/project/d.py"},
    ]
