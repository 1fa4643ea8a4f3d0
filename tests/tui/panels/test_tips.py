"""Text for a new user: the welcome, tips and notifications."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened

from accord.testing import ScriptedAgent


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (36, 20)])
async def test_an_empty_transcript_shows_how_to_begin_without_truncation(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        await chat.until("? shortcuts")
        words = " ".join(chat.text.split())
        assert "/ commands · @ mention a file · ? shortcuts" in words


async def test_resizing_the_window_rewraps_the_welcome(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(120, 36)) as chat:
        await chat.until("? shortcuts")
        await chat.pilot.resize_terminal(40, 20)
        await chat.until(lambda: "/ commands · @ mention a file · ? shortcuts" in " ".join(chat.text.split()))


async def test_tips_are_above_the_prompt_until_the_first_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        assert "ctrl+p search all commands" not in chat.text
        chat.tab.controller.say("info", "Something to know")
        await chat.until("ctrl+p search all commands")
        assert "/ commands · @ mention a file · ? shortcuts" in chat.text
        await chat.send("hello")
        await chat.gone("ctrl+p search all commands")


async def test_notifications_show_brackets_literally(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.notify("[/] is [no markup] \x1b[2J")
        await chat.until(lambda: len(chat.notifications) == 1)
        (told,) = chat.notifications
        assert told.message == "[/] is [no markup] ␛[2J" and not told.markup
