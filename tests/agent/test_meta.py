"""`_meta` of updates: sent, saved and replayed with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.stored_sessions import Kept, reopen
from support.wire_client import begin_session, hello, turn

from accord import Turn
from accord.testing import wire_client

META = {"example.org": {"n": 1}}
OFFERS = {"session": {"notices": {}, "compaction": {}}, "plan": {}}

SAYINGS: dict[str, Callable[[Turn], Any]] = {
    "say": lambda turn: turn.say("x", meta=META),
    "think": lambda turn: turn.think("x", meta=META),
    "set_message": lambda turn: turn.session.set_message("x", meta=META),
    "plan": lambda turn: turn.plan(["x"], meta=META),
    "usage": lambda turn: turn.usage(1, 2, meta=META),
    "notice": lambda turn: turn.notice("x", meta=META),
    "compaction": lambda turn: turn.session.compaction("c", "completed", meta=META),
    "set_title": lambda turn: turn.set_title("x", meta=META),
    "tool": lambda turn: turn.tool("x", meta=META).announce(),
}


@pytest.mark.req("V1-EXT-01", "V2-EXT-01")
@pytest.mark.parametrize("how", SAYINGS)
async def test_what_is_said_has_the_meta_it_was_given(version: int, how: str) -> None:
    async def speak(turn: Turn) -> None:
        said = SAYINGS[how](turn)
        if not isinstance(said, str):
            await said

    agent = Kept([speak])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version, OFFERS)
        await turn(peer, version, session, "go")
        live = [update["sessionUpdate"] for update in peer.updates if update.get("_meta") == META]
    async with wire_client(agent) as peer:
        await hello(peer, version, OFFERS)
        await reopen(peer, version, session, replay=True)
        again = [update["sessionUpdate"] for update in peer.updates if update.get("_meta") == META]

    assert len(live) == 1
    assert again == ([] if how == "notice" else live)


async def test_a_tool_call_may_say_more_with_each_update(version: int) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("x", meta={"a": 1}) as tool:
            await tool.update(title="y", meta={"b": 2})

    async with wire_client(Kept([work])) as peer:
        await turn(peer, version, await begin_session(peer, version), "go")

    assert [u.get("_meta") for u in peer.updates if "toolCallId" in u] == [{"a": 1}, None, {"b": 2}, None]


async def test_a_piece_with_meta_belongs_to_the_same_message(version: int) -> None:
    async def speak(turn: Turn) -> None:
        await turn.say("a")
        await turn.say("b", meta=META)
        await turn.say("c")

    async with wire_client(Kept([speak])) as peer:
        await turn(peer, version, await begin_session(peer, version), "go")

    pieces = [update for update in peer.updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert len({piece["messageId"] for piece in pieces}) == 1
    assert [piece.get("_meta") for piece in pieces] == [None, META, None]
