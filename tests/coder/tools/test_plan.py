"""set_plan, and `add_todo`, as earlier versions and other agents call a part of it."""

from __future__ import annotations

from accord.model.session import PlanEntry

from .conftest import Harness, ToolHarness


def entries(tools: ToolHarness) -> list[PlanEntry]:
    plans = tools.session.transcript.plans
    return list(plans["main"].entries) if "main" in plans else []


async def test_a_plan_is_published(harness: Harness) -> None:
    async with harness() as tools:
        steps = [{"content": "look", "status": "completed"}, {"content": "change", "priority": "high"}]
        told = await tools.call("set_plan", steps=steps)
        assert told == "The plan is now:\n- [x] look\n- [ ] change"
        assert entries(tools) == [
            PlanEntry(content="look", status="completed"),
            PlanEntry(content="change", priority="high"),
        ]
        assert (tools.shown.title, tools.shown.kind) == ("Plan: 1 of 2 steps done", "think")


async def test_a_todo_is_added_to_the_plan(harness: Harness) -> None:
    async with harness() as tools:
        await tools.call("add_todo", content="first")
        await tools.call("add_todo", content="second")
        assert [entry.content for entry in entries(tools)] == ["first", "second"]
        assert "unchanged" in await tools.call("add_todo", content="second")
        assert len(entries(tools)) == 2
        assert tools.shown.title == "To do: second"


async def test_a_todo_that_was_done_can_be_added_again(harness: Harness) -> None:
    async with harness() as tools:
        await tools.call("set_plan", steps=[{"content": "test", "status": "completed"}])
        await tools.call("add_todo", content="test")
        assert [entry.status for entry in entries(tools)] == ["completed", "pending"]


async def test_a_plan_that_is_the_same_is_not_sent_again(harness: Harness) -> None:
    async with harness() as tools:
        await tools.call("set_plan", steps=[{"content": "look"}])
        assert "unchanged" in await tools.call("set_plan", steps=[{"content": "look"}])
        assert "removed" in await tools.call("set_plan", steps=[])
        assert entries(tools) == []


async def test_an_invalid_plan_is_rejected_with_the_location_of_the_error(harness: Harness) -> None:
    async with harness() as tools:
        fault = await tools.call_failing("set_plan", steps=[{"content": "a", "status": "sleeping"}])
        assert "steps[0].status can't be 'sleeping'" in fault
        assert "steps[0].content is missing" in await tools.call_failing("set_plan", steps=[{"status": "pending"}])
        await tools.call("set_plan", steps=[{"content": str(number)} for number in range(100)])
        assert "100 steps" in await tools.call_failing("add_todo", content="one more")
