"""Agents whose tab is closed while they are being started, and those that fail in a way that nobody thought of."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chatting import PATIENCE, Launched, Memory, Opened

from accord.agent.agent import Agent
from accord.config.folders import data_folder
from accord.testing import ScriptedAgent
from accord.tui.link import Link


class Desk:
    """Hears of a link; nobody is asked anything."""

    def link_changed(self, link: Link) -> None:
        return


class Slow(Memory):
    """Takes its time to start an agent."""

    def __init__(self, cwd: Path) -> None:
        super().__init__(cwd, ScriptedAgent([]), frozenset([1]))
        self.is_at_it, self.may_go_on = threading.Event(), threading.Event()
        self.killed: list[str] = []

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        self.is_at_it.set()
        assert self.may_go_on.wait(PATIENCE)
        launched: Any = super().launch(target, on_stderr, progress)
        launched.kill = lambda: self.killed.append(launched.name)
        return launched


async def test_an_agent_that_comes_after_its_link_was_closed_is_ended(folders: Path) -> None:
    outside = Slow(folders)
    link = Link(outside, "slow", Desk())  # type: ignore[arg-type]
    opening = asyncio.ensure_future(link.open())
    await asyncio.to_thread(outside.is_at_it.wait, PATIENCE)
    await link.close()
    outside.may_go_on.set()
    await opening
    assert outside.killed == ["slow"]
    assert link.agent is None and link.state == "failed"


async def test_an_agent_whose_start_nobody_waits_for_any_more_is_ended(folders: Path) -> None:
    outside = Slow(folders)
    link = Link(outside, "slow", Desk())  # type: ignore[arg-type]
    opening = asyncio.ensure_future(link.open())
    await asyncio.to_thread(outside.is_at_it.wait, PATIENCE)
    opening.cancel()
    await asyncio.wait([opening])
    await link.close()
    outside.may_go_on.set()
    async with asyncio.timeout(PATIENCE):
        while not outside.killed:  # noqa: ASYNC110  # it is done by a thread
            await asyncio.sleep(0.01)


async def test_an_agent_that_does_not_shake_hands_is_ended_with_its_link(folders: Path) -> None:
    is_connecting = asyncio.Event()

    async def never() -> Any:
        is_connecting.set()
        await asyncio.Event().wait()

    class Mute(Memory):
        def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
            return Launched("mute", never)  # type: ignore[arg-type]

    link = Link(Mute(folders, ScriptedAgent([]), frozenset([1])), "mute", Desk())  # type: ignore[arg-type]
    opening = asyncio.ensure_future(link.open())
    await is_connecting.wait()
    async with asyncio.timeout(PATIENCE):
        await link.close()
        await opening
    assert link.agent is None and link.state == "failed"


async def test_a_start_that_fails_as_nobody_thought_of_is_told_in_words(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch(self: Memory, *more: Any) -> Any:
        raise ValueError("odd")

    monkeypatch.setattr(Memory, "launch", launch)
    async with opened(Agent, wait=False) as chat:
        await chat.until("ValueError: odd")
        assert chat.pane.talk.state == "gone"
        assert "ValueError: odd" in (data_folder() / "chat" / "faults.log").read_text()
