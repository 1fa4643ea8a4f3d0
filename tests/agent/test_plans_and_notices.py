"""Plans, usage, notices and compactions, sent in the client's version if it shows them."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import Link, script_agent
from support.wire_client import begin_session, kinds, turn

from accord import Compaction, Notice, Plan, PlanEntry, Turn, Usage
from accord.model.session import Cost
from accord.testing import wire_client

STEPS = [PlanEntry(content="Look", priority="high", status="completed"), PlanEntry(content="Write")]


async def collect_updates(
    version: int, capabilities: dict[str, Any], *steps: Any, unstable: bool = False
) -> list[dict[str, Any]]:
    """Return the updates of a turn, without states and echoes."""
    agent = script_agent(*steps)
    type(agent).unstable = unstable
    try:
        async with wire_client(agent) as peer:
            await turn(peer, version, await begin_session(peer, version, capabilities), "go")
    finally:
        type(agent).unstable = False
    return [update for update in peer.updates if update["sessionUpdate"] not in ("user_message", "state_update")]


# -- plans


@pytest.mark.feature("plans", "agent", "client")
@pytest.mark.req("V1-PLAN-01", "V1-PLAN-03", "V1-PLAN-04", "V1-PLAN-05", "V2-PLAN-01", "V2-PLAN-04")
@pytest.mark.req("V2-PLAN-07")
async def test_a_plan_is_shown_whole_each_time(link: Link) -> None:
    async def plan(turn: Turn) -> None:
        await turn.plan(["Look", "Write", "Check"])
        await turn.plan(STEPS)

    async with link(script_agent(plan)) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go") if isinstance(event, Plan)]

    assert [len(event.entries) for event in events] == [3, 2]
    assert session.transcript.plans == {"main": Plan(entries=STEPS)}


@pytest.mark.req("V1-PLAN-02", "V2-PLAN-02", "V2-PLAN-03")
async def test_on_the_wire_a_plan_has_the_words_of_its_version(version: int) -> None:
    async def plan(turn: Turn) -> None:
        await turn.plan([*STEPS, PlanEntry(content="Odd", priority="_urgent", status="cancelled")])

    (update,) = await collect_updates(version, {}, plan)

    plan_told = update if version == 1 else update["plan"]
    odd = {1: ("medium", "completed"), 2: ("_urgent", "cancelled")}[version]
    assert [(e["content"], e["priority"], e["status"]) for e in plan_told["entries"]] == [
        ("Look", "high", "completed"),
        ("Write", "medium", "pending"),
        ("Odd", *odd),
    ]
    assert update["sessionUpdate"] == {1: "plan", 2: "plan_update"}[version]
    if version == 2:
        assert (plan_told["type"], plan_told["planId"]) == ("items", "main")


@pytest.mark.req("V1-PLAN-08", "V1-PLAN-09", "V1-PLAN-10")
@pytest.mark.parametrize("able", [True, False])
@pytest.mark.parametrize("unstable", [True, False])
async def test_in_version_1_several_plans_are_sent_only_to_clients_that_support_them(
    able: bool, unstable: bool
) -> None:
    async def plan(turn: Turn) -> None:
        await turn.plan(["A"], id="second")
        await turn.plan(Plan(id="third", markdown="# Plan\n\n- B"))
        await turn.plan(Plan(id="fourth", uri="file:///plan.md"))
        await turn.session.remove_plan("second")

    updates = await collect_updates(1, {"plan": {}} if able else {}, plan, unstable=unstable)

    if able and unstable:
        assert kinds(updates) == ["plan_update", "plan_update", "plan_update", "plan_removed"]
        assert [update["plan"]["type"] for update in updates[:3]] == ["items", "markdown", "file"]
        assert updates[3]["planId"] == "second"
    else:
        assert kinds(updates) == ["plan"] * 4
        assert [[e["content"] for e in u["entries"]] for u in updates] == [
            ["A"],
            ["# Plan", "- B"],
            ["file:///plan.md"],
            [],
        ]


@pytest.mark.req("V2-PLAN-05")
@pytest.mark.parametrize("unstable", [True, False])
async def test_in_version_2_other_kinds_of_plans_are_sent_by_unstable_agents(unstable: bool) -> None:
    async def plan(turn: Turn) -> None:
        await turn.plan(Plan(id="b", markdown="- B"))
        await turn.plan(Plan(id="c", uri="file:///plan.md"))
        await turn.session.remove_plan("b")

    updates = await collect_updates(2, {}, plan, unstable=unstable)

    if unstable:
        assert kinds(updates) == ["plan_update", "plan_update", "plan_removed"]
        assert [update["plan"]["type"] for update in updates[:2]] == ["markdown", "file"]
    else:
        assert kinds(updates) == ["plan_update"] * 3
        assert [update["plan"]["type"] for update in updates] == ["items"] * 3
        assert updates[2]["plan"] == {"type": "items", "planId": "b", "entries": []}


# -- usage


@pytest.mark.feature("usage", "agent", "client")
@pytest.mark.req("V1-USAGE-01", "V1-USAGE-02", "V1-USAGE-03", "V2-USAGE-01")
async def test_usage_and_cost_are_sent(link: Link) -> None:
    async def use(turn: Turn) -> None:
        await turn.usage(1200, 200_000, cost=0.25)
        await turn.usage(1300, 200_000, cost=3, currency="credits")

    async with link(script_agent(use)) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go") if isinstance(event, Usage)]

    assert events[0] == Usage(used=1200, size=200_000, cost=Cost(amount=0.25, currency="USD"))
    assert session.transcript.usage == Usage(used=1300, size=200_000, cost=Cost(amount=3, currency="credits"))
    assert session.last_turn is not None and session.last_turn.usage == session.transcript.usage


@pytest.mark.req("V1-USAGE-02", "V2-USAGE-01")
async def test_usage_without_a_cost_has_no_cost_field(version: int) -> None:
    async def use(turn: Turn) -> None:
        await turn.usage(1, 2)

    assert await collect_updates(version, {}, use) == [{"sessionUpdate": "usage_update", "used": 1, "size": 2}]


@pytest.mark.req("V1-USAGE-05", "V1-USAGE-04")
async def test_usage_without_a_size_is_the_authors_mistake(link: Link) -> None:
    async def use(turn: Turn) -> None:
        with pytest.raises(ValueError, match="size"):
            await turn.usage(1, 0)

    async with link(script_agent(use)) as client:
        session = await client.new_session()
        await session.prompt("go")

    assert session.transcript.usage is None


# -- notices


@pytest.mark.feature("notices", "agent", "client")
@pytest.mark.req("V1-NOTICE-02", "V1-NOTICE-05", "V1-NOTICE-06", "V2-USAGE-02", "V2-USAGE-04", "V2-USAGE-05")
async def test_a_notice_is_shown_and_changes_nothing(link: Link) -> None:
    async def notice(turn: Turn) -> None:
        await turn.notice("Careful", "The disk is nearly full", severity="warning")
        await turn.notice("Broken", severity="error")
        await turn.notice("Odd", severity="_celebration")
        await turn.say("fine")

    async with link(script_agent(notice)) as client:
        session = await client.new_session()
        turn = await session.prompt("go")

    assert session.transcript.notices == [
        Notice(severity="warning", title="Careful", description="The disk is nearly full"),
        Notice(severity="error", title="Broken"),
        Notice(severity="_celebration", title="Odd"),
    ]
    assert (turn.stop_reason, turn.text, turn.error) == ("end_turn", "fine", None)


@pytest.mark.req("V1-NOTICE-01", "V1-NOTICE-08", "V1-SUBAG-01")
async def test_in_version_1_what_the_client_does_not_show_is_not_sent() -> None:
    async def speak(turn: Turn) -> None:
        await turn.notice("Psst")
        await turn.session.compaction("c", "in_progress")
        await turn.session.compaction_text("c", "short")
        await turn.say("fine")

    silent = await collect_updates(1, {}, speak)
    shown = await collect_updates(1, {"session": {"notices": {}, "compaction": {}}}, speak)

    assert kinds(silent) == ["agent_message_chunk"]
    assert kinds(shown) == ["notice", "compaction_update", "compaction_summary_chunk", "agent_message_chunk"]


@pytest.mark.req("V1-NOTICE-02")
async def test_a_notice_without_a_title_is_the_authors_mistake(link: Link) -> None:
    async def notice(turn: Turn) -> None:
        with pytest.raises(ValueError, match="title"):
            await turn.notice("")

    async with link(script_agent(notice)) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).stop_reason == "end_turn"

    assert session.transcript.notices == []


# -- compaction


@pytest.mark.feature("compaction", "agent", "client")
@pytest.mark.req("V1-NOTICE-09", "V1-NOTICE-10", "V1-NOTICE-11", "V1-NOTICE-12", "V1-NOTICE-13", "V2-USAGE-03")
async def test_a_compaction_is_reported_from_start_to_finish(link: Link) -> None:
    async def shorten(turn: Turn) -> None:
        await turn.session.compaction("c1", "in_progress")
        await turn.session.compaction_text("c1", "We ")
        await turn.session.compaction("c1", "completed", summary="We talked.")
        await turn.session.compaction("c2", "failed", error="too long")

    async with link(script_agent(shorten)) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go") if isinstance(event, Compaction)]

    assert [(event.id, event.status) for event in events] == [
        ("c1", "in_progress"),
        ("c1", "in_progress"),
        ("c1", "completed"),
        ("c2", "failed"),
    ]
    assert events[3].error == "too long"
    assert [piece.text for piece in session.transcript.compactions["c1"].summary] == ["We talked."]  # type: ignore[union-attr]


# -- work outside turns


@pytest.mark.req("V2-STATE-09", "V2-STATE-10", "V2-STATE-11", "V2-STATE-07")
async def test_in_version_2_every_state_lists_the_background_work() -> None:
    kept: list[Any] = []

    async def begin(turn: Turn) -> None:
        terminal = turn.display_terminal("server")
        kept.extend([turn.session, terminal])
        turn.session.set_background([("terminal", terminal.id), ("tool_call", "c"), ("_odd", "x")])

    async with wire_client(script_agent(begin)) as peer:
        session = await begin_session(peer, 2)
        await turn(peer, 2, session, "go")
        await turn(peer, 2, session, "again")
        await kept[1].exit(0)
        kept[0].set_background([])
        await peer.quiet()

    listed = [{"type": "terminal", "terminalId": kept[1].id}, {"type": "tool_call", "toolCallId": "c"}]
    told = [(u["state"], u.get("background")) for u in peer.updates if u["sessionUpdate"] == "state_update"]
    assert told == [
        ("running", None),
        ("running", listed),
        ("idle", listed),
        ("running", listed),
        ("idle", listed),
        ("idle", []),
    ]


async def test_in_version_1_work_outside_turns_has_no_words(link: Link) -> None:
    async def begin(turn: Turn) -> None:
        await turn.session.set_background([("tool_call", "c")])

    async with link(script_agent(begin)) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).stop_reason == "end_turn"
