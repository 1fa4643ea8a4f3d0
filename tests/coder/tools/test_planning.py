"""set_plan and add_todo."""

from __future__ import annotations

from accord.model.session import PlanEntry

from .conftest import Bench, Benches


def entries(desk: Bench) -> list[PlanEntry]:
    plans = desk.session.transcript.plans
    return list(plans["main"].entries) if "main" in plans else []


async def test_a_plan_is_published(bench: Benches) -> None:
    async with bench() as desk:
        steps = [{"content": "look", "status": "completed"}, {"content": "change", "priority": "high"}]
        told = await desk.told("set_plan", steps=steps)
        assert told == "The plan is now:\n- [x] look\n- [ ] change"
        assert entries(desk) == [
            PlanEntry(content="look", status="completed"),
            PlanEntry(content="change", priority="high"),
        ]
        assert (desk.shown.title, desk.shown.kind) == ("Plan: 1 of 2 steps done", "think")


async def test_a_todo_is_added_to_the_plan(bench: Benches) -> None:
    async with bench() as desk:
        await desk.told("add_todo", content="first")
        await desk.told("add_todo", content="second")
        assert [entry.content for entry in entries(desk)] == ["first", "second"]
        assert "already" in await desk.told("add_todo", content="second")
        assert len(entries(desk)) == 2
        assert desk.shown.title == "To do: second"


async def test_a_todo_that_was_done_can_be_added_again(bench: Benches) -> None:
    async with bench() as desk:
        await desk.told("set_plan", steps=[{"content": "test", "status": "completed"}])
        await desk.told("add_todo", content="test")
        assert [entry.status for entry in entries(desk)] == ["completed", "pending"]


async def test_a_plan_that_is_the_same_is_not_sent_again(bench: Benches) -> None:
    async with bench() as desk:
        await desk.told("set_plan", steps=[{"content": "look"}])
        assert "already" in await desk.told("set_plan", steps=[{"content": "look"}])
        assert "taken away" in await desk.told("set_plan", steps=[])
        assert entries(desk) == []


async def test_what_is_no_plan_is_told_with_its_place(bench: Benches) -> None:
    async with bench() as desk:
        fault = await desk.fault("set_plan", steps=[{"content": "a", "status": "done"}])
        assert "$.steps[0].status" in fault
        assert "$.steps[0]" in await desk.fault("set_plan", steps=[{"title": "a"}])
        await desk.told("set_plan", steps=[{"content": str(number)} for number in range(100)])
        assert "100 steps" in await desk.fault("add_todo", content="one more")
