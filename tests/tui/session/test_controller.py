"""The terminal client with an agent in memory: prompts, messages, permission requests, cancelling."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from support.tui_driver import Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


async def test_a_typed_prompt_is_sent_and_its_answer_shown(opened: Opened) -> None:
    async with opened(ScriptedAgent(["**Hello** to `you`."])) as chat:
        await chat.type("good morning")
        await chat.press("enter")
        await chat.until("Hello to you.")
        assert "good morning" in chat.text
        assert chat.tab.editor.text == ""


async def test_ctrl_j_and_a_backslash_begin_new_lines(opened: Opened) -> None:
    agent = ScriptedAgent()
    async with opened(agent) as chat:
        await chat.type("one")
        await chat.press("ctrl+j")
        await chat.type("two\\")
        await chat.press("enter")
        await chat.type("three")
        await chat.press("enter")
        await chat.until("You said: one")
        assert agent.prompts == ["one\ntwo\nthree"]


async def test_escape_stops_the_turn_and_the_session_continues(opened: Opened) -> None:
    started = asyncio.Event()

    async def endless(turn: Turn) -> None:
        await turn.say("working on it")
        started.set()
        await asyncio.Event().wait()

    async with opened(ScriptedAgent([endless])) as chat:
        await chat.send("go")
        await chat.until("working on it")
        await chat.until("esc stop")
        await chat.press("escape")
        await chat.until("Cancelled")
        await chat.send("again")
        await chat.until("You said: again")


async def test_a_prompt_sent_while_the_agent_works_is_queued_and_can_be_withdrawn(opened: Opened) -> None:
    go_on = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await go_on.wait()

    agent = ScriptedAgent([slow])
    async with opened(agent) as chat:
        await chat.send("first")
        await chat.until("working")
        await chat.send("second")
        await chat.send("third")
        await chat.until("2 queued")
        await chat.press("alt+up")
        assert chat.tab.editor.text == "third"
        go_on.set()
        await chat.until("You said: second")
        assert agent.prompts == ["first", "second"]
        assert chat.tab.editor.text == "third"


async def test_a_thought_is_one_line_until_it_is_opened(opened: Opened) -> None:
    async def think(turn: Turn) -> None:
        await turn.think("first line\n\nsecond line of it")
        await turn.say("done")

    async with opened(ScriptedAgent([think])) as chat:
        await chat.send("go")
        await chat.until("Thought: first line")
        await chat.until("done")
        assert "second line of it" not in [line.strip() for line in chat.lines]
        await chat.press("tab", "up", "enter")
        await chat.until("▐ second line of it")


async def test_a_permission_request_shows_the_change_and_is_answered_with_a_key(opened: Opened) -> None:
    answers: list[bool] = []

    async def change(turn: Turn) -> None:
        async with turn.tool("Change greet.py", kind="edit", locations=["greet.py"]) as tool:
            await tool.diff("greet.py", "hello\n", "goodbye\n")
            answers.append(bool(await tool.permit()))
        await turn.say("so be it")

    async with opened(ScriptedAgent([change])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        assert "- hello" in chat.text
        assert "+ goodbye" in chat.text
        await chat.until("number or")
        await chat.press("n")
        await chat.until("so be it")
        assert answers == [False]
        assert "Permission needed" not in chat.text


async def test_typing_does_not_answer_a_permission_request(opened: Opened) -> None:
    class Asks(Agent):
        async def prompt(self, turn: Turn) -> None:
            answer = await turn.permit("Delete everything", kind="delete", locations=["a"])
            await turn.say(f"allowed: {bool(answer)}")

    async with opened(Asks()) as chat:
        await chat.send("go")
        # The question comes while the user types on: whatever is typed at once is for the prompt.
        while not chat.tab.controller.permissions:
            await chat.press("y")
        await chat.press("y", "1")
        assert chat.tab.controller.permissions
        assert set(chat.tab.editor.text) == {"y", "1"}


async def test_an_unfinished_prompt_keeps_the_focus_until_tab_moves_it_to_the_request(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.tab.permission_view.PAUSE_SECONDS", 0.0)

    typed = asyncio.Event()

    class Asks(Agent):
        async def prompt(self, turn: Turn) -> None:
            await typed.wait()
            answer = await turn.permit("Delete everything", kind="delete", locations=["a"])
            await turn.say(f"allowed: {bool(answer)}")

    async with opened(Asks()) as chat:
        await chat.send("go")
        await chat.type("add")
        typed.set()
        await chat.until("Permission needed")
        await chat.until("tab to answer")
        await chat.type(" tests, yes")
        assert chat.tab.controller.permissions
        assert chat.tab.editor.text == "add tests, yes"
        await chat.press("tab")
        await chat.until("number or")
        await chat.press("n")
        await chat.until("allowed: False")
        assert chat.tab.editor.text == "add tests, yes"


async def test_permission_requests_of_one_turn_are_queued(opened: Opened) -> None:
    class Asks(Agent):
        async def prompt(self, turn: Turn) -> None:
            asked = [turn.permit(f"Do number {n}", kind="other") for n in range(3)]
            answers = await asyncio.gather(*asked)
            await turn.say(f"allowed: {[bool(answer) for answer in answers]}")

    async with opened(Asks()) as chat:
        await chat.send("go")
        await chat.until("1 of 3")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("2 of 3")
        await chat.until("number or")
        await chat.press("n")
        await chat.until("3 of 3")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("allowed: [True, False, True]")


async def test_an_unknown_update_is_harmless(opened: Opened) -> None:
    async def strange(turn: Turn) -> None:
        await turn.session.update(1, {"sessionUpdate": "_strange/thing", "x": [1, 2]})
        await turn.say("still here")

    async with opened(ScriptedAgent([strange])) as chat:
        await chat.send("go")
        await chat.until("still here")
        await chat.until("1 update not supported")


def test_sessions_and_agents_need_no_user_interface() -> None:
    tui = Path(__file__).parents[3] / "src" / "accord" / "tui"
    modules = [f"accord.tui.{name}.{path.stem}" for name in ("agent", "session") for path in (tui / name).glob("*.py")]
    code = f"import sys, {', '.join(modules)}\nprint(*({{'rich', 'textual'}} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("\n", "")
