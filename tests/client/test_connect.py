"""From a target to a connected agent, and every way in which that can fail: where, what, and what to do."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from support.link import script_agent, until

from accord import (
    Agent,
    Client,
    ConnectionClosed,
    DeadlineExceeded,
    LaunchError,
    LocalProtocolError,
    PeerDied,
    Turn,
    connect,
)
from accord.testing import ScriptedAgent, WirePeer, wire_agent
from accord.transports.memory import pair
from accord.transports.subprocess import SubprocessTransport

HERE = Path(__file__).resolve().parent
MISCHIEF = [sys.executable, str(HERE.parent / "agents" / "misbehaving_agent.py")]
ECHO = [sys.executable, str(HERE.parents[1] / "examples" / "echo_agent.py")]


# -- targets


async def test_a_command_line_is_started_and_ended(version: int) -> None:
    async with connect(shlex.join(ECHO), versions={version}) as agent:
        turn = await (await agent.new_session()).prompt("hello")
        child: Any = agent.connection.transport.child  # type: ignore[attr-defined]

    assert turn.text == "You said: hello"
    assert agent.version == version
    assert child.status == 0


async def test_a_list_of_arguments_is_started_as_it_is(tmp_path: Path) -> None:
    async with connect([*MISCHIEF, "fine"], cwd=tmp_path, env={"EXAMPLE_WORD": "from the environment"}) as agent:
        session = await agent.new_session()
        turn = await session.prompt("hello")

    assert turn.text == "from the environment"
    assert session.cwd == str(tmp_path)


async def test_an_agent_object_is_joined_in_memory_and_hears_the_end() -> None:
    story: list[str] = []

    class Hearing(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say("hi")

        async def on_disconnect(self, client: Client) -> None:
            await asyncio.sleep(0)
            story.append("gone")

    async with connect(Hearing()) as agent:
        assert (await (await agent.new_session()).prompt("?")).text == "hi"

    assert story == ["gone"]


async def test_a_connection_may_be_awaited_and_closed_by_hand() -> None:
    agent = await connect(script_agent("hi"))
    assert (await (await agent.new_session()).prompt("?")).text == "hi"
    await agent.close()
    await agent.close()
    with pytest.raises(ConnectionClosed):
        await agent.new_session()


@pytest.mark.parametrize("versions", [{1}, {2}, {1, 2}])
async def test_the_highest_common_version_is_spoken(versions: set[int]) -> None:
    async with connect(script_agent(), versions=versions) as agent:
        assert agent.version == max(versions)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("", "empty|no agent was named"),
        ("   ", "empty|no agent was named"),
        ([], "empty"),
        ("python 'unclosed", "isn't a valid command line"),
        ("https://nowhere.invalid/acp", "couldn't find the host"),
        ("ws://localhost:1/acp", "nothing listens there"),
        (42, "can't connect to 42; pass a command line"),
    ],
)
async def test_an_invalid_target_is_explained(target: Any, words: str) -> None:
    with pytest.raises(LaunchError, match=words) as caught:
        await connect(target)

    assert caught.value.stage in ("resolve", "spawn", "dns", "connect")


@pytest.mark.parametrize("command", [["/no/such/agent"], ["no-such-agent-anywhere"], [str(HERE)]])
async def test_a_command_that_cannot_be_started_is_named(command: list[str]) -> None:
    with pytest.raises(LaunchError) as caught:
        await connect(command)

    assert command[0] in str(caught.value)
    assert caught.value.stage == "spawn"


async def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="absent"):
        await connect(ECHO, cwd=tmp_path / "absent")


@pytest.mark.parametrize("versions", [set(), {3}, {0, 1}])
async def test_versions_that_do_not_exist_are_refused_here(versions: set[int]) -> None:
    with pytest.raises(LocalProtocolError, match="version"):
        await connect(script_agent(), versions=versions)


# -- agents that die, or worse


async def test_the_error_of_an_agent_that_dies_at_once_has_its_last_output() -> None:
    with pytest.raises(PeerDied) as caught:
        await connect([*MISCHIEF, "dies at once"])

    error = caught.value
    assert "misbehaving_agent.py" in error.command
    assert error.status == 3
    assert error.stderr.splitlines()[-1] == "No API key: set EXAMPLE_KEY"
    assert error.stage == "initialize"
    for part in ("misbehaving_agent.py", "3", "No API key: set EXAMPLE_KEY", "startup"):
        assert part in str(error)


async def test_an_agent_that_dies_at_the_hello_is_mourned_with_its_status() -> None:
    with pytest.raises(PeerDied, match="I do not like you") as caught:
        await connect([*MISCHIEF, "dies when greeted"])

    assert (caught.value.status, caught.value.stage) == (4, "initialize")


async def test_an_agent_that_dies_at_work_fails_its_turn_and_everything_after() -> None:
    async with connect([*MISCHIEF, "dies at work"]) as agent:
        session = await agent.new_session()
        events = session.events()
        turn = session.prompt("go")
        with pytest.raises(PeerDied) as caught:
            await turn
        await until(lambda: session.closed)
        with pytest.raises(PeerDied):
            session.prompt("again")
        with pytest.raises(PeerDied):
            await agent.new_session()
        async for _ in events:
            pass

    assert (caught.value.status, caught.value.stage) == (-9, "session")
    assert "out of memory" in str(caught.value)
    assert "session/prompt" in str(caught.value)
    assert turn.ended and turn.stop_reason is None


async def test_an_agent_that_closes_its_output_but_lives_is_given_up() -> None:
    async with connect([*MISCHIEF, "hangs up"]) as agent:
        session = await agent.new_session()
        with pytest.raises(PeerDied, match=r"the agent hung up during session/prompt.*still running"):
            await session.prompt("go")


async def test_an_agent_that_prints_is_understood_and_the_stray_lines_are_counted() -> None:
    problems: list[str] = []
    async with connect([*MISCHIEF, "prints"]) as agent:
        agent.on_problem(lambda trouble: problems.append(trouble.kind))
        turn = await (await agent.new_session()).prompt("go")
        counted = agent.connection.problems["stray"]

    assert turn.text == "fine"
    assert counted == 4
    assert problems == ["stray"]


# -- deadlines


async def test_an_agent_that_says_nothing_is_given_up_by_name() -> None:
    transport = await SubprocessTransport.launch([*MISCHIEF, "says nothing"])
    await until(lambda: "waiting for the network" in transport.stderr_tail())
    with pytest.raises(DeadlineExceeded) as caught:
        await connect(transport, deadlines={"first byte": 0.02})

    assert (caught.value.stage, caught.value.seconds) == ("first byte", 0.02)
    for part in ("misbehaving_agent.py", "first byte", "waiting for the network", "0.02 s"):
        assert part in str(caught.value)


async def test_an_agent_that_does_not_answer_the_hello_is_given_up_by_name() -> None:
    ours, theirs = pair()
    peer = WirePeer(ours)
    await peer.tell("_thinking")
    with pytest.raises(DeadlineExceeded, match="stage initialize") as caught:
        await connect(theirs, deadlines={"initialize": 0.05, "first byte": 0.02})
    await ours.close()

    assert caught.value.stage == "initialize"


async def test_a_session_that_never_begins_is_given_up_by_name_and_the_connection_stays() -> None:
    async with connect([*MISCHIEF, "never begins"], deadlines={"session": 0.05}) as agent:
        for _ in range(2):
            with pytest.raises(DeadlineExceeded, match="session/new") as caught:
                await agent.new_session()

    assert caught.value.stage == "session"


@pytest.mark.parametrize(
    ("stage", "call"),
    [
        ("session", lambda agent: agent.load_session("x")),
        ("session", lambda agent: agent.close_session("x")),
        ("session", lambda agent: agent.delete_session("x")),
        ("call", lambda agent: anext(agent.list_sessions())),
        ("extension", lambda agent: agent.request("_x/y")),
        ("login", lambda agent: agent.login()),
    ],
)
async def test_every_wait_for_a_machine_can_be_bounded_by_name(version: int, stage: str, call: Any) -> None:
    id = "id" if version == 1 else "methodId"
    method = {id: "key", "name": "Key", **({"type": "agent"} if version == 2 else {})}
    sessions = {"list": {}, "resume": {}, "close": {}, "delete": {}}
    hello = {
        1: {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": sessions},
            "authMethods": [method],
        },
        2: {
            "protocolVersion": 2,
            "info": {"name": "a", "version": "0"},
            "capabilities": {"session": {"delete": {}}},
            "authMethods": [method],
        },
    }[version]
    async with wire_agent(version, hello=hello, deadlines={stage: 0.02}) as (peer, client):
        with pytest.raises(DeadlineExceeded) as caught:
            await call(client)
        withdrawn = await peer.next_call("$/cancel_request")

    assert caught.value.stage == stage
    assert withdrawn["params"]["requestId"] == peer.received[1]["id"]


async def test_turns_have_no_deadline() -> None:
    from accord.client.agent import DEADLINES

    assert "turn" not in DEADLINES and "prompt" not in DEADLINES
    assert DEADLINES["login"] is None


async def test_a_failed_hello_leaves_nothing_behind() -> None:
    class Refusing(Agent):
        async def on_connect(self, client: Any) -> None:
            raise ValueError("no")

        async def prompt(self, turn: Turn) -> None: ...

    before = asyncio.all_tasks()
    with pytest.raises(Exception, match="no"):
        await connect(Refusing())

    assert asyncio.all_tasks() == before


async def test_a_watcher_sees_the_handshake() -> None:
    seen: list[tuple[str, bytes]] = []
    async with connect(ScriptedAgent(), watch=lambda direction, lines: seen.append((direction, lines))):
        pass
    assert seen[0][0] == "out" and b'"initialize"' in seen[0][1]
    assert seen[1][0] == "in" and b'"protocolVersion"' in seen[1][1]
