"""A cancel may come at any instant: the turn ends as cancelled, nothing is left running, and the session goes on."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

import pytest
from coder.scripted import Kit, ScriptedModel
from coder.test_loop import Change, Look, call
from coder.whole import faults

from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.coder.coder import Coder
from accord.coder.models.base import ModelError, Spent, ThoughtPiece
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient

Join = Callable[..., Any]


class Pause(Awaitable[None]):
    """A client that is slow: whoever says something waits for a moment."""

    def __await__(self) -> Generator[Any, None, None]:
        yield


@types.coroutine
def stepped(work: Coroutine[Any, Any, Any], step: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Does the work, and calls `step` whenever it is about to wait."""
    error: BaseException | None = None
    while True:
        try:
            waits_for = work.send(None) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value
        step()
        error = None
        try:
            yield waits_for
        except BaseException as raised:
            error = raised


class Interrupted(Coder):
    """Cancels its first turn by itself, at one of the instants at which it waits."""

    at = 0
    steps = 0
    opened: Session

    async def session_opened(self, session: Session, how: Any) -> None:
        self.opened = session
        await super().session_opened(session, how)

    async def prompt(self, turn: Turn) -> Any:
        if turn.text != "go":
            return await super().prompt(turn)

        def step() -> None:
            self.steps += 1
            if self.steps == self.at:
                turn.session.turns.cancel()

        return await stepped(super().prompt(turn), step)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every update takes a moment to leave, so that there is an instant after each."""
    send = Session.send

    def sent(self: Session, lines: bytes) -> Awaitable[None]:
        send(self, lines)
        return Pause()

    monkeypatch.setattr(Session, "send", sent)


def scripted() -> ScriptedModel:
    """Thinks, speaks, calls what looks and what changes, has trouble, is shortened, and ends."""
    model = ScriptedModel(
        [ThoughtPiece(text="Hm."), "Let me ", "see.", call(id="1"), call(id="2", path="b"), call("change", id="3")],
        ["\n", ModelError("busy", retry=True)],
        ["And ", call("change", id="4"), call(id="5", path="bad"), call("nothing", id="6")],
        [ModelError("too long", kind="context")],
        ["A summary."],
        ["Done."],
    )
    model.spent = Spent(input=10, output=5, cost=0.5)
    return model


async def interrupted(join: Join, at: int, model: ScriptedModel, tools: Any, client: Any) -> tuple[Interrupted, str]:
    """One session whose first turn is cancelled at its `at`-th wait, and which then goes on."""
    store = MemoryStore()
    agent = Interrupted(store=store, equipment=Kit(model, tools))
    agent.at = at
    async with asyncio.timeout(20), join(agent, client) as connected:
        session = await connected.new_session()
        before = asyncio.all_tasks()
        turn = await session.prompt("go")
        where = f"cancelled at wait {at} of version {join.version}"
        desk = agent.desk(agent.opened)
        assert faults(desk.history) == [], where
        assert agent.opened.open_tools == {}, where
        if turn.stop_reason == "cancelled":
            left = {task for task in asyncio.all_tasks() - before if task.get_name() != "accord handler"}
            if left:
                _, left = await asyncio.wait(left, timeout=5)
            assert not left, where
            assert {each.status for each in turn.tool_calls} <= {"cancelled", "failed", "completed"}, where
        model.answers.clear()
        again = await session.prompt("and now?")
        assert (again.stop_reason, again.text) == ("end_turn", "done"), where
        assert faults(desk.history) == [] and faults(model.requests[-1].messages) == [], where
        live, id = list(desk.history), session.id
    async with join(Interrupted(store=store, equipment=Kit(ScriptedModel(), tools)), client) as connected:
        await connected.load_session(id)
    restored = Interrupted(store=store, equipment=Kit(ScriptedModel(), tools))
    async with join(restored, client) as connected:
        await connected.load_session(id)
        assert restored.desk(restored.opened).history == live, where
    return agent, turn.stop_reason


async def test_wherever_a_turn_waits_it_can_be_cancelled(joined: Join, slow: None) -> None:
    for at in range(1, 1000):
        client = ScriptedClient(permissions=[True])
        agent, reason = await interrupted(joined, at, scripted(), [Look(), Change()], client)
        if agent.steps < at:
            assert reason == "end_turn"
            break
        assert reason == "cancelled", f"at wait {at}"
    assert at > 30
