"""The question of the policy: the change itself is seen in a small window, and nothing lies over its keys."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from chatting import Chat, Memory, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp

OLD = "".join(f"line {number}\n" for number in range(1, 12))


async def ask(turn: Turn) -> None:
    async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:6"]) as tool:
        await tool.diff("greet.py", OLD, OLD.replace("line 6\n", "line six\n"))
        await tool.permit(always=True)


async def test_in_a_small_window_the_change_and_the_answers_are_seen(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        top = next(place for place, line in enumerate(chat.lines) if "Permission needed" in line)
        panel = "\n".join(chat.lines[top:])
        assert "- line 6" in panel
        assert "+ line six" in panel
        assert panel.count("greet.py") - panel.count("remembers") <= 1
        assert "1. " in panel
        assert "asked because" in panel


@pytest.mark.parametrize(
    "title", ["Run the tests" + "\n" * 60 + "and more", "Run the tests " + "and more words " * 200]
)
async def test_no_title_pushes_out_of_sight_what_would_happen(opened: Opened, title: str) -> None:
    async def hide(turn: Turn) -> None:
        await turn.permit(title, kind="execute", command="rm -rf build", description="\n" * 50 + "believe me")

    async with opened(ScriptedAgent([hide]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        assert "$ rm -rf build" in chat.text


async def test_a_file_is_named_unless_the_title_names_that_very_file(opened: Opened) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("Change a file", kind="edit", locations=["a"]) as tool:
            await tool.permit()

    async with opened(ScriptedAgent([change])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until(f"┃ {chat.pane.cwd}/a")


async def test_what_is_told_in_passing_lies_over_neither_question_nor_prompt(folders: Path) -> None:
    app = AccordApp(Memory(folders, ScriptedAgent([ask]), frozenset([1])))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.send("go")
        await chat.until("Permission needed")
        app.notify("in passing")
        await chat.until("in passing")
        lines = chat.lines
        told = next(place for place, line in enumerate(lines) if "in passing" in line)
        assert told < next(place for place, line in enumerate(lines) if "Permission needed" in line)


async def test_questions_that_wait_behind_one_another_are_counted_up(opened: Opened) -> None:
    async def several(turn: Turn) -> None:
        await asyncio.gather(*(turn.permit(f"Move stone {number}", kind="move") for number in (1, 2, 3)))
        await turn.permit("Go home", kind="move")

    async with opened(ScriptedAgent([several])) as chat:
        await chat.send("go")
        for number in (1, 2, 3):
            await chat.until(f"Permission needed ({number} of 3)")
            await chat.until(f"┃ Move stone {number}")
            await chat.until("number or")
            await chat.press("y")
        await chat.until("┃ Go home")
        assert "Permission needed ━" in chat.text


async def test_each_letter_means_the_same_whoever_asks(opened: Opened) -> None:
    async def both(turn: Turn) -> None:
        await turn.permit("Change it", kind="edit", always=True, locations=["a.txt"])
        await turn.files.write("a.txt", "x")
        await turn.say("Written.")

    async with opened(ScriptedAgent([both])) as chat:
        await chat.send("go")
        await chat.until("1. Allow (y)")
        for words in ("2. Always allow (a)", "3. Reject (n)"):
            await chat.until(words)
        await chat.until("number or")
        await chat.press("s")  # which is not offered
        await chat.pilot.pause()
        assert chat.pane.talk.asked
        await chat.press("n")
        await chat.until("1. Allow once (y)")
        for words in ("2. Allow for this session (s)", "3. Always allow this (a)", "Reject (n)"):
            await chat.until(words)
        assert chat.text.count("(a)") == 1
        await chat.until("number or")
        await chat.press("s")
        await chat.until("Written.")
