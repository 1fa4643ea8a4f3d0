"""The plan: one line if the side panel doesn't fit, and a separate screen."""

from __future__ import annotations

import asyncio

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.model.session import Plan, PlanEntry
from accord.testing import ScriptedAgent
from accord.tui.panels.plan import PlanLine, progress
from accord.tui.screens.plan import format_plans


def entries(*statuses: str) -> list[PlanEntry]:
    return [PlanEntry(content=f"Step {at}", status=status) for at, status in enumerate(statuses, 1)]


def test_the_plan_line_shows_progress_and_the_current_step() -> None:
    def read_plan(*statuses: str) -> str:
        return progress([Plan(entries=entries(*statuses))])

    assert read_plan("completed", "in_progress", "pending") == "plan 1/3: Step 2"
    assert read_plan("completed", "pending", "pending") == "plan 1/3: next: Step 2"
    assert read_plan("completed", "cancelled") == ""
    assert progress([]) == ""


def test_the_plan_line_shows_the_last_unfinished_plan() -> None:
    plans = [Plan(id="a", entries=entries("pending")), Plan(id="b", entries=entries("completed", "in_progress"))]
    assert progress(plans) == "plan 1/2: Step 2"
    assert progress([*plans, Plan(id="c", markdown="- notes")]) == "plan 1/2: Step 2"


def test_a_plan_cannot_contain_terminal_escapes() -> None:
    evil = "\x1b]0;title\x07\x1b[2J[bold]x"
    plan = Plan(entries=[PlanEntry(content=evil)], markdown=evil, uri=evil)
    page = format_plans([plan])
    assert "\x1b" not in page.plain and "[bold]x" in page.plain
    assert "\x1b" not in progress([plan])


async def test_below_a_hundred_columns_the_plan_is_one_line_and_a_key_opens_it(opened: Opened) -> None:
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


async def test_there_is_no_plan_line_beside_the_side_panel(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        await turn.plan(entries("completed", "in_progress"))
        await turn.say("planned")

    async with opened(ScriptedAgent([work]), size=(120, 30)) as chat:
        await chat.send("go")
        await chat.until("Plan 1/2")
        assert not chat.app.query(PlanLine)
        await chat.press("f2")
        await chat.until("plan 1/2: Step 2")


async def test_the_plan_screen_of_a_session_without_a_plan_is_not_blank(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.press("alt+p")
        await chat.until("This session has no plan.")
