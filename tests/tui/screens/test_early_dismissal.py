"""Screens that load bit by bit can be dismissed at any moment without an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.tui_driver import Chat, Memory, Opened
from textual.widgets import Input

from accord.client.agent import ConnectedAgent
from accord.model.session import SessionInfo
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent
from accord.tui.errors import run_in_background
from accord.tui.host import Finding
from accord.tui.screens.diagnosis import FindingsScreen
from accord.tui.screens.picker import Picker, Row
from accord.tui.screens.sessions import SessionsScreen


class Keeping(ScriptedAgent):
    store = MemoryStore()


class Slow(Picker):
    """A list that never finishes loading."""

    async def search(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.set_rows([Row("a", self.query_one(Input).value or "row")])

    def on_mount(self) -> None:
        super().on_mount()
        run_in_background(self, self.search())


def faults(chat: Chat) -> list[str]:
    return [each.message for each in chat.notifications if "fault" in each.message]


@pytest.mark.parametrize("key", ["escape", "enter"])
async def test_the_session_list_can_be_dismissed_while_it_loads(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    async def many(agent: ConnectedAgent, cwd: str | None = None) -> AsyncIterator[SessionInfo]:
        for number in range(100_000):
            yield SessionInfo(id=f"s{number % 200}", cwd=str(cwd), title=f"session {number % 200}")
            if number >= 50:
                await asyncio.sleep(0)

    monkeypatch.setattr(ConnectedAgent, "list_sessions", many)
    async with opened(Keeping()) as chat:
        before = chat.app.screen
        chat.app.action_sessions()
        await chat.until("session 1")
        await chat.press(key)
        await chat.until(lambda: chat.app.screen is before)
        await chat.until(lambda: not any(isinstance(each.node, SessionsScreen) for each in chat.app.workers))
        assert faults(chat) == []


async def test_dismissing_a_list_ends_its_background_work(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        answer = asyncio.ensure_future(chat.app.dialogs.show(Slow("Slow", [])))
        await chat.until("row")
        await chat.press("escape")
        assert await answer is None
        await chat.until(lambda: not any(isinstance(each.node, Slow) for each in chat.app.workers))
        assert faults(chat) == []


async def test_the_doctor_can_be_dismissed_while_it_runs(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async def diagnose(memory: Memory, target: Any) -> AsyncIterator[Finding]:
        while True:
            yield Finding(True, "command", "it is there")
            await asyncio.sleep(0)

    monkeypatch.setattr(Memory, "diagnose", diagnose)
    async with opened(ScriptedAgent()) as chat:
        await chat.press("alt+d")
        await chat.until("it is there")
        await chat.press("escape")
        await chat.until(lambda: not isinstance(chat.app.screen, FindingsScreen))
        assert faults(chat) == []
