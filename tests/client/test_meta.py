"""The `_meta` that agents send can be read, and that of our own first words can be set."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.wire_agent import Played, chunk, tell

from accord.testing import wire_agent

META = {"example.org/note": {"deep": [1]}}
TEXT = {"type": "text", "text": "x"}
IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}
UPDATES: dict[str, dict[int, dict[str, Any]]] = {
    "text": dict.fromkeys((1, 2), chunk("x", "m")),
    "thought": dict.fromkeys((1, 2), chunk("x", "t", "agent_thought_chunk")),
    "image": {key: {**chunk("", "i"), "content": IMAGE} for key in (1, 2)},
    "tool call": {key: {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T"} for key in (1, 2)},
    "usage": {key: {"sessionUpdate": "usage_update", "used": 1, "size": 2} for key in (1, 2)},
    "notice": {key: {"sessionUpdate": "notice", "severity": "info", "title": "N"} for key in (1, 2)},
    "commands": {key: {"sessionUpdate": "available_commands_update", "availableCommands": []} for key in (1, 2)},
    "options": {key: {"sessionUpdate": "config_option_update", "configOptions": []} for key in (1, 2)},
    "info": {key: {"sessionUpdate": "session_info_update", "title": "T"} for key in (1, 2)},
    "compaction": {
        key: {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"} for key in (1, 2)
    },
    "unknown": {key: {"sessionUpdate": "_mine"} for key in (1, 2)},
    "plan": {
        1: {"sessionUpdate": "plan", "entries": []},
        2: {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}},
    },
    "message": {2: {"sessionUpdate": "agent_message", "messageId": "w", "content": [TEXT]}},
    "state": {2: {"sessionUpdate": "state_update", "state": "running"}},
    "output": {2: {"sessionUpdate": "terminal_output_chunk", "terminalId": "o", "data": "YQ=="}},
    "terminal": {2: {"sessionUpdate": "terminal_update", "terminalId": "o"}},
}
CASES = [(version, name) for name, updates in UPDATES.items() for version in updates]


@pytest.mark.parametrize(("version", "name"), CASES)
async def test_every_event_has_the_metadata_of_its_update(version: int, name: str) -> None:
    update = UPDATES[name][version]
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        async with session.events() as events:
            await tell(peer, session.id, {**update, "_meta": META})
            event = await anext(events)
            # The same without any: what is not merged does not stay.
            await tell(peer, session.id, update)
            following = await anext(events)

    assert event.meta == META
    merged = ("tool call", "compaction", "terminal")
    assert following.meta == (META if name in merged else None)


async def test_the_answers_that_open_a_session_and_end_a_turn_have_metadata(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin(_meta=META)
        turn = session.prompt("go", meta={"mine": 1})
        request = await peer.next_call("session/prompt")
        result = {"stopReason": "end_turn"} if version == 1 else {"messageId": "u"}
        await peer.reply(request, {**result, "_meta": META})
        if version == 2:
            for state in ({"state": "running"}, {"state": "idle", "stopReason": "end_turn"}):
                await tell(peer, session.id, {"sessionUpdate": "state_update", **state})
        await turn
        plain = await played.begin("other")

    assert (session.response_meta, turn.response_meta, turn.meta) == (META, META, {"mine": 1})
    assert plain.response_meta is None


@pytest.mark.req("V1-INIT-28", "V1-EXT-10", "V2-INIT-24")
async def test_initialize_may_carry_metadata(version: int) -> None:
    said: list[dict[str, Any]] = []

    def watch(direction: str, line: bytes) -> None:
        if b'"initialize"' in line:
            said.append(json.loads(line)["params"])

    async with wire_agent(version, meta=META, capability_meta={"example.org/can": True}, watch=watch):
        pass

    capabilities = said[0]["clientCapabilities" if version == 1 else "capabilities"]
    assert said[0]["_meta"] == META
    assert capabilities["_meta"]["example.org/can"] is True
