"""Questions of an agent accept no key or click before the user can have seen them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.tui_driver import Chat, Moments, Opened
from textual.app import App

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.panels.permission import PermissionPanel
from accord.tui.screens.picker import Picker
from accord.tui.terminal.input_guard import InputDelay

ALWAYS_FIRST = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


async def thrice(turn: Turn) -> None:
    """Send three permission requests at once."""

    async def one(number: int) -> None:
        allowed = await turn.permit(f"Do thing {number}", kind="edit")
        await turn.say(f"({number} {bool(allowed)})")

    await asyncio.gather(*(one(number) for number in (1, 2, 3)))


async def once(turn: Turn) -> None:
    allowed = await turn.permit("Do thing 1", kind="edit")
    await turn.say(f"({bool(allowed)})")


def panel(chat: Chat) -> PermissionPanel:
    return chat.tab.query_one(PermissionPanel)


async def test_a_held_down_key_answers_only_one_request(opened: Opened, moments: Moments) -> None:
    async with opened(ScriptedAgent([thrice])) as chat:
        await chat.send("go")
        await chat.until("Permission needed (1 of 3)")
        await chat.until("number or")
        moments.last()
        await chat.press("y")
        await chat.until("Permission needed (2 of 3)")
        await chat.press(*"yyyy")
        assert len(chat.tab.controller.permissions) == 2
        moments.end()
        await chat.until("number or")
        await chat.press("y")
        await chat.until("Do thing 3")


async def test_enter_and_clicks_answer_only_a_request_that_was_visible(opened: Opened, moments: Moments) -> None:
    moments.last()
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await chat.until(lambda: chat.tab.query(PermissionPanel))
        chat.tab.query_one(PermissionPanel).focus()
        await chat.until("keys unlock in a moment")
        row = next(place for place, line in enumerate(chat.lines) if "1. " in line)
        await chat.press("enter", "1")
        await chat.pilot.click(offset=(6, row))
        await chat.pilot.pause()
        assert len(chat.tab.controller.permissions) == 1
        moments.end()
        await chat.until("number or")
        row = next(place for place, line in enumerate(chat.lines) if "1. " in line)
        await chat.pilot.click(offset=(6, row))
        await chat.until("(True)")


async def test_a_key_that_closes_a_screen_does_not_answer_the_request_below(opened: Opened, moments: Moments) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.send("go")
        await chat.until("number or")
        moments.last()
        chat.app.action_keys()
        await chat.pilot.pause()
        await chat.press("escape", "y", "enter")
        assert len(chat.tab.controller.permissions) == 1


async def test_the_cursor_starts_at_a_one_time_answer(opened: Opened) -> None:
    async def ask(turn: Turn) -> None:
        call = {"toolCallId": "a", "title": "Run", "kind": "execute", "rawInput": {"command": "ls"}}
        asked = {"sessionId": turn.session.id, "toolCall": call, "options": ALWAYS_FIRST}
        await turn.request("session/request_permission", asked)

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until("❯ 2. Once")


async def test_other_keys_work_while_a_request_is_pending(opened: Opened) -> None:
    async with opened(ScriptedAgent([once])) as chat:
        await chat.app.action_new_session()
        await chat.ready()
        await chat.send("go")
        await chat.until("number or")
        asking = chat.tab
        await chat.press("f8")
        await chat.until(lambda: chat.tab is not asking)
        await chat.press("f7")
        await chat.until(lambda: isinstance(chat.app.focused, PermissionPanel))
        await chat.press("f12")
        await chat.until(lambda: isinstance(chat.app.screen, Picker))
        await chat.until("Kill the agent?")


class Owner(App[None]):
    """An application that reports when the callback of a timer is queued."""

    def __init__(self) -> None:
        super().__init__()
        self.queued = asyncio.Event()

    def call_next(self, callback: Any, *args: Any, **kwargs: Any) -> None:
        super().call_next(callback, *args, **kwargs)
        self.queued.set()


async def test_a_delay_that_is_restarted_at_its_very_end_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Owner()
    delay = InputDelay(app, lambda: None)

    async def restart() -> None:
        """Restart the delay while the application, which runs this, can't handle the end of the first one."""
        monkeypatch.setattr("accord.tui.terminal.input_guard.SEEN_SECONDS", 0.001)
        app.queued.clear()
        delay.begin()
        await app.queued.wait()
        monkeypatch.setattr("accord.tui.terminal.input_guard.SEEN_SECONDS", 600.0)
        delay.begin()

    async with app.run_test() as pilot:
        app.call_later(restart)
        await pilot.pause()
        await pilot.pause()
        assert not delay.is_over
