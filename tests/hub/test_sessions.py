"""One client and the hub: initialize, sessions, prompts, and opening sessions again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.hub_client import HubClient, InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub.hub import Hub


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        for word in turn.text.split():
            await turn.say(word)


async def run_prompt(client: HubClient, session: str, text: str) -> None:
    """Send a prompt and wait for the end of its turn."""
    start = len(client.messages)
    response = await client.response(client.prompt(session, text))
    assert "result" in response, response
    if client.version == 2:
        await client.wait(
            lambda m: m.get("method") == "session/update" and m["params"]["update"].get("state") == "idle", start
        )


async def test_a_prompt_is_relayed_and_its_updates_come_before_its_end(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub, joined(hub, version=version) as client:
        session = await client.new_session(str(tmp_path))
        await run_prompt(client, session, "one two three")

        assert client.texts() == ["one", "two", "three"]
        if version == 1:
            assert client.messages[-1]["result"] == {"stopReason": "end_turn"}


async def test_a_plain_client_gets_no_keys_of_the_hub(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub, joined(hub, version=version) as client:
        session = await client.new_session(str(tmp_path))
        await run_prompt(client, session, "one two")

        assert "accord/" not in json.dumps(client.messages)


async def test_a_resume_aware_client_gets_a_cursor_with_every_event(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub, joined(hub, name="c1", version=version) as client:
        session = await client.new_session(str(tmp_path), key="1")
        await run_prompt(client, session, "one two")

        cursors = [
            m["params"]["_meta"]["accord/cursor"] for m in client.messages if m.get("method") == "session/update"
        ]
        epochs = {cursor.split(".")[0] for cursor in cursors}
        numbers = [int(cursor.split(".")[1]) for cursor in cursors]
        assert len(epochs) == 1
        assert numbers == sorted(set(numbers))


async def test_a_client_that_reconnects_gets_exactly_what_it_missed(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub:
        async with joined(hub, name="c1", version=version) as first:
            session = await first.new_session(str(tmp_path), key="1")
            await run_prompt(first, session, "one two three four")
            seen = [m for m in first.messages if m.get("method") == "session/update"]
        cut = 2
        cursor = seen[cut - 1]["params"]["_meta"]["accord/cursor"]

        async with joined(hub, name="c1", version=version) as second:
            await second.call("session/resume", resume_params(version, session, str(tmp_path), cursor))

            again = [m for m in second.messages if m.get("method") == "session/update"]
            assert [m["params"]["update"] for m in again] == [m["params"]["update"] for m in seen[cut:]]


def resume_params(version: int, session: str, cwd: str, cursor: str) -> dict[str, Any]:
    params: dict[str, Any] = {"sessionId": session, "cwd": cwd, "mcpServers": []}
    if version == 1:
        return {**params, "_meta": {"accord/after": cursor}}
    return {**params, "replayFrom": {"type": "_accord.event", "id": cursor}}


async def test_a_plain_client_loads_a_session_with_its_whole_history(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub:
        async with joined(hub) as first:
            session = await first.new_session(str(tmp_path))
            await run_prompt(first, session, "one two")
        async with joined(hub) as second:
            await second.call("session/load", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []})

            assert second.texts("user_message_chunk") == ["one two"]
            assert second.texts() == ["one", "two"]
            await run_prompt(second, session, "three")
            assert second.texts() == ["one", "two", "three"]


async def test_a_request_that_is_sent_again_is_not_executed_again(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub:
        async with joined(hub, name="c1") as first:
            session = await first.new_session(str(tmp_path), key="1")
            await first.response(first.prompt(session, "hello", key="2"))
        async with joined(hub, name="c1") as second:
            assert await second.new_session(str(tmp_path), key="1") == session
            await second.call("session/resume", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []})
            response = await second.response(second.prompt(session, "hello", key="2"))

            assert response["result"] == {"stopReason": "end_turn"}
            assert second.texts() == []
            assert len(hub.sessions) == 1


async def test_a_client_that_opens_a_session_twice_at_once_gets_two_responses(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub, joined(hub, version=version) as client:
        session = await client.new_session(str(tmp_path))
        await run_prompt(client, session, "one two")
        await client.call("session/close", {"sessionId": session})

        method = "session/load" if version == 1 else "session/resume"
        more = {} if version == 1 else {"replayFrom": {"type": "start"}}
        params = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": [], **more}
        first, second = client.start(method, params), client.start(method, params)
        assert "result" in await client.response(first)
        assert "result" in await client.response(second)
