"""Agents that are closed while they start, and starts that fail with a bug."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import TIMEOUT_SECONDS, Launched, Memory, Opened

from accord.agent.agent import Agent
from accord.config.directories import data_directory
from accord.testing import ScriptedAgent
from accord.tui.agent.process import AgentProcess


class Delegate:
    """A delegate that answers no questions."""

    def process_changed(self, process: AgentProcess) -> None:
        return


class Slow(Memory):
    """A host whose agent starts slowly."""

    def __init__(self, cwd: Path) -> None:
        super().__init__(cwd, ScriptedAgent([]), frozenset([1]))
        self.is_at_it, self.may_go_on = threading.Event(), threading.Event()
        self.killed: list[str] = []

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        self.is_at_it.set()
        assert self.may_go_on.wait(TIMEOUT_SECONDS)
        launched: Any = super().launch(target, on_stderr, progress)
        launched.kill = lambda: self.killed.append(launched.name)
        return launched


async def test_an_agent_that_starts_after_its_process_was_closed_is_ended(folders: Path) -> None:
    host = Slow(folders)
    process = AgentProcess(host, "slow", Delegate())  # type: ignore[arg-type]
    opening = asyncio.ensure_future(process.open())
    await asyncio.to_thread(host.is_at_it.wait, TIMEOUT_SECONDS)
    await process.close()
    host.may_go_on.set()
    await opening
    assert host.killed == ["slow"]
    assert process.agent is None and process.state == "failed"


async def test_an_agent_whose_start_was_cancelled_is_ended(folders: Path) -> None:
    host = Slow(folders)
    process = AgentProcess(host, "slow", Delegate())  # type: ignore[arg-type]
    opening = asyncio.ensure_future(process.open())
    await asyncio.to_thread(host.is_at_it.wait, TIMEOUT_SECONDS)
    opening.cancel()
    await asyncio.wait([opening])
    await process.close()
    host.may_go_on.set()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not host.killed:  # noqa: ASYNC110  # it is done by a thread
            await asyncio.sleep(0.01)


async def test_an_agent_that_does_not_respond_to_initialize_is_ended_on_close(folders: Path) -> None:
    is_connecting = asyncio.Event()

    async def never() -> Any:
        is_connecting.set()
        await asyncio.Event().wait()

    class Mute(Memory):
        def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
            return Launched("mute", never)  # type: ignore[arg-type]

    process = AgentProcess(Mute(folders, ScriptedAgent([]), frozenset([1])), "mute", Delegate())  # type: ignore[arg-type]
    opening = asyncio.ensure_future(process.open())
    await is_connecting.wait()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await process.close()
        await opening
    assert process.agent is None and process.state == "failed"


async def test_a_start_that_fails_with_a_bug_shows_an_error_message(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch(self: Memory, *more: Any) -> Any:
        raise ValueError("odd")

    monkeypatch.setattr(Memory, "launch", launch)
    async with opened(Agent, wait=False) as chat:
        await chat.until("ValueError: odd")
        assert chat.tab.controller.state == "gone"
        assert "ValueError: odd" in (data_directory() / "chat" / "errors.log").read_text()
