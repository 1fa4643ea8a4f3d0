"""Sessions under random use, in any order: prompts, cancels, modes, models, forks, reopening; the same rules hold."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.history_checks import faults
from coder.scripted_model import ScriptedModel
from coder.test_loop import Change, Look, call
from coder.test_session import ObservableCoder

from accord.coder.models.base import ModelError, Spent, ThoughtPiece
from accord.coder.tools.ask_user import AskUser, SwitchMode
from accord.coder.tools.edit_file import EditFile, WriteFile
from accord.coder.tools.plan import SetPlan
from accord.coder.tools.read_file import ReadFile
from accord.coder.tools.run_command import RunCommand
from accord.errors import AccordError
from accord.store.sqlite import SqliteStore

Join = Callable[..., Any]
TOOLS = (Look(), Change(), ReadFile(), WriteFile(), EditFile(), RunCommand(), SetPlan(), AskUser(), SwitchMode())


class Endless(ScriptedModel):
    """A model whose answers never repeat."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(context=4000)
        self.dice = dice
        self.images = True

    async def stream(self, request: Any) -> Any:
        dice = self.dice
        self.spent = Spent(input=dice.choice([0, 50, 3500]), output=dice.randint(0, 300), cost=0.001)
        self.answers = [[self._step(dice) for _ in range(dice.randint(1, 4))]] if dice.random() < 0.8 else [["Done."]]
        assert faults(request.messages) == []
        async for piece in super().stream(request):
            if dice.random() < 0.3:
                await asyncio.sleep(0)
            yield piece

    def _step(self, dice: random.Random) -> Any:
        id = str(dice.randint(0, 5))
        steps: list[Callable[[], Any]] = [
            lambda: "Some words. " * dice.randint(0, 40),
            lambda: "\n",
            lambda: ThoughtPiece(text="Hm."),
            lambda: call(id=id, path=dice.choice(["a.txt", "bad", "bug"])),
            lambda: call("change", id=id),
            lambda: call("read_file", id=id, file_path=dice.choice(["a.txt", "nowhere", "../x", ""])),
            lambda: call(
                "write_file", id=id, file_path=dice.choice(["a.txt", "b/c.txt", "accord.toml"]), content="# one\n" * 99
            ),
            lambda: call(
                "edit_file",
                id=id,
                file_path="a.txt",
                edits=[{"old_string": "one", "new_string": "two", "replace_all": True}],
            ),
            lambda: call("run_command", id=id, command=dice.choice(["true", "echo hello; exit 3", "sleep 0.2"])),
            lambda: call("set_plan", id=id, steps=[{"content": "rest"}]),
            lambda: call("ask_user", id=id, question="Well?"),
            lambda: call("switch_mode", id=id, mode=dice.choice(["ask", "code", "architect"])),
            lambda: call("nothing", id=id),
            lambda: ModelError("busy", retry=True),
            lambda: ModelError("full", kind="context"),
            lambda: ModelError("broken"),
            lambda: "<length>",
            lambda: "<refusal>",
        ]
        return dice.choice(steps)()


async def play(join: Join, seed: int, folder: Path) -> None:
    dice = random.Random(seed)
    store = SqliteStore(folder / f"{seed}.sqlite")
    agent = ObservableCoder(Endless(dice), store, *TOOLS)

    async def permit(request: Any) -> Any:
        if dice.random() < 0.3:
            await asyncio.sleep(0.001)
        return dice.choice([*(option.id for option in request.options), None])

    async with join(agent, permissions=permit, unstable=True) as client:
        session = await client.new_session()
        for _ in range(12):
            state = agent.state_of(session.id)
            with contextlib.suppress(AccordError):
                match dice.randint(0, 9):
                    case 0:
                        await session.set_mode(dice.choice(["ask", "code", "architect"]))
                    case 1:
                        await session.set_option("model", "test:scripted")
                    case 2:
                        session = await client.load_session(session.id)
                    case 3:
                        session = await session.fork()
                    case _:
                        text = dice.choice(["go", "/plan it", "/compact", "/usage", "/undo", "/undo back", " ", "more"])
                        turns = [session.prompt(text), *([session.prompt("and this")] if dice.random() < 0.3 else [])]
                        if dice.random() < 0.5:
                            await asyncio.sleep(dice.choice([0, 0, 0.001, 0.01, 0.05]))
                            await session.cancel()
                        done = await asyncio.gather(*turns, return_exceptions=True)
                        for turn in done:
                            assert not isinstance(turn, Exception) or isinstance(turn, AccordError), turn
                            assert "failed:" not in str(turn), turn
            state = agent.state_of(session.id)
            assert faults(state.history) == [], f"seed {seed}"
            assert not state.session.open_tools and not state.planning, f"seed {seed}"
        live = {id: list(agent.state_of(id).history) for id in agent.opened if not agent.opened[id].closed}
    again = ObservableCoder(Endless(dice), store, *TOOLS)
    async with join(again) as client:
        for id, history in live.items():
            await client.load_session(id)
            assert list(again.state_of(id).history) == history, f"seed {seed}"
    await store.close()


@pytest.mark.parametrize("seed", range(6))
async def test_a_session_stays_consistent_after_any_sequence_of_actions(
    joined: Join, tmp_path: Path, project: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    (project / "a.txt").write_text("one\n")
    async with asyncio.timeout(300):
        await play(joined, seed, tmp_path)
    unexpected = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert [words for words in unexpected if words != "look failed"] == []
