"""The client with a screen reader, and the position of the terminal's cursor."""

from __future__ import annotations

import re

import pytest
from rich.segment import Segment
from support.tui_driver import Chat, Opened
from textual.color import Color

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.preferences import Preferences
from accord.tui.terminal.filters import ScreenReaderFilter, wants_screen_reader
from accord.tui.transcript.blocks.base import edge_of

ART = re.compile("[\u2500-\u259f\u2800-\u28ff]")


async def asks(turn: Turn) -> None:
    async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:6"]) as tool:
        await tool.diff("greet.py", "a\n", "b\n")
        await tool.permit(always=True)
    await turn.say("Changed.")


@pytest.fixture
def read_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_SCREEN_READER", "1")


@pytest.mark.parametrize(("value", "wanted"), [("", False), ("0", False), ("1", True), ("yes", True)])
def test_the_variable_turns_screen_reader_mode_on(value: str, wanted: bool) -> None:
    assert wants_screen_reader(Preferences(), {"ACCORD_SCREEN_READER": value}) == wanted
    assert wants_screen_reader(Preferences(screen_reader=True), {})


def test_lines_and_blocks_become_spaces_and_words_are_preserved() -> None:
    words = [Segment("│ ╭─ Keys ─╮ ❯ ✓ 日本 ⠋"), Segment("plain")]
    assert [each.text for each in ScreenReaderFilter().apply(words, Color(0, 0, 0))] == [
        "     Keys    ❯ ✓ 日本  ",
        "plain",
    ]


@pytest.mark.usefixtures("read_aloud")
async def test_screen_readers_get_one_column_without_borders(opened: Opened) -> None:
    async with opened(ScriptedAgent([asks]), size=(120, 36)) as chat:
        await chat.type("typed")
        await chat.until("typed")
        assert ART.search(chat.text) is None
        assert "ACP version" not in chat.text  # the side panel would be a second column
        await chat.press("f1")
        await chat.until("In the prompt")
        assert ART.search(chat.text) is None


@pytest.mark.usefixtures("read_aloud")
async def test_questions_and_the_end_of_a_turn_are_shown_as_lines(opened: Opened) -> None:
    async with opened(ScriptedAgent([asks]), size=(80, 40)) as chat:
        await chat.send("go")
        await chat.until("Permission needed: Change greet.py")
        await chat.until("1: Allow")
        await chat.until("number or")
        await chat.until("working" if "working" in chat.text else "waiting for you")
        await chat.press("y")
        await chat.until("The agent is done")


@pytest.mark.usefixtures("read_aloud")
@pytest.mark.parametrize("version", [1, 2])
async def test_each_message_names_its_author(opened: Opened, version: int) -> None:
    async def speak(turn: Turn) -> None:
        await turn.think("let me see")
        async with turn.tool("Look around", kind="read"):
            pass
        await turn.say("All is well.")

    async with opened(ScriptedAgent([speak]), size=(80, 24), versions=[version]) as chat:
        await chat.send("how is it?")
        await chat.until("The agent is done")
        told = [line.strip() for line in chat.lines if line.strip()]
        at = told.index("You:")
        assert told[at + 1] == "how is it?"
        assert told[at + 2].removeprefix("▸ ") == "Thought: let me see"
        assert told[at + 3].startswith("Tool, completed: Look around")
        assert told[at + 4 : at + 6] == ["Agent:", "All is well."]
        assert told[at + 6 : at + 8] == ["Note:", "• The agent is done"]
        await chat.press("tab")
        await chat.until(lambda: chat.lines[place(chat)[1]].strip() == "Note:")
        await chat.press("up")
        await chat.until(lambda: chat.lines[place(chat)[1]].strip() == "Agent:")


async def test_authors_are_named_once_the_setting_is_on_and_never_copied(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(ScriptedAgent(["All is well."]), size=(80, 24)) as chat:
        await chat.send("how is it?")
        await chat.until("All is well.")
        assert "You:" not in chat.text
        monkeypatch.setenv("ACCORD_SCREEN_READER", "1")
        chat.app.apply_preferences()
        await chat.until("Agent:")
        (line, *_) = chat.tab.transcript_view.timeline_layout.blocks.lines(1)
        assert [(part.text.strip(), edge_of(part)) for part in line] == [("Agent:", "side")]


@pytest.mark.usefixtures("read_aloud")
async def test_nothing_is_animated_while_the_agent_works(opened: Opened) -> None:
    async with opened(ScriptedAgent([asks]), size=(80, 24)) as chat:
        chat.tab.controller.turns.turn_began = 1.0
        assert chat.tab.status._spin() == "" and chat.tab.status._elapsed() == ""
        assert not chat.tab.editor.cursor_blink


async def test_the_setting_takes_effect_at_once(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(120, 36)) as chat:
        assert ART.search(chat.text) is not None
        await chat.press("f10")
        await chat.until("Screen reader: off")
        await chat.type("screen reader")
        await chat.gone("Theme:")
        await chat.press("enter")
        await chat.until("Screen reader: on")
        await chat.press("escape")
        await chat.until(lambda: ART.search(chat.text) is None)


async def test_the_terminals_cursor_is_where_the_user_types(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.type("日本 x")
        await chat.until("日本 x")
        assert place(chat) == cell_after(chat, "日本 x")
        await chat.pilot.resize_terminal(60, 16)
        await chat.until(lambda: len(chat.lines) == 16)
        await chat.until(lambda: place(chat) == cell_after(chat, "日本 x"))
        await chat.press("ctrl+p")
        await chat.until("type to search")
        await chat.type("log")
        await chat.until(lambda: place(chat) == cell_after(chat, "log"))


async def test_the_terminals_cursor_is_at_the_answer_that_enter_would_give(opened: Opened) -> None:
    async with opened(ScriptedAgent([asks]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("number or")
        await chat.press("down")
        await chat.until("❯ 2. ")
        column, row = place(chat)
        assert chat.lines[row][column:].startswith("❯ 2. ")


@pytest.mark.usefixtures("read_aloud")
async def test_in_a_list_the_terminals_cursor_follows_the_selected_row(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.press("f10")
        await chat.until("❯ Theme")
        assert "type to search" in chat.lines[place(chat)[1]]
        await chat.press("down")
        await chat.until("❯ Screen reader")
        assert "❯ Screen reader" in chat.lines[place(chat)[1]]
        await chat.type("si")
        await chat.until(lambda: place(chat) == cell_after(chat, "si"))


def place(chat: Chat) -> tuple[int, int]:
    return (chat.app.cursor_position.x, chat.app.cursor_position.y)


def cell_after(chat: Chat, words: str) -> tuple[int, int]:
    from rich.cells import cell_len

    for row, line in enumerate(chat.lines):
        if words in line:
            return cell_len(line[: line.index(words) + len(words)]), row
    return (-1, -1)


@pytest.mark.parametrize("action", ["keys", "settings", "new_tab", "command_palette", "plan"])
async def test_nothing_below_a_dialog_is_read_aloud(opened: Opened, action: str) -> None:
    async def speak(turn: Turn) -> None:
        await turn.say("wxyz " * 600)

    async with opened(ScriptedAgent([speak]), size=(90, 30)) as chat:
        await chat.send("go")
        await chat.until("wxyz")
        chat.app.preferences.screen_reader = True  # as in the settings, while it runs
        chat.app.apply_preferences()
        getattr(chat.app, f"action_{action}")()
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        await chat.gone("wxyz")
        assert all(not line or line.startswith(" ") for line in chat.lines)
