"""Long pasted texts are folded in the prompt and sent in full."""

from __future__ import annotations

import pytest
from support.tui_driver import Chat, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.prompt.folds import Folds, is_long

LONG = "\n".join(f"line {number}" for number in range(60))
OTHER = LONG.upper()


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard {turn.text.count(chr(10)) + 1} lines, the last: {turn.text[-20:]}")


async def paste(chat: Chat, text: str) -> None:
    chat.app.post_message(events.Paste(text))
    await chat.pilot.pause()


def test_a_text_is_long_by_its_lines_or_its_characters() -> None:
    assert is_long(LONG) and is_long("x" * 2000)
    assert not is_long("one\ntwo\nthree")


def test_two_texts_of_the_same_size_have_different_tokens() -> None:
    folds = Folds()
    assert (folds.add(LONG), folds.add(OTHER), folds.add(LONG)) == ("[60 lines]", "[60 lines #2]", "[60 lines]")
    assert folds.expand("a [60 lines] b [60 lines #2] [3 lines]") == f"a {LONG} b {OTHER} [3 lines]"
    assert folds.fold_known(f"x {OTHER} y") == "x [60 lines #2] y"


def test_a_token_in_a_folded_text_is_not_expanded() -> None:
    folds = Folds()
    inner = folds.add(LONG)
    outer = folds.add(f"{inner}\n" * 20)
    assert folds.expand(outer) == f"{inner}\n" * 20


def test_brackets_and_lines_of_a_description_are_removed() -> None:
    folds = Folds()
    token = folds.add(LONG, "output of [ -f\nx ]")
    assert token == "[output of -f x, 60 lines]"
    assert folds.expand(token) == LONG


@pytest.mark.parametrize("line_break", ["\r\n", "\r", "\n"])
async def test_a_long_paste_is_one_token_and_is_sent_in_full(opened: Opened, line_break: str) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("see ")
        await paste(chat, LONG.replace("\n", line_break))
        assert chat.tab.editor.text == "see [60 lines]"
        await chat.press("enter")
        await chat.until("heard 60 lines, the last:")
        await chat.press("up")
        assert chat.tab.editor.text == "see [60 lines]", "an earlier prompt comes back folded"


async def test_alt_e_or_pasting_again_shows_the_text(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await paste(chat, LONG)
        await chat.press("alt+e")
        assert chat.tab.editor.text == LONG
        chat.tab.editor.clear_text()
        await paste(chat, LONG)
        assert chat.tab.editor.text == "[60 lines]"
        await paste(chat, LONG)
        assert chat.tab.editor.text == LONG


async def test_backspace_deletes_a_whole_token_and_undo_restores_it(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("a ")
        await paste(chat, LONG)
        await chat.press("backspace")
        assert chat.tab.editor.text == "a "
        await chat.press("ctrl+underscore")
        assert chat.tab.editor.full_text == f"a {LONG}"


async def test_drafts_and_the_users_editor_have_the_whole_text(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await paste(chat, LONG)
        assert chat.tab.prompt_input.unsent == [LONG]
        chat.app.saved.save_drafts()
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.until(lambda: chat.tab.editor.full_text == LONG)


async def test_short_pastes_stay_as_they_are(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await paste(chat, "one\ntwo")
        assert chat.tab.editor.text == "one\ntwo"
