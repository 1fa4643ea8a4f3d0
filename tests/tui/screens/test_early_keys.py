"""Screens that an agent opens ignore keys typed for something else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.tui_driver import Moments, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.screens.form import FormScreen
from accord.tui.screens.picker import LineInputScreen

FIELDS: dict[str, Any] = {"type": "object", "properties": {"sure": {"type": "string"}}}


def make_agent(now: asyncio.Event) -> ScriptedAgent:
    async def ask(turn: Turn) -> None:
        await now.wait()
        reply = await turn.ask("Delete everything?", FIELDS)
        await turn.say(f"it was {reply.action}: {reply.content}")

    return ScriptedAgent([ask])


async def test_a_form_does_not_open_while_the_user_types(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.tui.questions.LONG_PAUSE_SECONDS", 10.0)
    now = asyncio.Event()
    async with opened(make_agent(now)) as chat:
        await chat.send("go")
        await chat.type("please look")
        now.set()
        await chat.type(" at the tests and then go on")
        assert not isinstance(chat.app.screen, FormScreen)
        assert chat.tab.editor.text == "please look at the tests and then go on"
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        assert chat.tab.editor.text == "please look at the tests and then go on"


async def test_text_typed_before_a_form_is_seen_goes_to_the_prompt(
    opened: Opened, moments: Moments, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = asyncio.Event()
    monkeypatch.setattr("accord.tui.questions.LONG_PAUSE_SECONDS", 0.0)
    moments.last()
    async with opened(make_agent(now)) as chat:
        await chat.send("go")
        await chat.type("plea")
        now.set()
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        await chat.type("sexx")
        await chat.press("backspace", "backspace", "enter", "escape", "ctrl+s")
        chat.app.post_message(events.Paste(" and so on"))
        await chat.until(lambda: chat.tab.editor.text == "please and so on")
        moments.end()
        await chat.until("ctrl+s send")
        await chat.type("no")
        await chat.press("enter")
        await chat.until("it was accept: {'sure': 'no'}")


async def test_text_typed_into_another_field_stays_there(
    opened: Opened, moments: Moments, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = asyncio.Event()
    moments.last()
    monkeypatch.setattr("accord.tui.questions.LONG_PAUSE_SECONDS", 0.0)
    async with opened(make_agent(now)) as chat:
        await chat.send("go")
        title = asyncio.ensure_future(chat.app.dialogs.show(LineInputScreen("A title", "")))
        await chat.until("A title")
        await chat.type("half")
        now.set()
        await chat.until(lambda: isinstance(chat.app.screen, FormScreen))
        await chat.type("way")
        moments.end()
        await chat.until("ctrl+s send")
        await chat.press("escape")
        await chat.until("it was cancel")
        await chat.press("enter")
        assert await title == "halfway"


async def test_a_form_below_another_ignores_keys_until_it_is_seen(opened: Opened, moments: Moments) -> None:
    async def ask(turn: Turn) -> None:
        replies = await asyncio.gather(turn.ask("First?", FIELDS), turn.ask("Second?", FIELDS))
        await turn.say(f"it was {[reply.content for reply in replies]}")

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until(lambda: len(chat.app.screen_stack) == 3)
        await chat.until("ctrl+s send")
        moments.last()
        await chat.press("enter", "enter", "enter")
        await chat.until(lambda: len(chat.app.screen_stack) == 2)
        await chat.until("keys unlock in a moment")
