"""What is typed before a question of the policy can have been seen goes to the prompt, and sends nothing from there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chatting import Chat, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.panels.permission import PermissionPanel


async def once(turn: Turn) -> None:
    await turn.say(f"(allowed: {bool(await turn.permit('Do thing 1', kind='edit'))})")


async def twice(turn: Turn) -> None:
    for _ in range(2):
        await once(turn)


async def asked(chat: Chat) -> PermissionPanel:
    """The question, which has the keys and has not been seen yet."""
    await chat.until(lambda: isinstance(chat.app.focused, PermissionPanel))
    panel = chat.pane.query_one(PermissionPanel)
    panel.hold_on()
    return panel


def burst(chat: Chat, *keys: str) -> None:
    """Presses keys faster than anything is done about them, so that not even a slow machine makes a pause of them."""
    for key in keys:
        chat.app.post_message(events.Key(key, " " if key == "space" else key if len(key) == 1 else None))


async def test_a_sentence_that_is_begun_as_a_question_comes_is_whole_in_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await asked(chat)
        burst(chat, *"yyes", "space", *"pleasex", "backspace")
        await chat.until(lambda: chat.pane.editor.text == "yyes please")
        assert len(chat.pane.talk.asked) == 1


async def test_half_a_prompt_gets_the_keys_back(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await asked(chat)
        burst(chat, *"not ye".replace(" ", "_"))
        await chat.until(lambda: chat.pane.editor.has_focus)
        await chat.until("tab to answer")
        await chat.press("y")
        assert chat.pane.editor.text == "not_yey"
        assert len(chat.pane.talk.asked) == 1
        await chat.press("tab", "y")
        await chat.until("(allowed: True)")


async def test_an_enter_that_comes_too_early_sends_nothing_and_answers_nothing(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await asked(chat)
        burst(chat, *"stop", "enter", "enter")
        await chat.until(lambda: chat.pane.editor.text == "stop")
        await chat.until(lambda: chat.pane.editor.has_focus)
        assert chat.pane.editor.text == "stop"
        assert not chat.pane.talk.pending
        assert len(chat.pane.talk.asked) == 1


async def test_what_is_pasted_is_no_answer_however_late_it_comes(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await chat.until("number or")
        chat.app.post_message(events.Paste("y\nand more"))
        await chat.until(lambda: chat.pane.editor.text == "y\nand more")
        await chat.until(lambda: chat.pane.editor.has_focus)
        assert len(chat.pane.talk.asked) == 1


@pytest.mark.parametrize("key", ["y", "1"])
async def test_an_answer_in_a_hurry_is_not_left_in_the_prompt_once_it_is_given(opened: Opened, key: str) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await asked(chat)
        burst(chat, key, key)
        await chat.until(lambda: chat.pane.editor.text == key * 2)
        await chat.until("number or")
        await chat.press(key)
        await chat.until("(allowed: True)")
        assert chat.pane.editor.text == ""


async def test_a_letter_that_was_typed_before_stays_when_another_key_answers(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await asked(chat)
        burst(chat, "n")
        await chat.until(lambda: chat.pane.editor.text == "n")
        await chat.until("number or")
        await chat.press("enter")
        await chat.until("(allowed: True)")
        assert chat.pane.editor.text == "n"


async def test_a_key_that_is_held_down_types_nothing(opened: Opened) -> None:
    async with opened(ScriptedAgent([twice])) as chat:
        await chat.send("go")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("(allowed: True)")
        panel = await asked(chat)
        burst(chat, *"yyyy", "down")
        await chat.until(lambda: panel.cursor == 1)
        assert chat.pane.editor.text == ""
        assert len(chat.pane.talk.asked) == 1


async def test_arrows_and_esc_count_at_once(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        panel = await asked(chat)
        burst(chat, "down")
        await chat.until(lambda: panel.cursor == 1)
        panel.hold_on()
        burst(chat, "escape")
        await chat.until(lambda: not chat.pane.talk.asked)


async def test_what_is_typed_before_a_form_above_a_question_is_for_the_prompt(opened: Opened) -> None:
    fields: dict[str, Any] = {"type": "object", "properties": {"sure": {"type": "string"}}}
    now = asyncio.Event()

    async def both(turn: Turn) -> None:
        async def form() -> None:
            await now.wait()
            await turn.ask("Delete everything?", fields)

        await asyncio.gather(once(turn), form())

    async with opened(ScriptedAgent([both])) as chat:
        await chat.send("go")
        await chat.until("number or")
        now.set()
        await chat.until("Delete everything?")
        chat.app.screen._moment.begin()  # type: ignore[attr-defined]
        burst(chat, *"wait", "enter")
        await chat.until(lambda: chat.pane.editor.text == "wait")
