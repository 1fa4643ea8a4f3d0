"""The permission panel: the change is visible in a small window, and nothing covers it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.tui_driver import TIMEOUT_SECONDS, Chat, Memory, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp

pytestmark = pytest.mark.usefixtures("seen_at_once")

OLD = "".join(f"line {number}\n" for number in range(1, 12))


def place(chat: Chat, name: str, text: str | bytes) -> None:
    Path(chat.tab.cwd, name).write_bytes(text.encode() if isinstance(text, str) else text)


async def ask(turn: Turn) -> None:
    async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:6"]) as tool:
        await tool.diff("greet.py", OLD, OLD.replace("line 6\n", "line six\n"))
        await tool.permit(always=True)


async def test_a_small_window_shows_the_change_and_the_answers(opened: Opened) -> None:
    async with opened(ScriptedAgent([ask]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        top = next(place for place, line in enumerate(chat.lines) if "Permission needed" in line)
        panel = "\n".join(chat.lines[top:])
        assert "- line 6" in panel
        assert "+ line six" in panel
        assert panel.count("greet.py") - panel.count("remembers") <= 1
        assert "1. " in panel
        assert "Why you are asked:" in panel


@pytest.mark.parametrize(
    "title", ["Run the tests" + "\n" * 60 + "and more", "Run the tests " + "and more words " * 200]
)
async def test_a_long_title_cannot_hide_the_action(opened: Opened, title: str) -> None:
    async def hide(turn: Turn) -> None:
        await turn.permit(title, kind="execute", command="rm -rf build", description="\n" * 50 + "believe me")

    async with opened(ScriptedAgent([hide]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        assert "$ rm -rf build" in chat.text


async def test_the_path_is_shown_unless_the_title_contains_it(opened: Opened) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("Change a file", kind="edit", locations=["a"]) as tool:
            await tool.permit()

    async with opened(ScriptedAgent([change]), size=(400, 36)) as chat:  # so that the path of any directory fits
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until(f"┃ {chat.tab.cwd}/a")


async def test_notifications_cover_neither_the_permission_request_nor_the_prompt(folders: Path) -> None:
    app = AccordApp(Memory(folders, ScriptedAgent([ask]), frozenset([1])))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.send("go")
        await chat.until("Permission needed")
        app.notify("in passing", timeout=TIMEOUT_SECONDS)
        await chat.until("in passing")
        lines = chat.lines
        told = next(place for place, line in enumerate(lines) if "in passing" in line)
        assert told < next(place for place, line in enumerate(lines) if "Permission needed" in line)


async def test_queued_permission_requests_are_numbered(opened: Opened) -> None:
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


async def test_letters_have_the_same_meaning_for_every_agent(opened: Opened) -> None:
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
        assert chat.tab.controller.permissions
        await chat.press("n")
        await chat.until("1. Allow once (y)")
        for words in ("2. Allow for this session (s)", "3. Always allow this (a)", "Reject (n)"):
            await chat.until(words)
        assert chat.text.count("(a)") == 1
        await chat.until("number or")
        await chat.press("s")
        await chat.until("Written.")


async def test_a_write_without_a_permission_request_shows_its_changes(opened: Opened) -> None:
    async def write(turn: Turn) -> None:
        await turn.files.write("notes.txt", "one\n2\nthree\n")

    async with opened(ScriptedAgent([write])) as chat:
        place(chat, "notes.txt", "one\ntwo\nthree\n")
        await chat.send("go")
        await chat.until("The agent wants to write")
        await chat.until("2 - two")
        await chat.until("2 + 2")


async def test_a_write_says_if_it_replaces_content_that_cannot_be_shown(opened: Opened) -> None:
    async def write(turn: Turn) -> None:
        await turn.files.write("logo.png", "text\n")

    async with opened(ScriptedAgent([write])) as chat:
        place(chat, "logo.png", b"\xff\xfe")
        await chat.send("go")
        await chat.until("The agent wants to write")
        await chat.until("replaces the whole file; its current content can't be shown")


@pytest.mark.parametrize("old, number", [("line 6\n", "6 "), ("line", "  "), ("nowhere\n", "  ")])
async def test_a_fragment_of_a_file_has_the_file_s_line_numbers_or_none(opened: Opened, old: str, number: str) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("Change greet.py", kind="edit", locations=["greet.py"]) as tool:
            await tool.diff("greet.py", old, old.upper())
            await tool.permit()

    async with opened(ScriptedAgent([change])) as chat:
        place(chat, "greet.py", OLD)
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until(f"┃ {number}- {old.strip()}")


async def test_the_remembered_rules_of_an_answer_are_shown_in_full(opened: Opened) -> None:
    line = f"printf {' '.join(f'word-{number}' for number in range(60))} end-of-it"

    async def run(turn: Turn) -> None:
        await turn.permit("Run it", kind="execute", command=line, always=True)

    async with opened(ScriptedAgent([run]), size=(80, 40)) as chat:
        await chat.send("go")
        await chat.until("number or")
        assert chat.text.count("end-of-it") == 1  # the command itself
        await chat.press("down")
        await chat.until(lambda: chat.text.count("end-of-it") == 2)
