"""What an agent asks above everything else takes no keys that are being typed for something else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chatting import Moments, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.screens.form import FormScreen
from accord.tui.screens.picker import Asking

FIELDS: dict[str, Any] = {"type": "object", "properties": {"sure": {"type": "string"}}}


def asking(now: asyncio.Event) -> ScriptedAgent:
    async def ask(turn: Turn) -> None:
        await now.wait()
        reply = await turn.ask("Delete everything?", FIELDS)
        await turn.say(f"it was {reply.action}: {reply.content}")

    return ScriptedAgent([ask])


async def test_a_form_does_not_come_while_the_user_types(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.tui.desk.LONG_PAUSE", 4.0)
    now = asyncio.Event()
    async with opened(asking(now)) as chat:
        await chat.send("go")
        await chat.type("please look")
        now.set()
        await chat.type(" at the tests and then go on")
        assert not isinstance(chat.app.screen, FormScreen)
        assert chat.pane.editor.text == "please look at the tests and then go on"
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        assert chat.pane.editor.text == "please look at the tests and then go on"


async def test_what_is_typed_before_a_form_was_seen_is_for_the_prompt(
    opened: Opened, moments: Moments, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = asyncio.Event()
    monkeypatch.setattr("accord.tui.desk.LONG_PAUSE", 0.0)
    moments.last()
    async with opened(asking(now)) as chat:
        await chat.send("go")
        await chat.type("plea")
        now.set()
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        await chat.type("sexx")
        await chat.press("backspace", "backspace", "enter", "escape", "ctrl+s")
        chat.app.post_message(events.Paste(" and so on"))
        await chat.until(lambda: chat.pane.editor.text == "please and so on")
        moments.end()
        await chat.until("ctrl+s sends")
        await chat.type("no")
        await chat.press("enter")
        await chat.until("it was accept: {'sure': 'no'}")


async def test_what_is_typed_into_another_field_stays_there(
    opened: Opened, moments: Moments, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = asyncio.Event()
    moments.last()
    monkeypatch.setattr("accord.tui.desk.LONG_PAUSE", 0.0)
    async with opened(asking(now)) as chat:
        await chat.send("go")
        title = asyncio.ensure_future(chat.app.answer_of(Asking("A title", "")))
        await chat.until("A title")
        await chat.type("half")
        now.set()
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        await chat.type("way")
        moments.end()
        await chat.until("ctrl+s sends")
        await chat.press("escape")
        await chat.until("it was cancel")
        await chat.press("enter")
        assert await title == "halfway"


async def test_a_form_below_another_is_seen_before_it_takes_keys(opened: Opened, moments: Moments) -> None:
    async def ask(turn: Turn) -> None:
        replies = await asyncio.gather(turn.ask("First?", FIELDS), turn.ask("Second?", FIELDS))
        await turn.say(f"it was {[reply.content for reply in replies]}")

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until(lambda: len(chat.app.screen_stack) == 3)
        await chat.until("ctrl+s sends")
        moments.last()
        await chat.press("enter", "enter", "enter")
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        await chat.until("keys count in a moment")
