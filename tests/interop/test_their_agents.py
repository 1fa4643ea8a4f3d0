"""Accord's client before agents on the official SDKs, in every pair of language and version."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from interop.room import Room
from linked import until
from peers import commands

from accord import (
    AuthRequired,
    InvalidParams,
    MethodNotFound,
    NotFound,
    PeerDied,
    Plan,
    RequestFailed,
    Text,
    Thought,
    ToolCall,
    connect,
)
from accord.client.agent import ConnectedAgent
from accord.client.connect import Connecting

pytestmark = [pytest.mark.peer, pytest.mark.asyncio(loop_scope="module")]

AGENTS = ["py-agent-v1", "ts-agent-v1", "ts-agent-v2"]


class Pair:
    """One agent of theirs, to be connected to in a folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.language: Any = name[:2]
        self.version = int(name[-1])
        self.folder = folder
        self.room = Room(folder)

    def connect(self, *flags: str, **options: Any) -> Connecting:
        command = commands.agent(self.language, self.version, *flags)
        options = {"workspace": self.room, "versions": {self.version}, **options}
        return connect(command, cwd=self.folder, **options)


class Friend:
    """A connected agent of theirs, shared by the tests of its pair; each begins sessions of its own."""

    def __init__(self, pair: Pair) -> None:
        self.decisions: list[Any] = []
        self.answers: list[Any] = []
        self.noted: list[Any] = []
        self.connecting = pair.connect(
            permissions=lambda request: self.decisions.pop(0),
            elicitation=lambda question: self.answers.pop(0),
            extensions={"_test/echo": lambda params: params, "_test/noted": self.noted.append},
        )
        self.agent: ConnectedAgent


