"""Text typed before a permission request can have been seen goes to the prompt, and isn't sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.tui_driver import Chat, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.panels.permission import PermissionPanel


async def once(turn: Turn) -> None:
    await turn.say(f"(allowed: {bool(await turn.permit('Do thing 1', kind='edit'))})")


async def twice(turn: Turn) -> None:
    for _ in range(2):
        await once(turn)


async def open_unseen_request(chat: Chat) -> PermissionPanel:
    """Open a permission request that has the focus but hasn't been seen yet."""
    await chat.until(lambda: isinstance(chat.app.focused, PermissionPanel))
    panel = chat.tab.query_one(PermissionPanel)
    panel.hold_on()
    return panel


def burst(chat: Chat, *keys: str) -> None:
    """Send keys without waiting, so that there is no pause between them even on a slow machine."""
    for key in keys:
        chat.app.post_message(events.Key(key, " " if key == "space" else key if len(key) == 1 else None))


async def test_a_request_that_arrives_does_not_interrupt_a_sentence_being_typed(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await open_unseen_request(chat)
        burst(chat, *"yyes", "space", *"pleasex", "backspace")
        await chat.until(lambda: chat.tab.editor.text == "yyes please")
        assert len(chat.tab.controller.permissions) == 1


async def test_the_prompt_gets_the_focus_back_while_the_user_types(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await open_unseen_request(chat)
        burst(chat, *"not ye".replace(" ", "_"))
        await chat.until(lambda: chat.tab.editor.has_focus)
        await chat.until("tab to answer")
        await chat.press("y")
        assert chat.tab.editor.text == "not_yey"
        assert len(chat.tab.controller.permissions) == 1
        await chat.press("tab", "y")
        await chat.until("(allowed: True)")


async def test_a_premature_enter_neither_sends_nor_answers(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await open_unseen_request(chat)
        burst(chat, *"stop", "enter", "enter")
        await chat.until(lambda: chat.tab.editor.text == "stop")
        await chat.until(lambda: chat.tab.editor.has_focus)
        assert chat.tab.editor.text == "stop"
        assert not chat.tab.controller.queue.pending
        assert len(chat.tab.controller.permissions) == 1


async def test_pasted_text_never_answers(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await chat.until("number or")
        chat.app.post_message(events.Paste("y\nand more"))
        await chat.until(lambda: chat.tab.editor.text == "y\nand more")
        await chat.until(lambda: chat.tab.editor.has_focus)
        assert len(chat.tab.controller.permissions) == 1


@pytest.mark.parametrize("key", ["y", "1"])
async def test_a_premature_answer_is_removed_from_the_prompt_once_given(opened: Opened, key: str) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await open_unseen_request(chat)
        burst(chat, key, key)
        await chat.until(lambda: chat.tab.editor.text == key * 2)
        await chat.until("number or")
        await chat.press(key)
        await chat.until("(allowed: True)")
        assert chat.tab.editor.text == ""


async def test_a_letter_typed_earlier_stays_when_another_key_answers(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await open_unseen_request(chat)
        burst(chat, "n")
        await chat.until(lambda: chat.tab.editor.text == "n")
        await chat.until("number or")
        await chat.press("enter")
        await chat.until("(allowed: True)")
        assert chat.tab.editor.text == "n"


async def test_a_held_down_key_types_nothing(opened: Opened) -> None:
    async with opened(ScriptedAgent([twice])) as chat:
        await chat.send("go")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("(allowed: True)")
        panel = await open_unseen_request(chat)
        burst(chat, *"yyyy", "down")
        await chat.until(lambda: panel.cursor == 1)
        assert chat.tab.editor.text == ""
        assert len(chat.tab.controller.permissions) == 1


async def test_arrow_keys_and_esc_work_at_once(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        panel = await open_unseen_request(chat)
        burst(chat, "down")
        await chat.until(lambda: panel.cursor == 1)
        panel.hold_on()
        burst(chat, "escape")
        await chat.until(lambda: not chat.tab.controller.permissions)


async def test_text_typed_before_a_form_above_a_permission_request_goes_to_the_prompt(opened: Opened) -> None:
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
        await chat.until(lambda: chat.tab.editor.text == "wait")
