"""The workspace that the terminal client lends: created on demand, before the first turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import Memory, Opened

from accord.cli.support.workspace import LazyWorkspace
from accord.client.local_workspace import LocalWorkspace
from accord.errors import RuleError
from accord.policy.engine import Policy
from accord.testing import ScriptedAgent
from accord.tui.agent.workspace import AgentWorkspace, unwrap_shell
from accord.tui.host import HostWorkspace


async def test_the_workspace_is_created_once_on_first_use(tmp_path: Path) -> None:
    made: list[LocalWorkspace] = []

    def make() -> LocalWorkspace:
        made.append(LocalWorkspace(tmp_path, policy=Policy(tmp_path)))
        return made[-1]

    lent = AgentWorkspace()
    assert lent.terminal("1") is None and lent.open_checkpoints("session") is None
    lent.attach(LazyWorkspace(tmp_path, make).local)
    assert len(made) == 1
    assert lent.open_checkpoints("session") is not None
    assert lent.terminal("1") is None and not lent.is_running("1")
    assert len(made) == 1


async def test_an_invalid_rule_is_reported_before_anything_is_sent(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> LocalWorkspace:
        raise RuleError("rule 3: “perhaps” is no effect")

    def workspace(self: Memory, launch: Any, ask: Any, told: Any) -> HostWorkspace:
        lazy = LazyWorkspace(self.cwd, make)
        return HostWorkspace(lazy, lazy.local)

    monkeypatch.setattr(Memory, "workspace", workspace)
    agent = ScriptedAgent()
    async with opened(agent, wait=False) as chat:
        await chat.until("rule 3: “perhaps” is no effect")
        assert chat.tab.controller.process.state == "failed"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/bin/bash -c 'make all && ls'", "make all && ls"),
        ("sh -c ls", "ls"),
        ("python -c 'print(1)'", "python -c 'print(1)'"),
        ("bash -c 'echo $0' name", "bash -c 'echo $0' name"),
        ("bash -c 'open", "bash -c 'open"),
    ],
)
def test_a_line_for_a_shell_is_shown_without_the_shell(command: str, shown: str) -> None:
    assert unwrap_shell(command) == shown
