"""The first lines that a user sees, which say how to go on."""

from __future__ import annotations

import pytest
from chatting import Opened

from accord.testing import ScriptedAgent


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (36, 20)])
async def test_an_empty_conversation_says_how_to_go_on_and_nothing_of_it_is_cut(
    opened: Opened, size: tuple[int, int]
) -> None:
    async with opened(ScriptedAgent(), size=size) as chat:
        await chat.until("? shows the keys" if size[0] > 40 else "? shows")
        words = " ".join(chat.text.split())
        assert "/ lists the agent's commands, @ names a file, ? shows the keys." in words


async def test_the_welcome_is_wrapped_anew_when_the_window_changes(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(120, 36)) as chat:
        await chat.until("? shows the keys")
        await chat.pilot.resize_terminal(40, 20)
        await chat.until(lambda: "? shows the keys." in " ".join(chat.text.split()))


async def test_tips_are_above_the_prompt_until_the_first_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        assert "ctrl+p finds everything else" not in chat.text
        chat.pane.talk.say("info", "Something to know")
        await chat.until("ctrl+p finds everything else")
        assert "/ lists the agent's commands · @ names a file · ? shows the keys" in chat.text
        await chat.send("hello")
        await chat.gone("ctrl+p finds everything else")


async def test_words_in_brackets_are_told_as_they_are(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.notify("[/] is [no markup] \x1b[2J")
        await chat.until(lambda: len(chat.app._notifications) == 1)
        (told,) = chat.app._notifications
        assert told.message == "[/] is [no markup] ␛[2J" and not told.markup
