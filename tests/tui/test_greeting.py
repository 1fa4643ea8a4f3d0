"""Help, welcome and durations: texts about the client itself."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.commands import ASKED, COMMANDS, QUEUED, READING, TYPING


@pytest.mark.parametrize("width", [80, 120])
async def test_key_descriptions_are_in_one_column(opened: Opened, width: int) -> None:
    async with opened(ScriptedAgent(), size=(width, 90)) as chat:
        await chat.press("question_mark")
        await chat.until("Search all commands")
        texts = (
            "Send; while the agent works",
            "Scroll",
            "Previous prompts",
            "Go to the transcript",
            "Select",
            "Copy (OSC 52)",
        )
        columns = {next(line.index(text) for line in chat.lines if text in line) for text in texts}
        assert len(columns) == 1


async def test_in_a_narrow_window_key_descriptions_are_below_the_keys(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(40, 12)) as chat:
        await chat.press("question_mark")
        await chat.until("Send; while the agent works")
        assert any(line.strip("│ ") == "enter" for line in chat.lines)
        await chat.pilot.resize_terminal(100, 40)
        await chat.until(lambda: any("enter " in line and "Send; while" in line for line in chat.lines))


async def test_in_a_narrow_window_descriptions_get_most_of_the_room(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(64, 30)) as chat:
        await chat.press("question_mark")
        await chat.until("Send; while the agent works")
        line = next(line for line in chat.lines if "Send; while" in line)
        assert line.index("Send;") < 30


@pytest.mark.parametrize("size", [(20, 6), (40, 8), (80, 24)])
async def test_the_palette_lists_the_commands(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        await chat.press("ctrl+p")
        await chat.until("Sessions")
        await chat.type("plan")
        await chat.until("Plan")
        assert any("plan" in line and "Plan" not in line for line in chat.lines)  # what was typed


@pytest.mark.parametrize("width", [80, 120])
async def test_the_welcome_fits(opened: Opened, width: int) -> None:
    async with opened(ScriptedAgent(), size=(width, 24)) as chat:
        await chat.until("? keys")


async def test_a_call_that_waits_for_the_user_shows_it_and_its_clock_continues_afterwards(opened: Opened) -> None:
    async def ask(turn: Turn) -> None:
        async with turn.tool("Change it", kind="edit") as tool:
            await tool.diff("a.txt", "one\n", "two\n")
            await tool.permit()

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until("waiting for you")
        (span,) = chat.tab.controller.spans.values()
        assert span.asked is not None
        await chat.until("number or")
        await chat.press("y")
        await chat.until("● ready")
        (ended,) = chat.tab.controller.spans.values()
        assert ended.asked is None
        assert ended.started > span.started


async def test_file_names_are_shown_literally(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        (chat.app.host.cwd / "日 本.txt").write_text("hello")
        await chat.send('look at @"日 本.txt"')
        await chat.until("日 本.txt  ")
        assert "%E6" not in chat.text


def test_no_key_is_listed_twice_in_a_section_or_in_two_that_apply_together() -> None:
    everywhere = [key for command in COMMANDS for key in command.keys.split(",") if key]
    for part in (TYPING, READING, QUEUED, ASKED):
        keys = [key.strip() for keys, _ in part for key in keys.split(",")]
        assert len(keys) == len(set(keys))
        assert set(keys) & set(everywhere) <= {"ctrl+c"}  # which copies what is marked
    assert len(everywhere) == len(set(everywhere))


async def test_descriptions_of_commands_begin_with_a_capital(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(100, 150)) as chat:
        await chat.press("f1")
        await chat.until("In the prompt")
        await chat.until("Send; while the agent works, queue")
        for words in (
            "Stop the turn, or a slow start",
            "Expand or collapse all",
            "Choose that answer",
            "Go to the next tab",
        ):
            assert words in chat.text
