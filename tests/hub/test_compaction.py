"""Compaction: the old part of a history becomes shorter, and means the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import HubClient, InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub import compaction
from accord.hub.compaction import Compactor
from accord.hub.event_log import Event, EventLog, MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.sqlite_log import SqliteEventLog


class Talker(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.think("hm")
        for word in turn.text.split():
            await turn.say(f"{word} ")
            await turn.usage(10, 1000)


def make_event(seq: int, update: dict[str, Any], **fields: Any) -> Event:
    params = json.dumps({"sessionId": "s", "update": update}).encode()
    return Event(seq=seq, kind="notification", method="session/update", params=params, recorded_at=0.0, **fields)


def chunk(seq: int, text: str, **fields: Any) -> Event:
    return make_event(
        seq, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **fields}
    )


def compact(*events: Event) -> list[tuple[int, Any]]:
    compactor = Compactor()
    for event in events:
        compactor.add(event)
    return [(event.seq, json.loads(event.params)["update"]) for event in compactor.finish()]


def test_chunks_of_one_message_become_one() -> None:
    ((seq, update),) = compact(chunk(1, "a", messageId="m"), chunk(2, "b", messageId="m"), chunk(3, "c", messageId="m"))

    assert seq == 3
    assert update == {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "abc"},
        "messageId": "m",
    }


def test_a_very_long_message_becomes_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MAX_JOINED", 10)
    compacted = compact(*(chunk(seq, "abc", messageId="m") for seq in range(1, 9)), chunk(9, "d" * 30, messageId="m"))

    assert [(seq, update["content"]["text"]) for seq, update in compacted] == [
        (3, "abcabcabc"),
        (6, "abcabcabc"),
        (8, "abcabc"),
        (9, "d" * 30),
    ]


@pytest.mark.parametrize(
    "second",
    [
        chunk(2, "b", messageId="other"),
        chunk(2, "b", messageId="m", _meta={"kept": True}),
        make_event(2, {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "b"}}),
        make_event(2, {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": ""}}),
        make_event(2, {"sessionUpdate": "tool_call", "toolCallId": "t"}),
    ],
)
def test_chunks_of_different_messages_are_not_merged(second: Event) -> None:
    first = chunk(1, "a", messageId="m")
    assert compact(first, second) == [(each.seq, json.loads(each.params)["update"]) for each in (first, second)]


def test_the_last_of_updates_that_replace_each_other_is_kept() -> None:
    usage = [make_event(seq, {"sessionUpdate": "usage_update", "used": seq, "size": 9}) for seq in (1, 3)]
    assert [seq for seq, _ in compact(usage[0], chunk(2, "a"), usage[1])] == [2, 3]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_cursor_in_the_compacted_part_gets_a_snapshot_and_a_later_one_is_exact(
    kind: str, version: int, tmp_path: Path
) -> None:
    log: EventLog = MemoryEventLog() if kind == "memory" else SqliteEventLog(tmp_path / "log.db")
    async with Hub(InProcessSpawner(Talker), root=tmp_path, log=log, compact_after=10) as hub:
        async with joined(hub, name="c", version=version) as client:
            session = await client.new_session(str(tmp_path))
            for text in ("a b c d e", "f g h i j", "k l m n o"):
                start = len(client.messages)
                await client.response(client.prompt(session, text))
                if version == 2:
                    await client.wait(lambda m: "'idle'" in str(m), start)
            updates = [m for m in client.messages if m.get("method") == "session/update"]
            record = log.session(session)
            await client.call("session/list")
            assert record is not None
            while not record.exact_from:
                await client.call("session/list")
                record = log.session(session)
                assert record is not None
        first, last = (each["params"]["_meta"]["accord/cursor"] for each in (updates[0], updates[-3]))
        whole = "".join(client.texts())
        assert whole.split() == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"]

        early = await resume(hub, session, tmp_path, first, version)
        assert early.messages[1]["method"] == "_accord/snapshot"
        assert "".join(early.texts()) == whole
        assert len(early.updates()) < len(updates)
        late = await resume(hub, session, tmp_path, last, version)
        assert late.updates() == [m["params"]["update"] for m in updates[-2:]]


async def resume(hub: Hub, session: str, cwd: Path, cursor: str, version: int) -> HubClient:
    async with joined(hub, name="c", version=version) as client:
        params = {"sessionId": session, "cwd": str(cwd), "mcpServers": [], "_meta": {"accord/after": cursor}}
        await client.call("session/resume", params)
        return client