@pytest.fixture(scope="module", params=AGENTS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    if reason := commands.missing(request.param[:2]):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("interop")
    (folder / "notes.md").write_text("one\ntwo\n")
    return Pair(request.param, folder)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def friend(pair: Pair) -> AsyncIterator[Friend]:
    friend = Friend(pair)
    async with friend.connecting as friend.agent:
        yield friend


@pytest.fixture
def agent(friend: Friend) -> ConnectedAgent:
    return friend.agent


async def test_a_conversation_from_the_hello_to_the_goodbye(agent: ConnectedAgent, pair: Pair) -> None:
    session = await agent.new_session()
    plans = [event async for event in session.prompt("plan") if isinstance(event, Plan)]
    thinking = [event async for event in session.prompt("think")]
    calls = [event async for event in session.prompt("tool") if isinstance(event, ToolCall)]
    echoed = await session.prompt("hello big world")
    big = await session.prompt("big 100000")

    assert agent.version == pair.version
    assert [step.status for step in plans[-1].entries] == ["completed", "in_progress", "pending"]
    assert [event.text for event in thinking if isinstance(event, Thought)] == ["one ", "two ", "three"]
    assert [event.text for event in thinking if isinstance(event, Text)] == ["four ", "five ", "six"]
    assert [call.status for call in calls] == ["pending", "in_progress", "completed"]
    (diff,) = calls[-1].diffs
    assert [(change.operation, change.path) for change in diff.changes] == [("modify", str(pair.folder / "notes.txt"))]
    assert diff.patch.endswith("-old\n+new\n")
    assert (calls[-1].raw_input, calls[-1].raw_output) == ({"path": str(pair.folder / "notes.txt")}, {"written": 4})
    assert (echoed.text, echoed.stop_reason) == ("hello big world", "end_turn")
    assert big.text == "x" * 100_000
    said = [item.text for item in session.transcript.timeline if getattr(item, "role", "") == "user"]
    assert said == ["plan", "think", "tool", "hello big world", "big 100000"]


async def test_permissions_forms_and_extensions(friend: Friend) -> None:
    agent = friend.agent
    friend.decisions = [True, False, None]
    friend.answers = [{"name": "Ada"}, None]
    session = await agent.new_session()
    answers = [(await session.prompt("permission")).text for _ in range(3)]
    forms = [(await session.prompt("elicit")).text for _ in range(2)]
    asked_back = (await session.prompt("extension")).text
    echoed = await agent.request("_test/echo", {"a": [1, {"b": None}]})
    with pytest.raises(MethodNotFound):
        await agent.request("_test/unknown")
    await agent.notify("_test/note", {"n": 1})
    await until(lambda: friend.noted)

    assert answers == ["allowed", "denied", "cancelled"]
    assert forms == ["hello Ada", "cancel"]
    assert asked_back == '{"from":"agent"}'
    assert echoed == {"a": [1, {"b": None}]}
    assert friend.noted == [{"n": 1}]


async def test_files_and_terminals(agent: ConnectedAgent, pair: Pair) -> None:
    session = await agent.new_session()
    read = (await session.prompt("read notes.md")).text
    absent = (await session.prompt("read absent.md")).text
    await session.prompt("write out.md some text")
    ran = await session.prompt("terminal echo hi there")

    assert ran.text == "hi there\nexit 0"
    (call,) = ran.tool_calls
    if pair.version == 1:
        assert (read, absent) == ("one\ntwo\n", "error -32002")
        assert (pair.folder / "out.md").read_text() == "some text"
        assert (pair.room.processes, pair.room.released) == ({}, 1)
    else:
        assert (read, absent) == ("read notes.md", "read absent.md")
        (terminal,) = session.transcript.terminals.values()
        assert (terminal.text, terminal.exit.code if terminal.exit else None) == ("hi there\n", 0)
        assert call.content


async def test_cancelling(friend: Friend) -> None:
    friend.decisions = [True]
    session = await friend.agent.new_session()
    async for event in session.prompt("wait"):
        if isinstance(event, Text):
            await session.cancel()
    waited = session.last_turn
    asked = session.prompt("permission")
    after = session.prompt("still here")
    await asked
    await after

    assert waited is not None and (waited.text, waited.stop_reason) == ("waiting", "cancelled")
    assert asked.text == "allowed"
    assert after.text == "still here"


async def test_cancelling_while_a_person_is_asked(pair: Pair) -> None:
    async def undecided(request: Any) -> Any:
        cancelling.append(asyncio.ensure_future(session.cancel()))
        await asyncio.Event().wait()

    cancelling: list[Any] = []
    async with pair.connect(permissions=undecided) as agent:
        session = await agent.new_session()
        turn = await session.prompt("permission")
        after = await session.prompt("still here")

    assert turn.stop_reason == "cancelled"
    assert after.text == "still here"


async def test_failures_refusals_and_what_is_told_besides(agent: ConnectedAgent) -> None:
    session = await agent.new_session()
    with pytest.raises(RequestFailed) as failed:
        await session.prompt("fail")
    refused = await session.prompt("refuse")
    await session.prompt("usage")
    await session.prompt("title New")
    await session.prompt("commands")
    await session.prompt("mode")

    assert (failed.value.code, failed.value.data) == (-32603, {"why": "asked"})
    assert refused.stop_reason == "refusal"
    usage = session.transcript.usage
    assert usage is not None and usage.cost is not None
    assert (usage.used, usage.size, usage.cost.amount, usage.cost.currency) == (1200, 200_000, 0.25, "USD")
    assert session.title == "New"
    assert [(command.name, command.hint) for command in session.commands] == [
        ("plan", "what to plan"),
        ("help", None),
    ]
    assert {option.category: option.value for option in session.options} == {"mode": "careful", "model": "deep"}


async def test_modes_and_options_are_set(agent: ConnectedAgent) -> None:
    session = await agent.new_session()
    before = {option.category: option.value for option in session.options}
    await session.set_mode("careful")
    await session.set_model("deep")
    with pytest.raises(InvalidParams):
        await session.set_mode("unknown")

    assert before == {"mode": "ask", "model": "fast"}
    assert {option.category: option.value for option in session.options} == {"mode": "careful", "model": "deep"}


async def test_sessions_are_listed_loaded_resumed_and_closed(agent: ConnectedAgent) -> None:
    session = await agent.new_session()
    listed = [info.id async for info in agent.list_sessions()]
    loaded = await agent.load_session("stored-1")
    with pytest.raises(NotFound):
        await agent.load_session("nobody")
    await session.close()
    resumed = await agent.resume_session("stored-1")

    assert (listed[0], listed[-1]) == ("stored-1", session.id)
    assert [(item.role, item.text, item.replayed) for item in loaded.transcript.timeline] == [
        ("user", "an earlier question", True),
        ("agent", "an earlier answer", True),
    ]
    assert session.closed
    assert resumed.transcript.state == "idle"


async def test_a_login_is_demanded_carried_out_and_the_call_made_again(pair: Pair) -> None:
    offered: list[str] = []

    def choose(methods: list[Any]) -> str:
        offered.extend(method.id for method in methods)
        return "test"

    async with pair.connect("--auth") as agent:
        with pytest.raises(AuthRequired):
            await agent.new_session()
    async with pair.connect("--auth", login=choose) as agent:
        session = await agent.new_session()
        turn = await session.prompt("hello")

    assert offered == ["test"]
    assert turn.text == "hello"


async def test_the_end_of_an_agent_is_told_with_its_last_words(pair: Pair) -> None:
    async with pair.connect() as agent:
        session = await agent.new_session()
        with pytest.raises(PeerDied, match="last words") as caught:
            await session.prompt("die")
        await until(lambda: session.closed)

    assert caught.value.status == 3


async def test_a_client_of_both_versions_speaks_the_agents_own(pair: Pair) -> None:
    async with pair.connect(versions={1, 2}) as agent:
        turn = await (await agent.new_session()).prompt("hello")

    assert (agent.version, turn.text) == (pair.version, "hello")
