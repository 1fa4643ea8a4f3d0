"""The kinds of updates an agent sends: all published ones, and the gated ones only where they are offered."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import until
from support.stored_sessions import Kept, reopen
from support.wire_client import begin_session, hello, kinds, turn

from accord import AgentSession, Choice, Command, Mode, Option, Plan, PlanEntry, Subagent, Turn, v1, v2
from accord.testing import wire_client

PLAIN = {
    1: {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
    },
    2: {
        "user_message",
        "user_message_chunk",
        "agent_message",
        "agent_message_chunk",
        "agent_thought",
        "agent_thought_chunk",
        "state_update",
        "tool_call_update",
        "tool_call_content_chunk",
        "terminal_update",
        "terminal_output_chunk",
        "plan_update",
        "available_commands_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
    },
}
GATED = {"notice", "compaction_update", "compaction_summary_chunk"}
UNSTABLE = {
    1: {"plan_update", "plan_removed", "subagent_update", "session_message", "session_message_chunk"},
    2: {"plan_removed", "subagent_update", "session_message", "session_message_chunk"},
}
OFFERS = {"session": {"notices": {}, "compaction": {}}}
UNSTABLE_OFFERS = {**OFFERS, "plan": {}, "subagents": {}}


class Talkative(Kept):
    """Sends every kind of update that there is in its version."""

    modes = (Mode(id="ask", name="Ask"), Mode(id="code", name="Code"))
    options = (Option(id="model", name="Model", value="a", choices=[Choice(value="a", name="A")]),)

    def __init__(self) -> None:
        super().__init__([self.talk])

    async def talk(self, turn: Turn) -> None:
        session = turn.session
        await session.user_said("What I meant.")
        for role in ("agent", "thought"):
            session.set_message("Whole.", role=role)  # type: ignore[arg-type]
        await turn.think("Hm.")
        await turn.say("Well.")
        await turn.plan([PlanEntry(content="Look")])
        await turn.plan(Plan(id="second", markdown="- look"))
        await session.remove_plan("second")
        async with turn.tool("Run", kind="execute") as tool:
            terminal = turn.display_terminal("make")
            await tool.show(terminal)
            await terminal.write("out")
            await terminal.exit(0)
            await tool.show("done")
        await session.set_commands([Command(name="help", description="Help")])
        await turn.set_mode("code")
        await turn.set_title("Named")
        await turn.usage(1, 10)
        await turn.notice("Careful")
        await session.compaction("c", "in_progress")
        await session.compaction_text("c", "short")
        await session.compaction("c", "completed", summary="short")
        if self.unstable:
            await self.delegate(session)

    async def delegate(self, session: AgentSession) -> None:
        session.child(Subagent(session_id="child", title="Search", state="running"))
        for version, words in ((1, v1), (2, v2)):
            whole = words.SessionMessage(content=[words.TextContent(text="hi")], message_id="m")  # type: ignore[attr-defined]
            chunk = words.SessionMessageChunk(content=words.TextContent(text="hi"), message_id="m")  # type: ignore[attr-defined]
            await session.update(version, whole)
            await session.update(version, chunk)


class Daring(Talkative):
    unstable = True


async def collect_updates(agent: Kept, version: int, offers: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The updates of one turn."""
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version, offers)
        await turn(peer, version, session, "go")
        return list(peer.updates)


@pytest.mark.req("V1-UPD-01", "V2-UPD-01")
async def test_every_stable_kind_is_sent_and_no_other(version: int) -> None:
    assert set(kinds(await collect_updates(Talkative(), version))) == PLAIN[version]


@pytest.mark.req("V1-UPD-03")
async def test_in_version_1_notices_and_compactions_are_sent_to_clients_that_offer_to_show_them() -> None:
    assert set(kinds(await collect_updates(Talkative(), 1, OFFERS))) == PLAIN[1] | GATED


@pytest.mark.req("V1-UPD-04", "V2-UPD-02")
async def test_unstable_kinds_are_sent_by_agents_that_asked_for_them(version: int) -> None:
    whole = PLAIN[version] | GATED | UNSTABLE[version]
    assert set(kinds(await collect_updates(Daring(), version, UNSTABLE_OFFERS))) == whole


async def test_clients_that_offer_everything_get_no_unstable_kinds_from_stable_agents(version: int) -> None:
    class Delegating(Talkative):
        async def talk(self, turn: Turn) -> None:
            await super().talk(turn)
            turn.session.child(Subagent(session_id="child", title="Search", state="running"))

    assert set(kinds(await collect_updates(Delegating(), version, UNSTABLE_OFFERS))) == PLAIN[version] | GATED


@pytest.mark.req("V1-UPD-17")
async def test_session_info_contains_neither_its_id_nor_its_directories(version: int) -> None:
    updates = await collect_updates(Talkative(), version)
    about = [update for update in updates if update["sessionUpdate"] == "session_info_update"]
    assert [update["title"] for update in about] == ["Named"]
    assert not any({"sessionId", "cwd", "additionalDirectories"} & set(update) for update in about)


@pytest.mark.req("V1-UPD-11")
async def test_messages_keep_their_ids_however_often_a_session_is_loaded(version: int) -> None:
    agent = Kept(["Hello."])
    ids: list[list[str]] = []
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "hi")
        ids.append(
            [update["messageId"] for update in peer.updates if update.get("sessionUpdate") == "agent_message_chunk"]
        )
    for _ in range(2):
        async with wire_client(agent) as peer:
            await hello(peer, version)
            await reopen(peer, version, session, replay=True)
            agents = [update for update in peer.updates if update["sessionUpdate"].startswith("agent_message")]
            ids.append([update["messageId"] for update in agents])
    assert len(ids[0]) == 1
    assert ids[0] == ids[1] == ids[2]


@pytest.mark.req("V2-UPD-04")
async def test_updates_are_sent_while_no_turn_runs(version: int) -> None:
    sessions: list[AgentSession] = []

    async def remember(turn: Turn) -> None:
        sessions.append(turn.session)

    async with wire_client(Kept([remember])) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "go")
        before = len(peer.updates)
        await sessions[0].say("By the way.")
        await sessions[0].usage(1, 10)
        await peer.quiet()
        await until(lambda: len(peer.updates) == before + 2)
        assert kinds(peer.updates[before:]) == ["agent_message_chunk", "usage_update"]


@pytest.mark.req("V2-FRAME-25")
async def test_updates_of_a_terminal_come_one_by_one_and_never_in_a_batch() -> None:
    async with wire_client(Talkative()) as peer:
        session = await begin_session(peer, 2)
        await turn(peer, 2, session, "go")
    assert all(isinstance(message, dict) for message in peer.received)
    terminals = [kind for kind in kinds(peer.updates) if kind.startswith("terminal_")]
    assert terminals == ["terminal_update", "terminal_output_chunk", "terminal_update"]
