"""Work that an agent starts without a prompt: reported while it runs, and cancelled by the user."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from support.link import Link
from support.wire_client import begin_session

from accord import (
    Agent,
    AgentSession,
    Event,
    InvalidValue,
    LocalProtocolError,
    StateChanged,
    Text,
    Tokens,
    ToolCall,
    Turn,
    UsageError,
)
from accord.testing import wire_client

META = {"example.org/job": "nightly"}


class Scheduler(Agent):
    """Keeps its session, so that a test can start work in it."""

    unstable = True
    session: AgentSession

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def session_opened(self, session: AgentSession, how: Any) -> None:
        self.session = session

    async def prompt(self, turn: Turn) -> None:
        await turn.say("answered")
        if turn.text == "wait":
            await self.go.wait()

    async def work(self, *, fail: bool = False) -> None:
        async with self.session.work(meta=META) as work:
            await self.session.say("done by itself")
            work.tokens = Tokens(total=3, input=1, output=2)
            if fail:
                raise OSError("disk full")


async def turn_ended(agent: Scheduler) -> None:
    """Wait for the end of the turn, whatever else is running."""
    entry = agent.session.turns.running
    if entry is not None:
        await entry.until_ended()


def states(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(event.state, event.stop_reason) for event in events if isinstance(event, StateChanged)]


@pytest.mark.feature("work without a prompt", "agent", "client")
@pytest.mark.req("V2-PROMPT-14", "V2-PROMPT-15", "V2-PROMPT-16")
async def test_work_without_a_prompt_is_reported_from_start_to_end(link: Link, version: int) -> None:
    agent = Scheduler()
    async with link(agent) as client:
        session = await client.new_session()
        async with session.events() as events:
            await agent.work()
            told = [await anext(events) for _ in range(3 if version == 2 else 1)]
        turn = await session.prompt("hi")

    assert [event.text for event in told if isinstance(event, Text)] == ["done by itself"]
    if version == 2:
        assert states(told) == [("running", None), ("idle", "end_turn")]
        assert [event.meta for event in told if isinstance(event, StateChanged)] == [META, META]
        assert session.transcript.state == "idle"
    assert turn.text == "answered"


async def test_an_error_ends_the_work_and_is_raised() -> None:
    agent = Scheduler()
    async with wire_client(agent) as peer:
        await begin_session(peer, 2)
        with pytest.raises(OSError, match="disk full"):
            await agent.work(fail=True)
        await peer.quiet()

    running, _, idle = peer.updates
    assert (running["state"], idle["state"], idle["stopReason"]) == ("running", "idle", "error")
    assert "disk full" in idle["error"]["message"]
    assert idle["usage"]["totalTokens"] == 3


@pytest.mark.req("V2-CANCEL-02")
async def test_the_user_cancels_work_and_the_program_continues_after_it(link: Link, version: int) -> None:
    agent, after = Scheduler(), []

    async def run_job() -> None:
        async with agent.session.work() as work, agent.session.tool("Index"):
            await agent.session.say("working")
            await asyncio.Event().wait()
        after.append((work.cancelled, asyncio.current_task().cancelling()))  # type: ignore[union-attr]

    async with link(agent) as client:
        session = await client.new_session()
        async with session.events() as events:
            job = asyncio.ensure_future(run_job())
            async for event in events:
                if isinstance(event, Text):
                    break
            await session.cancel()
            await job
            async for event in events:
                if isinstance(event, ToolCall) and event.is_final:
                    break

    assert after == [(True, 0)]
    assert event.status == ("cancelled" if version == 2 else "failed")


@pytest.mark.req("V2-PROMPT-14")
async def test_the_session_is_idle_only_when_the_turn_and_the_work_have_ended() -> None:
    agent = Scheduler()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        async with agent.session.work():
            answer = await peer.call(
                "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]}
            )
            await turn_ended(agent)
            during = [update["state"] for update in peer.updates if "state" in update]
        await peer.quiet()

    assert "messageId" in answer["result"]
    assert set(during) == {"running"}
    ends = [update for update in peer.updates if update.get("state") == "idle"]
    assert [end["stopReason"] for end in ends] == ["end_turn"]
    assert peer.updates[-1] == ends[0]


async def test_work_that_ends_during_a_turn_leaves_the_session_running() -> None:
    agent = Scheduler()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await peer.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "wait"}]})
        async with agent.session.work():
            await agent.session.notice("half way")
        await peer.quiet()
        before = [update["state"] for update in peer.updates if "state" in update]
        agent.go.set()
        await agent.session.turns.settle()
        await peer.quiet()

    assert before == ["running"]
    assert [update["state"] for update in peer.updates if "state" in update] == ["running", "idle"]


async def test_closing_a_session_cancels_its_work(link: Link) -> None:
    agent, started, ended = Scheduler(), asyncio.Event(), []

    async def run_job() -> None:
        async with agent.session.work() as work:
            started.set()
            await asyncio.Event().wait()
        ended.append(work.cancelled)

    async with link(agent) as client:
        session = await client.new_session()
        job = asyncio.ensure_future(run_job())
        await started.wait()
        await session.close()
        await job
        with pytest.raises(LocalProtocolError, match="closed"):
            await agent.work()

    assert ended == [True]


@pytest.mark.feature("custom states", "agent", "client", versions=(2,))
@pytest.mark.req("V2-STATE-01", "V2-STATE-06")
async def test_an_agent_can_report_custom_states() -> None:
    agent = Scheduler()
    async with wire_client(agent) as peer:
        await begin_session(peer, 2)
        async with agent.session.work():
            await agent.session.set_state("_example.org/indexing", meta=META)
            await agent.session.set_state(None)
        with pytest.raises(InvalidValue, match="begins with '_'"):
            agent.session.set_state("busy")
        await peer.quiet()

    assert [update["state"] for update in peer.updates] == ["running", "_example.org/indexing", "running", "idle"]
    assert peer.updates[1]["_meta"] == META


UNSENDABLE: dict[str, Any] = {
    "metadata": ({"meta": {"x": object()}}, None),
    "tokens of failed work": ({"tokens": "x"}, OSError("disk full")),
    "tokens of cancelled work": ({"tokens": "x", "cancelled": True}, asyncio.CancelledError()),
}


@pytest.mark.req("V2-PROMPT-14")
@pytest.mark.parametrize(("fields", "error"), UNSENDABLE.values(), ids=UNSENDABLE.keys())
async def test_work_whose_result_cannot_be_sent_ends_all_the_same(
    fields: dict[str, Any], error: BaseException | None
) -> None:
    agent = Scheduler()
    async with wire_client(agent) as peer:
        await begin_session(peer, 2)
        with suppress(OSError):
            async with agent.session.work() as work:
                for name, value in fields.items():
                    setattr(work, name, value)
                if error is not None:
                    raise error
        await peer.quiet()

    assert [update["state"] for update in peer.updates if "state" in update] == ["running", "idle"]


async def test_work_that_cannot_be_reported_does_not_start() -> None:
    agent = Scheduler()
    async with wire_client(agent) as peer:
        await begin_session(peer, 2)
        with pytest.raises(InvalidValue):
            async with agent.session.work(meta={"x": object()}):
                pass
        async with agent.session.work():
            pass
        await peer.quiet()

    assert [update["state"] for update in peer.updates if "state" in update] == ["running", "idle"]


async def test_work_needs_async_with(link: Link) -> None:
    agent = Scheduler()
    async with link(agent) as client:
        await client.new_session()
        with pytest.raises(UsageError, match="async with"):
            agent.session.work().__enter__()  # type: ignore[attr-defined]
