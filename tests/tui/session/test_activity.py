"""Stopping tool calls and commands by themselves, and background work."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from support.tui_driver import Chat, Opened, collect_notifications, select_item

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.session import Subagent
from accord.showcase.agent import Showcase
from accord.testing import ScriptedAgent


@pytest.mark.req("V2-CANCEL-19", "V2-CANCEL-23")
async def test_x_stops_a_tool_call_that_supports_it_and_the_turn_continues(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2]) as chat:
        await chat.send("/v2-cancel")
        await select_item(chat, "Count to a million")
        await chat.until("x stop")
        await chat.press("x")
        await chat.until("The tool call was cancelled; the turn continues.")
        await chat.until("⊘ $ Count to a million")
        await chat.gone("x stop")


async def test_a_call_that_cannot_be_stopped_has_no_hint_and_continues(opened: Opened) -> None:
    sent: list[str] = []

    class Busy(Agent):
        async def prompt(self, turn: Turn) -> None:
            async with turn.tool("Think hard", kind="think"):
                await asyncio.Event().wait()

        async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
            sent.append(tool_call_id)

    async with opened(Busy(), versions=[2]) as chat:
        told = collect_notifications(chat)
        await chat.send("go")
        await select_item(chat, "Think hard")
        assert "x stop" not in chat.text
        await chat.press("x")
        await chat.until(lambda: told)
        assert told == ["This can't be stopped by itself; Esc stops the whole turn."]
        assert not sent


@pytest.mark.req("V2-CANCEL-21", "V2-STATE-12")
async def test_background_work_is_listed_and_stopped_while_the_session_is_idle(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2]) as chat:
        await chat.send("/v2-background 600")
        await chat.until("This turn ends")
        await chat.until("● ready  Ask  1 in background")
        await chat.until("still here (1)")
        await chat.until("Background work (alt+a)")
        await chat.press("alt+a")
        await chat.until("showcase --watch")
        await chat.until("command, running, in the background")
        await chat.press("f8")
        await chat.until("The terminal was stopped.")
        await chat.gone("1 in background")


async def test_a_running_command_is_stopped_at_its_finished_tool_call(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2], size=(80, 30)) as chat:
        await chat.send("/v2-background 600")
        await chat.until("1 in background")
        await select_item(chat, "Start a background command")
        await chat.until("x stop this command")
        await chat.press("x")
        await chat.until("The terminal was stopped.")


async def test_enter_in_the_list_goes_to_the_tool_call(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2], size=(80, 30)) as chat:
        await chat.send("/v2-background 600")
        await chat.until("1 in background")
        await chat.press("alt+a")
        await chat.until("showcase --watch")
        await chat.press("enter")
        await chat.until("x stop this command")
        assert chat.tab.transcript_view.has_focus
        await chat.press("x")
        await chat.until("The terminal was stopped.")


@pytest.mark.req("V2-STATE-12")
async def test_work_of_an_unknown_kind_is_counted_and_a_subagent_listed_once(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        session = turn.session
        session.child(Subagent(session_id="child", title="Finder", state="running"))
        listed = [{"type": "subagent", "sessionId": "child"}, {"type": "_cloud/job", "job": 7}]
        await session.update(2, {"sessionUpdate": "state_update", "state": "running", "background": listed})
        await asyncio.Event().wait()

    async with opened(Delegating([delegate]), versions=[2]) as chat:
        told = collect_notifications(chat)
        await chat.send("go")
        await chat.until("2 in background (alt+a)")
        await chat.press("alt+a")
        await chat.until("type to search")
        rows = [line for line in chat.lines if "in the background" in line]
        assert len(rows) == 2
        assert "Finder" in rows[0] and "cloud/job" in rows[1]
        await chat.press("down", "f8")
        await chat.until(lambda: told)
        assert told == ["cloud/job can't be stopped by itself."]


async def test_without_background_work_a_notice_is_shown(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        told = collect_notifications(chat)
        await chat.press("alt+a")
        await chat.until(lambda: told)
        assert told == ["Nothing runs in the background."]


# -- commands that we run


WAITS = "import time; print('waiting', flush=True); time.sleep(600)"


def make_command_agent(script: str, ended: list[object]) -> ScriptedAgent:
    async def run(turn: Turn) -> None:
        async with (
            turn.tool("Run it", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-I", "-S", "-c", script]) as terminal,
        ):
            await tool.show(terminal)
            ended.append(await terminal.wait())
        await turn.say("it has ended")

    return ScriptedAgent([run])


async def run_allowed_command(chat: Chat) -> None:
    """Send a prompt, and allow the command that follows."""
    await chat.send("go")
    await chat.until("number or")
    await chat.press("y")


async def test_x_ends_a_command_of_the_client_and_the_agent_gets_its_exit_status(opened: Opened) -> None:
    ended: list[object] = []
    async with opened(make_command_agent(WAITS, ended)) as chat:
        await run_allowed_command(chat)
        await chat.until("waiting")
        await select_item(chat, "Run it")
        await chat.until("x stop this command")
        await chat.press("x")
        await chat.until("it has ended")
        assert getattr(ended[0], "signal", None) == "SIGTERM"


async def test_command_output_is_drawn_as_soon_as_it_is_printed(
    opened: Opened, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.tab.tab.Tab._tick", lambda frame: None)  # so only reported changes are drawn
    script = (
        "import pathlib, time\n"
        "for number in range(1, 4):\n"
        "    print('step', number, flush=True)\n"
        "    while not pathlib.Path(f'go{number}').exists(): time.sleep(0.01)\n"
    )
    async with opened(make_command_agent(script, [])) as chat:
        await run_allowed_command(chat)
        for number in range(1, 4):
            await chat.until(f"step {number}")
            (folders / f"go{number}").touch()
        await chat.until("it has ended")


async def test_all_lines_of_a_long_output_are_counted_though_only_its_end_is_drawn(opened: Opened) -> None:
    script = "for number in range(100_000): print('line', number)\nimport time; print(flush=True); time.sleep(600)"
    async with opened(make_command_agent(script, [])) as chat:
        await run_allowed_command(chat)
        await chat.until("line 99999")
        await chat.press("tab", "enter")
        await chat.until(lambda: chat.tab.transcript_view.timeline_layout.blocks.get(1).size > 300)
        lines = [line.text for line in chat.tab.transcript_view.timeline_layout.blocks.lines(1)]
        assert any("⋯ 99600 earlier lines" in line for line in lines)
        await chat.press("escape", "escape")  # to the prompt, and there it stops the turn
        await chat.until("Cancelled")
