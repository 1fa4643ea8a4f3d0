"""Turns in any interleaving of prompts, words, questions, cancels, late words and a crash, both sides real.

Whatever happens in whatever order: every turn ends exactly once and with its own reason, no word strays into another
turn, no question stays open, no task is left behind, and the session continues unless the agent is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.link import until

from accord import Agent, ConnectionClosed, RequestFailed, StateChanged, Text, Turn
from accord.agent.side import AgentSide
from accord.client.agent import ConnectedAgent
from accord.client.connect import connect
from accord.client.session import Session
from accord.client.turn import Turn as ClientTurn
from accord.transports.memory import pair

BOUND = 300.0


class Puppet(Agent):
    """Does in each turn what it is told to, and says whose word it is."""

    def __init__(self) -> None:
        self.strings: asyncio.Queue[str] = asyncio.Queue()
        self.session: Any = None
        self.asked = 0
        self.answered = 0
        self.did: dict[str, str] = {}
        """How each turn was ended here, by its prompt."""

    async def prompt(self, turn: Turn) -> str | None:
        self.session, name = turn.session, turn.text
        stubborn = False
        while True:
            try:
                pull = await self.strings.get()
                match pull:
                    case "say":
                        await turn.say(f"<{name}>", message_id=name)
                    case "think":
                        await turn.think(f"<{name}>")
                    case "tool":
                        async with turn.tool(name):
                            await turn.say(f"<{name}>", message_id=name)
                    case "leave a tool open":
                        await turn.tool(name).start()
                    case "permit":
                        self.asked += 1
                        try:
                            await turn.permit(name)
                        finally:
                            self.answered += 1
                    case "be stubborn":
                        stubborn = True
                    case "refuse":
                        return self._end(name, "refusal")
                    case "fail":
                        self._end(name, "error")
                        raise RequestFailed(name)
                    case "fail with what cannot be encoded":
                        self._end(name, "error")
                        raise RequestFailed(f"{name} \udce9", data={"path": object()})
                    case "end with what cannot be encoded":
                        self._end(name, "error")
                        turn.tokens = object()  # type: ignore[assignment]
                        return "end_turn"
                    case "finish":
                        return self._end(name, "end_turn")
            except asyncio.CancelledError:
                self._end(name, "cancelled")
                if stubborn:
                    await turn.say(f"<{name}>", message_id=name)
                    return "end_turn"
                raise

    def _end(self, name: str, how: str) -> str:
        self.did.setdefault(name, how)
        return how


class World:
    """Both sides, and what was done to them."""

    def __init__(self, client: ConnectedAgent, session: Session, puppet: Puppet, side: AgentSide) -> None:
        self.client, self.session, self.puppet, self.side = client, session, puppet, side
        self.turns: list[ClientTurn] = []
        self.readers: dict[int, asyncio.Task[list[Any]]] = {}
        self.crashed = False

    async def do(self, what: str) -> None:
        if self.crashed:
            return
        match what:
            case "prompt" if len(self.session.open_turns) < 3:
                turn = self.session.prompt(f"{len(self.turns)}")
                self.readers[len(self.turns)] = asyncio.ensure_future(_read(turn, None))
                self.turns.append(turn)
            case "prompt and leave" if len(self.session.open_turns) < 3:
                turn = self.session.prompt(f"{len(self.turns)}")
                self.readers[len(self.turns)] = asyncio.ensure_future(_read(turn, Text))
                self.turns.append(turn)
            case "cancel":
                await self.session.cancel()
            case "cancel the last":
                if self.turns:
                    await self.turns[-1].cancel()
            case "yes" | "no" | "never mind":
                _answer(self.pending, {"yes": True, "no": False, "never mind": None}[what])
            case "late":
                for number, turn in enumerate(self.turns):
                    if turn.ended and turn.text:
                        await self.puppet.session.say(f"<{number}>", message_id=f"{number}")
            case "wait":
                for _ in range(10):
                    await asyncio.sleep(0)
            case "crash":
                self.crashed = True
                await self.side.connection.transport.close()
            case pull if pull.startswith("agent: "):
                self.puppet.strings.put_nowait(pull.removeprefix("agent: "))

    pending: list[asyncio.Future[Any]]


def _answer(pending: list[asyncio.Future[Any]], decision: Any) -> None:
    while pending:
        question = pending.pop(0)
        if not question.done():
            question.set_result(decision)
            return


async def _read(turn: ClientTurn, until: type[Any] | None) -> list[Any]:
    """Read all events of a turn, or those up to the first of a kind. Raises the turn's error."""
    seen: list[Any] = []
    try:
        async for event in turn:
            seen.append(event)
            if until is not None and isinstance(event, until):
                break
    except (RequestFailed, ConnectionClosed) as error:
        seen.append(error)
    return seen


