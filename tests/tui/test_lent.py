"""What the terminal client lends an agent: a workspace that is made on demand is made before the first turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from chatting import Memory, Opened

from accord.cli.lending import LazyWorkspace
from accord.client.local import LocalWorkspace
from accord.errors import RuleError
from accord.policy.engine import Policy
from accord.testing import ScriptedAgent
from accord.tui.lent import Lent


async def test_what_is_lent_is_there_from_then_on_and_made_once(tmp_path: Path) -> None:
    made: list[LocalWorkspace] = []

    def make() -> LocalWorkspace:
        made.append(LocalWorkspace(tmp_path, policy=Policy(tmp_path)))
        return made[-1]

    lent = Lent()
    assert lent.terminal("1") is None and lent.checkpoints("session") is None
    lent.lend(LazyWorkspace(tmp_path, make))
    assert len(made) == 1
    assert lent.checkpoints("session") is not None
    assert lent.terminal("1") is None and not lent.runs("1")
    assert len(made) == 1


async def test_a_rule_that_cannot_be_read_is_told_before_anything_is_sent(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> LocalWorkspace:
        raise RuleError("rule 3: “perhaps” is no effect")

    monkeypatch.setattr(Memory, "workspace", lambda self, launch, ask, told: LazyWorkspace(self.cwd, make))
    agent = ScriptedAgent()
    async with opened(agent, wait=False) as chat:
        await chat.until("rule 3: “perhaps” is no effect")
        assert chat.pane.talk.link.state == "failed"
