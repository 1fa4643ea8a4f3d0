"""Quitting doesn't wait for agents that exit slowly: they are stopped in the background."""

from __future__ import annotations

import asyncio

import pytest
from support.tui_driver import Opened

from accord.testing import ScriptedAgent
from accord.tui import agents
from accord.tui.agent.process import AgentProcess


async def test_quitting_leaves_an_agent_that_does_not_exit_in_the_background(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[AgentProcess] = []
    close = AgentProcess.close

    async def endless(process: AgentProcess) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(agents, "QUIT_SECONDS", 0.01)
    monkeypatch.setattr(AgentProcess, "close", endless)
    monkeypatch.setattr(AgentProcess, "leave", lambda process: left.append(process))
    async with opened(ScriptedAgent([])) as chat:
        processes = list(chat.app.agents.processes)

    assert left == processes
    for process in processes:
        await close(process)
