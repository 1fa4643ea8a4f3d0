"""The plan: in a line where there is no room for the side panel, and on a screen of its own."""

from __future__ import annotations

import asyncio

from chatting import Opened

from accord.agent.turn import Turn
from accord.model.session import Plan, PlanEntry
from accord.testing import ScriptedAgent
from accord.tui.panels.plan import progress
from accord.tui.screens.plan import page_of


def entries(*statuses: str) -> list[PlanEntry]:
    return [PlanEntry(content=f"Step {at}", status=status) for at, status in enumerate(statuses, 1)]


def test_the_line_says_how_far_it_is_and_what_is_done_now() -> None:
    def said(*statuses: str) -> str:
        return progress([Plan(entries=entries(*statuses))])

    assert said("completed", "in_progress", "pending") == "plan 1/3: Step 2"
    assert said("completed", "pending", "pending") == "plan 1/3: next: Step 2"
    assert said("completed", "cancelled") == ""
    assert progress([]) == ""


def test_of_several_plans_the_last_that_goes_on_is_told() -> None:
    plans = [Plan(id="a", entries=entries("pending")), Plan(id="b", entries=entries("completed", "in_progress"))]
    assert progress(plans) == "plan 1/2: Step 2"
    assert progress([*plans, Plan(id="c", markdown="- notes")]) == "plan 1/2: Step 2"


def test_a_plan_cannot_write_to_the_terminal() -> None:
    evil = "\x1b]0;title\x07\x1b[2J[bold]x"
    plan = Plan(entries=[PlanEntry(content=evil)], markdown=evil, uri=evil)
    page = page_of([plan])
    assert "\x1b" not in page.plain and "[bold]x" in page.plain
    assert "\x1b" not in progress([plan])


async def test_below_a_hundred_columns_the_plan_is_a_line_and_a_key_shows_all_of_it(opened: Opened) -> None:
    go_on = asyncio.Event()

    async def work(turn: Turn) -> None:
        await turn.plan(entries("completed", "in_progress", "pending"))
        await go_on.wait()
        await turn.plan(entries("completed", "completed", "completed"))

    async with opened(ScriptedAgent([work]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("plan 1/3: Step 2")
        await chat.press("alt+p")
        await chat.until("1 of 3 done")
        assert "◐ Step 2  (now)" in chat.text
        go_on.set()
        await chat.until("3 of 3 done")
        await chat.press("escape")
        await chat.gone("3 of 3 done")
        await chat.gone("plan 1/3")


async def test_where_the_side_panel_shows_the_plan_there_is_no_line(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        await turn.plan(entries("completed", "in_progress"))
        await turn.say("planned")

    async with opened(ScriptedAgent([work]), size=(120, 30)) as chat:
        await chat.send("go")
        await chat.until("Plan 1/2")
        assert "plan 1/2: Step 2" not in chat.text
        await chat.press("f2")
        await chat.until("plan 1/2: Step 2")


async def test_a_session_without_a_plan_says_so(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.press("alt+p")
        await chat.until("This session has no plan.")
