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
from accord.coder.session_title import MAX_TITLE

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


async def title(joined: Join, small: ScriptedModel) -> tuple[str, Any]:
    """Return the title of a session whose first prompt is two lines, and its state."""
    agent = Coder(shared=Two(ScriptedModel(["Done."], ["Done."]), small))
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("fix it please\nthe parser fails on empty input")
        (state,) = agent._states.values()
        if state.title.improving is not None:
            await state.title.improving
        await session.prompt("and again")  # everything sent before has arrived
        return session.transcript.title, state


async def test_a_title_is_the_first_line_of_the_prompt(joined: Join) -> None:
    small = ScriptedModel(["Never asked"])
    found, _ = await title(joined, small)
    assert found == "fix it please"
    assert small.requests == []


@pytest.mark.usefixtures("configured")
async def test_the_small_model_writes_a_better_title_and_its_cost_counts(joined: Join) -> None:
    small = ScriptedModel(['"Fix parser for ', 'empty input"\n'], efforts=("low", "high"))
    small.spent = Spent(input=50, output=7, cost=0.25)
    found, state = await title(joined, small)
    assert found == "Fix parser for empty input"
    assert state.usage.cost == 0.25
    (request,) = small.requests
    assert (request.tools, request.effort) == ([], "low")


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("answer", [[ModelError("down", retry=True)], [""]])
async def test_without_an_answer_of_the_small_model_the_first_line_stays(joined: Join, answer: Any) -> None:
    found, _ = await title(joined, ScriptedModel(answer))
    assert found == "fix it please"


@pytest.mark.usefixtures("configured")
async def test_a_long_answer_is_sanitized_and_truncated(joined: Join) -> None:
    found, _ = await title(joined, ScriptedModel(["\x1b[2J" + "word " * 100]))
    assert "word word word" in found and len(found) <= MAX_TITLE
    assert found.isprintable()


@pytest.mark.usefixtures("configured")
async def test_closing_the_session_stops_the_small_model(joined: Join) -> None:
    small = ScriptedModel([asyncio.Event()])
    agent = Coder(shared=Two(ScriptedModel(["Done."]), small))
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("fix it")
        await small.waiting.wait()
    assert small.closed_early == 1
