"""Vim keys: what they do to a text, and how they fit into the prompt."""

from __future__ import annotations

import asyncio
import re

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.prompt.vim import REDO, Vim


class Text:
    """A text and a cursor."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.before: list[str] = []
        self.undone: list[str] = []

    def replace(self, start: int, end: int, text: str) -> None:
        self.before.append(self.text)
        self.text = self.text[:start] + text + self.text[end:]

    def widen(self, start: int, end: int) -> tuple[int, int]:
        return start, end

    def undo(self) -> None:
        if self.before:
            self.undone.append(self.text)
            self.text = self.before.pop()

    def redo(self) -> None:
        if self.undone:
            self.before.append(self.text)
            self.text = self.undone.pop()


@pytest.mark.parametrize(
    ("text", "keys", "result"),
    [
        ("one two three", "2w", "one two |three"),
        ("one two", "wb", "|one two"),
        ("one.two", "w", "one|.two"),
        ("a\n\nb", "w", "a\n|\nb"),
        ("abc def", "$b", "abc |def"),
        ("one two", "ex", "on| two"),
        ("  one", "$^x", "  |ne"),
        ("  one", "$0x", "| one"),
        ("ab\nc\ndef", "ljjx", "ab\nc\nd|f"),
        ("a\nb\nc", "Gx", "a\nb\n|"),
        ("a\nb\nc", "G2ggx", "a\n|\nc"),
        ("one two one", "fox", "one tw| one"),
        ("one two one", "fo;x", "one two |ne"),
        ("one two", "dtw", "|wo"),
        ("one two", "$dFn", "o|o"),
        ("abc", "fz", "|abc"),
        ("one two", "dw", "|two"),
        ("one two\nthree", "wdw", "one| \nthree"),
        ("one two three", "d2w", "|three"),
        ("a\nb\nc\nd", "dj", "|c\nd"),
        ("a\nb\nc\nd", "2jdk", "a\n|d"),
        ("a\nb", "dk", "|a\nb"),
        ("a\nb\nc", "jdG", "|a"),
        ("a\nb\nc", "Gdd", "a\n|b"),
        ("a\nb\nc", "2dd", "|c"),
        ("abcd", "d$", "|"),
        ("foo bar", "wdaw", "foo| "),
        ("foo bar", "ciwX", "X| bar"),
        ("one two three", "cwX", "X| two three"),
        ("one two three", "2cwX", "X| three"),
        ("a\nb", "ccX", "X|\nb"),
        ("one", "lCX", "oX|"),
        ("one", "lDp", "on|e"),
        ("a\nb", "ddp", "b\n|a"),
        ("a\nb", "yyP", "|a\na\nb"),
        ("foo bar", "xp", "o|fo bar"),
        ("ab", "yw3P", "ababa|bab"),
        ("one", "IX", "X|one"),
        ("one", "aX", "oX|ne"),
        ("one", "AX", "oneX|"),
        ("a", "oX", "a\nX|"),
        ("a", "OX", "X|\na"),
        ("abc", "2sX", "X|c"),
        ("abc", "3x", "|"),
        ("abc", "lXx", "|c"),
        ("abc", "2rX", "X|Xc"),
        ("abc", "xxu", "|bc"),
        ("abc", "xu<redo>", "|bc"),
        ("abc", "dqx", "|bc"),
        ("", "xddpu~", "|"),
        ("abc", "99999999999999999999x", "|"),
    ],
)
def test_a_key_does_what_it_does_in_vim(text: str, keys: str, result: str) -> None:
    buffer = Text(text)
    vim = Vim(buffer)
    vim.leave_insert()
    for key in re.findall("<redo>|.", keys):
        if vim.is_normal:
            vim.press(REDO if key == "<redo>" else key)
        else:
            buffer.replace(buffer.position, buffer.position, key)
            buffer.position += 1
    assert f"{buffer.text[: buffer.position]}|{buffer.text[buffer.position :]}" == result


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


def use_vim(chat: Chat) -> None:
    chat.app.preferences.vim_keys = True
    chat.app.apply_preferences()


async def test_the_prompt_has_a_normal_mode_whose_enter_sends(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        use_vim(chat)
        await chat.until("Insert")
        await chat.type("hello big world")
        await chat.press("escape")
        await chat.until("Normal")
        await chat.press("b", "d", "b")
        assert chat.tab.editor.text == "hello world"
        await chat.press("u", "ctrl+r", "0", "2", "d")
        await chat.until("Normal 2d")
        await chat.press("escape", "x", "enter")
        await chat.until("heard: ello world")
        await chat.until("Insert")


async def test_esc_in_normal_mode_cancels_the_turn(opened: Opened) -> None:
    async def waits(turn: Turn) -> None:
        await turn.say("working on it")
        await asyncio.Event().wait()

    async with opened(ScriptedAgent([waits])) as chat:
        use_vim(chat)
        await chat.send("go")
        await chat.until("working on it")
        await chat.press("escape")
        await chat.until("Normal")
        assert chat.tab.controller.state == "running"
        await chat.press("escape")
        await chat.until(lambda: chat.tab.controller.state == "idle")


async def test_esc_closes_the_completion_list_before_it_leaves_insert_mode(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        use_vim(chat)
        await chat.type("/ke")
        await chat.until("Show all keys")
        await chat.press("escape")
        await chat.gone("Show all keys")
        assert "Insert" in chat.text
        await chat.press("escape")
        await chat.until("Normal")


async def test_folded_text_is_deleted_and_put_back_as_a_whole(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        use_vim(chat)
        long = "\n".join(f"line {number}" for number in range(20))
        chat.tab.editor.insert_folded(long, "")
        await chat.press("escape", "k", "0", "l", "l", "x")
        assert chat.tab.editor.full_text.strip() == ""
        await chat.press("P")
        assert long in chat.tab.editor.full_text


async def test_vim_keys_are_off_until_they_are_turned_on(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.type("hello")
        await chat.press("escape", "x")
        assert chat.tab.editor.text == "hellox"


async def test_a_slash_or_a_colon_in_an_empty_prompt_begins_a_command(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        use_vim(chat)
        await chat.press("escape")
        await chat.type(":q")
        assert chat.tab.editor.text == ":q"
        await chat.press("enter")
        await chat.until(lambda: chat.app._ending.has_begun)
