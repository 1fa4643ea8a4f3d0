"""Titles of sessions, with and without a small model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import ScriptedModel, ScriptedResources

from accord.coder.agent import Coder
from accord.coder.models.base import Model, ModelError, Spent

Join = Callable[..., Any]


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[coder]\nsmall_model = "test:small"\n')
    monkeypatch.setenv("ACCORD_CONFIG", str(config))


class Two(ScriptedResources):
    """Shared resources with a large and a small model."""

    def __init__(self, large: Model, small: Model) -> None:
        super().__init__(large)
        self.small = small

    async def model(self, cwd: str, id: str) -> Model:
        return self.small if id == "test:small" else self.scripted


async def titles(joined: Join, small: ScriptedModel) -> tuple[list[str], Any]:
    """Return the titles of a session whose first prompt is two lines, and its state."""
    agent = Coder(shared=Two(ScriptedModel(["Done."], ["Done."]), small))
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("fix it please\nthe parser fails on empty input")
        (state,) = agent._states.values()
        if state._titling is not None:
            await state._titling
        await session.prompt("and again")  # whatever was sent before has arrived
        return [session.transcript.title], state


async def test_a_title_is_the_first_line_of_the_prompt(joined: Join) -> None:
    small = ScriptedModel(["Never asked"])
    found, _ = await titles(joined, small)
    assert found == ["fix it please"]
    assert small.requests == []


@pytest.mark.usefixtures("configured")
async def test_the_small_model_writes_a_better_title_and_its_cost_counts(joined: Join) -> None:
    small = ScriptedModel(['"Fix parser for ', 'empty input"\n'], efforts=("low", "high"))
    small.spent = Spent(input=50, output=7, cost=0.25)
    found, state = await titles(joined, small)
    assert found == ["Fix parser for empty input"]
    assert state.cost == 0.25
    (request,) = small.requests
    assert (request.tools, request.effort) == ([], "low")


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("answer", [[ModelError("down", retry=True)], [""], ["\x1b[2J" + "word " * 100]])
async def test_a_small_model_that_fails_or_rambles_does_no_harm(joined: Join, answer: Any) -> None:
    (title,), _ = await titles(joined, ScriptedModel(answer))
    assert title == "fix it please" or (title.startswith("word") or "[2J" in title)
    assert len(title) < 70
    assert title.isprintable()


@pytest.mark.usefixtures("configured")
async def test_closing_the_session_stops_the_small_model(joined: Join) -> None:
    small = ScriptedModel([asyncio.Event()])
    agent = Coder(shared=Two(ScriptedModel(["Done."]), small))
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("fix it")
        await small.waiting.wait()
    assert small.closed_early == 1
