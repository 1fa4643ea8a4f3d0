"""Tool calls that outlive their turn: version 2 lists them as background work, version 1 has only more updates."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, until
from support.stored_sessions import Kept
from support.wire_client import ask, begin_session, kinds, turn, until_states, wait_for_stop

from accord import Agent, AgentSession, Tool, Turn
from accord.testing import ScriptedClient, wire_client


class Indexer(Agent):
    """Starts something in its turn and continues it afterwards."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.tools: list[Tool] = []

    async def prompt(self, turn: Turn) -> None:
        tool = turn.tool("Index", background=True, can_cancel=True)
        self.tools.append(tool)
        await tool.start()
        self.tasks.add(asyncio.get_running_loop().create_task(self.work(tool)))
        await turn.say("Begun.")

    async def work(self, tool: Tool) -> None:
        await self.go_on.wait()
        await tool.show("1000 files")
        await tool.complete()

    async def cancel_tool_call(self, session: AgentSession, tool_call_id: str) -> None:
        await self.tools[0].update(status="cancelled")


def background(updates: list[dict[str, Any]]) -> list[Any]:
    """Return the reported states, each with the work that it lists."""
    return [(u["state"], u.get("background")) for u in updates if u["sessionUpdate"] == "state_update"]


async def test_a_background_call_continues_when_its_turn_ends(version: int) -> None:
    agent = Indexer()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "go")
        at_the_end = [update.get("status") for update in peer.updates if "toolCallId" in update]
        agent.go_on.set()
        await until(lambda: agent.tools[0].status == "completed")
        await peer.quiet()

    after = [update for update in peer.updates if "toolCallId" in update][len(at_the_end) :]
    assert at_the_end == ["pending", "in_progress"]
    assert after[-1]["status"] == "completed"
    assert "1000 files" in str(after[0])


@pytest.mark.feature("background work", "agent", versions=(2,))
@pytest.mark.req("V2-STATE-09", "V2-STATE-10", "V2-STATE-11", "V2-STATE-08")
async def test_in_version_2_it_is_listed_from_its_announcement_to_its_end() -> None:
    agent = Indexer()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "go")
        await until_states(peer, "running", "running", "idle")
        agent.go_on.set()
        await until_states(peer, "running", "running", "idle", "idle")

    listed = [{"type": "tool_call", "toolCallId": agent.tools[0].id}]
    assert background(peer.updates) == [("running", None), ("running", listed), ("idle", listed), ("idle", [])]
    order = kinds(peer.updates)
    first = next(i for i, update in enumerate(peer.updates) if update.get("background"))
    assert order.index("tool_call_update") < first
    assert peer.updates[-2]["status"] == "completed" and peer.updates[-1]["background"] == []


@pytest.mark.req("V2-STATE-11")
async def test_in_version_2_a_command_in_the_background_is_listed_as_its_terminal() -> None:
    ids: list[str] = []

    async def run(turn: Turn) -> None:
        tool = turn.tool("Build", background=True)
        await tool.start()
        terminal = turn.display_terminal("make")
        await tool.show(terminal)
        ids.extend([tool.id, terminal.id])
        await terminal.exit(0)
        await tool.complete()

    async with wire_client(Kept([run])) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "go")
        await until_states(peer, "running", "running", "running", "running", "running", "idle")

    call, terminal = {"type": "tool_call", "toolCallId": ids[0]}, {"type": "terminal", "terminalId": ids[1]}
    listed = [work for _, work in background(peer.updates)]
    assert listed == [None, [call], [terminal], [call], [], []]
    exit_at = next(i for i, update in enumerate(peer.updates) if update.get("exitStatus"))
    gone_at = next(i for i, u in enumerate(peer.updates) if i > exit_at and "background" in u)
    assert terminal not in peer.updates[gone_at]["background"]
    assert all(terminal in u["background"] for u in peer.updates[:exit_at] if u.get("background") not in (None, [call]))


@pytest.mark.req("V2-CANCEL-01")
async def test_cancelling_a_turn_leaves_it_alone(version: int) -> None:
    class Both(Indexer):
        async def prompt(self, turn: Turn) -> None:
            await super().prompt(turn)
            async with turn.tool("Think"):
                await asyncio.Event().wait()

    agent = Both()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        prompt = await ask(peer, session, "go")
        while "Think" not in str(peer.updates):
            await peer.receive()
        await peer.tell("session/cancel", {"sessionId": session})
        reason = await wait_for_stop(peer, version, prompt)
        then = agent.tools[0].status
        agent.go_on.set()
        await until(lambda: agent.tools[0].status == "completed")

    assert (reason, then) == ("cancelled", "in_progress")


@pytest.mark.req("V2-CANCEL-20")
async def test_in_version_2_it_can_be_cancelled_by_itself_between_turns() -> None:
    agent = Indexer()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await turn(peer, 2, session, "go")
        answer = await peer.call("tool_call/cancel", {"sessionId": session, "toolCallId": agent.tools[0].id})
        await peer.quiet()

    assert "result" in answer
    assert peer.updates[-2]["status"] == "cancelled"
    assert peer.updates[-1]["background"] == []
    for task in agent.tasks:
        task.cancel()


async def test_what_outlives_its_turn_does_not_outlive_its_session(version: int) -> None:
    agent = Indexer()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "go")
        await peer.call("session/close", {"sessionId": session})
        last = [update for update in peer.updates if "toolCallId" in update][-1]

    assert last["status"] == {1: "failed", 2: "cancelled"}[version]
    for task in agent.tasks:
        task.cancel()


@pytest.mark.feature("background work", "client")
async def test_calls_that_a_lost_client_left_running_are_replayed_as_ended(link: Link) -> None:
    async def begin(turn: Turn) -> None:
        await turn.tool("Index", background=True).start()

    agent = Kept([begin])
    async with link(agent) as client:
        session = await client.new_session()
        await session.prompt("go")
    async with link(agent) as client:
        again = await client.load_session(session.id)

    assert [call.status for call in again.transcript.tool_calls.values()] in (["cancelled"], ["failed"])


@pytest.mark.req("V2-STATE-05")
async def test_in_version_2_a_question_of_the_background_does_not_hold_up_the_turn() -> None:
    answers: list[bool] = []

    async def both(turn: Turn) -> None:
        tool = turn.tool("Push", background=True)
        await tool.start()
        answers.append(bool(await tool.permit("Push now?")))
        await tool.complete()

    async with wire_client(Kept([both])) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "go")
        question = await peer.next_call("session/request_permission")
        told = [state for state, _ in background(peer.updates)]
        await peer.reply(question, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        await until(lambda: answers)

    assert told == ["running", "running"]
    assert answers == [True]


async def test_a_call_in_the_background_asks_like_any_other(link: Link) -> None:
    async def push(turn: Turn) -> None:
        tool = turn.tool("Push", background=True)
        await tool.start()
        await tool.complete() if await tool.permit("Push now?") else await tool.fail("no")

    async with link(Kept([push]), ScriptedClient(permissions=[False])) as client:
        done = await (await client.new_session()).prompt("go")

    assert [call.status for call in done.tool_calls] == ["failed"]
