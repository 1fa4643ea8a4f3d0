"""Another process replays a session: every update exactly as it was first sent, in order, then the response."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from store.stored_agents import Filed
from support.stored_sessions import reopen
from support.wire_client import begin_session, hello, kinds, turn

from accord import Diff, Image, Plan, ResourceLink, Subagent, Turn
from accord.testing import WirePeer, wire_client

NOT_HISTORY = {"state_update", "notice", "available_commands_update", "config_option_update", "current_mode_update"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


async def everything(turn: Turn) -> None:
    await turn.think("Hm, ")
    await turn.think("let me see.")
    for piece in ("", " ", "wo", "rd\n", "ä漢👩‍👩‍👧", "\u2028", "\\\"'", "x" * 70_000):
        await turn.say(piece)
    await turn.say(Image(data="aWNvbg==", mime_type="image/png"))
    await turn.say(ResourceLink(uri="file:///a%20b", name="a b"))
    await turn.plan(["Look", "Write"])
    async with turn.tool("Edit", kind="edit", locations=["notes.md:3"], raw_input={"deep": [1, {"x": None}]}) as tool:
        await tool.show("one")
        await tool.show(Diff.of("/p/a", None, "new\n"))
        await tool.show(Image(data="aWNvbg==", mime_type="image/png"))
        await tool.set_content("only this")
        await tool.show("and that")
        await tool.complete(raw_output=["done"])
    with pytest.raises(RuntimeError):
        async with turn.tool("Fail"):
            raise RuntimeError("oh no")
    turn.session.set_message("whole", message_id="whole1")
    await turn.plan(Plan(id="second", markdown="- a\n- b"))
    await turn.session.remove_plan("second")
    await turn.usage(5, 100, cost=0.5)
    await turn.session.compaction("k", "in_progress")
    await turn.session.compaction_text("k", "shor")
    await turn.session.compaction_text("k", "ter")
    await turn.session.compaction("k", "completed")
    await turn.set_title("Everything")
    await turn.session.subagent(Subagent(session_id="child", title="Child"))
    await turn.notice("Only now")
    await turn.say("End.")


CAPABLE: dict[int, dict[str, Any]] = {
    1: {"plan": {}, "subagents": {}, "session": {"notices": {}, "compaction": {}}},
    2: {"session": {"plans": {}, "notices": {}, "compaction": {}}, "subagents": {}},
}


def words(told: list[dict[str, Any]]) -> dict[str, str]:
    """The text of every message by its id, however many pieces it came in."""
    found: dict[str, str] = {}
    for update in told:
        if "messageId" in update:
            content = update["content"] if isinstance(update["content"], list) else [update["content"]]
            text = "".join(item.get("text", "") for item in content)
            found[update["messageId"]] = found.get(update["messageId"], "") + text
    return found


def history(peer: WirePeer) -> list[dict[str, Any]]:
    return [update for update in peer.updates if update["sessionUpdate"] not in NOT_HISTORY]


async def test_every_update_is_replayed_exactly(path: Path, version: int) -> None:
    async with wire_client(Filed(path, [everything], ["Second."])) as peer:
        session = await begin_session(peer, version, CAPABLE[version])
        await turn(peer, version, session, "first")
        await turn(peer, version, session, "second")
        live = history(peer)
    async with wire_client(Filed(path)) as peer:  # another process: nothing is shared but the file
        await hello(peer, version, CAPABLE[version])
        answer = await reopen(peer, version, session, replay=True)
        again = history(peer)

    users = [update for update in again if update["sessionUpdate"].startswith("user_message")]
    assert len(live) > 30
    if version == 1:  # a client knows its user's messages, and gets them only in a replay
        assert [update["content"]["text"] for update in users] == ["first", "second"]
        again = [update for update in again if update not in users]
        assert again == live
    else:  # there messages come whole; what they are folded into is the same
        kinds = [[each["sessionUpdate"] for each in told] for told in (live, again)]
        assert all(kind.removesuffix("_chunk") in {k.removesuffix("_chunk") for k in kinds[1]} for kind in kinds[0])
        assert words(again) == words(live)
    assert "result" in answer
    assert peer.received[-1] == answer or version == 1, "the history comes before the answer"


async def test_resuming_a_session_replays_nothing(path: Path, version: int) -> None:
    async with wire_client(Filed(path, [everything])) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "first")
    async with wire_client(Filed(path, ["New."])) as peer:
        await hello(peer, version)
        await reopen(peer, version, session, replay=False)
        await peer.quiet()
        assert history(peer) == []
        await turn(peer, version, session, "second")

    assert kinds(history(peer))[-1] == "agent_message_chunk"


async def test_a_long_history_is_replayed_in_pieces(path: Path) -> None:
    async def long(turn: Turn) -> None:
        for number in range(6000):
            await turn.say(f"{number};")

    async with wire_client(Filed(path, [long])) as peer:
        session = await begin_session(peer, 1)
        await turn(peer, 1, session, "go")
    async with wire_client(Filed(path)) as peer:
        await hello(peer, 1)
        await reopen(peer, 1, session, replay=True)

    told = [update["content"]["text"] for update in history(peer)]
    assert told == ["go", *(f"{number};" for number in range(6000))]