PULLS = ["say", "think", "tool", "leave a tool open", "permit", "be stubborn", "refuse", "fail", "finish"]
PULLS += ["fail with what cannot be encoded", "end with what cannot be encoded"]
DEEDS = ["prompt", "prompt and leave", "cancel", "cancel the last", "yes", "no", "never mind", "late", "wait"]
STORIES = st.lists(
    st.sampled_from([*DEEDS, "prompt", "wait", "wait", *(f"agent: {pull}" for pull in PULLS)]), max_size=40
)


@pytest.mark.req("V1-CANCEL-06", "V1-CANCEL-10", "V2-CANCEL-14", "V2-PROMPT-17", "V1-TOOL-11")
@pytest.mark.parametrize("version", [1, 2], ids=["v1", "v2"])
@given(story=STORIES, crash=st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_turn_ends_once_whatever_happens(version: int, story: list[str], crash: bool) -> None:
    asyncio.run(_within(BOUND, _live(version, [*story, "crash"] if crash else story)))


async def _within(seconds: float, story: Coroutine[Any, Any, None]) -> None:
    async with asyncio.timeout(seconds):
        await story


async def _live(version: int, story: list[str]) -> None:
    pending: list[asyncio.Future[Any]] = []

    async def decide(request: Any) -> Any:
        question: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        pending.append(question)
        return await question

    puppet = Puppet()
    ours, theirs = pair()
    side = AgentSide(puppet, theirs)
    serving = asyncio.ensure_future(side.serve())
    client = await connect(ours, versions={version}, permissions=decide)
    session = await client.new_session("/project")
    world = World(client, session, puppet, side)
    world.pending = pending
    for deed in story:
        await world.do(deed)
    if not world.crashed:
        await _wind_down(world)
    await _check(world)
    await client.close()
    await serving
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def _wind_down(world: World) -> None:
    """Finish every turn, then send one more prompt."""
    while any(not turn.ended for turn in world.turns):
        world.puppet.strings.put_nowait("finish")
        _answer(world.pending, True)
        for _ in range(5):
            await asyncio.sleep(0)
    while not world.puppet.strings.empty():
        world.puppet.strings.get_nowait()
    for pull in ("say", "finish"):
        world.puppet.strings.put_nowait(pull)
    last = await world.session.prompt("last")
    assert (last.text, last.stop_reason) == ("<last>", "end_turn")
    assert world.puppet.asked == world.puppet.answered


async def _check(world: World) -> None:
    for number, turn in enumerate(world.turns):
        seen = await world.readers[number]
        await until(lambda turn=turn: turn.ended)
        if world.crashed and turn.error is not None:
            assert isinstance(turn.error, (ConnectionClosed, RequestFailed))
            continue
        how = world.puppet.did.get(f"{number}")
        reason = "error" if isinstance(turn.error, RequestFailed) else turn.stop_reason
        # What never reached the agent, or was cancelled while it ended, was cancelled; else the agent's word counts.
        assert reason in {how, "cancelled"}, (number, reason, how)
        assert how is not None or reason == "cancelled"
        assert set(turn.text.split("<")) - {"", f"{number}>"} == set(), turn.text
        assert all(call.is_final for call in turn.tool_calls)
        ends = [event for event in seen if isinstance(event, StateChanged) and event.state == "idle"]
        assert len(ends) <= 1
    if not world.crashed:
        assert world.session.transcript.state == "idle"
