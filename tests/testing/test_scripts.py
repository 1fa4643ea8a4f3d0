"""The tools for those who test agents and clients: scripts that do what they say, and a wire played by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from linked import Link

from accord import Agent, ExitStatus, NotFound, Reply, Turn
from accord.client.workspace import TerminalCommand
from accord.testing import ScriptedAgent, ScriptedClient, WirePeer, wire_agent, wire_client
from accord.transports.memory import pair


async def test_a_scripted_agent_plays_its_turns_and_then_echoes(link: Link) -> None:
    async def refuse(turn: Turn) -> str:
        return "refusal"

    agent = ScriptedAgent(["one"], ["two", refuse, "never said"])
    async with link(agent) as client:
        session = await client.new_session()
        turns = [await session.prompt(word) for word in ("a", "b", "c")]

    assert [(turn.text, turn.stop_reason) for turn in turns] == [
        ("one", "end_turn"),
        ("two", "refusal"),
        ("You said: c", "end_turn"),
    ]
    assert agent.prompts == ["a", "b", "c"]


async def test_a_scripted_client_answers_in_order_and_its_last_answer_repeats(link: Link) -> None:
    async def ask(turn: Turn) -> None:
        answers = [bool(await turn.permit(str(n))) for n in range(4)]
        replies = [(await turn.ask("?", {"properties": {}})).action for _ in range(3)]
        await turn.say(f"{answers} {replies}")

    client = ScriptedClient(permissions=[True, "reject_once", None], replies=[{}, Reply(action="decline")])
    async with link(ScriptedAgent([ask]), client) as agent:
        turn = await (await agent.new_session()).prompt("go")

    assert turn.text == "[True, False, False, False] ['accept', 'decline', 'decline']"
    assert [request.title for request in client.asked] == ["0", "1", "2", "3"]
    assert len(client.elicited) == 3


async def test_a_scripted_client_has_files_and_commands_that_were_never_run() -> None:
    client = ScriptedClient(files={"/a": "1\n2\n3"}, commands={"ls -l": ("two files\n", 0), "top": ("", None)})

    assert await client.read("s", "/a", 2, 1) == "2\n"
    await client.write("s", "/b", "new")
    assert client.files["/b"] == "new"
    with pytest.raises(NotFound):
        await client.read("s", "/c", None, None)

    known = await client.create_terminal("s", TerminalCommand(command="ls", args=["-l"]))
    unknown = await client.create_terminal("s", TerminalCommand(command="cowsay"))
    endless = await client.create_terminal("s", TerminalCommand(command="top", output_limit=0))
    assert (await client.terminal_output("s", known)).output == "two files\n"
    assert await client.wait_for_exit("s", unknown) == ExitStatus(code=127)
    waiting = asyncio.ensure_future(client.wait_for_exit("s", endless))
    await client.kill_terminal("s", endless)
    assert (await waiting).signal == "SIGTERM"
    for terminal in (known, unknown, endless):
        await client.release_terminal("s", terminal)
    assert client.released == [known, unknown, endless]
    with pytest.raises(NotFound):
        await client.terminal_output("s", known)


async def test_a_wire_played_by_hand_waits_for_what_it_names_and_keeps_the_rest(version: int) -> None:
    async with wire_client(ScriptedAgent(["hello"])) as peer:
        info = {"name": "me", "version": "0"}
        hello = await peer.call("initialize", {"protocolVersion": version, "info": info})
        made = await peer.call("session/new", {"cwd": "/", "mcpServers": []})
        prompt = {"sessionId": made["result"]["sessionId"], "prompt": [{"type": "text", "text": "hi"}]}
        await peer.call("session/prompt", prompt)
        while not any(update["sessionUpdate"] == "agent_message_chunk" for update in peer.updates):
            await peer.receive()
        await peer.quiet()

    assert hello["result"]["protocolVersion"] == version
    assert [message["jsonrpc"] for message in peer.received] == ["2.0"] * len(peer.received)


async def test_a_wire_played_by_hand_gives_up_by_itself() -> None:
    ours, theirs = pair()
    peer = WirePeer(ours)
    peer.patience = 0.01
    with pytest.raises(TimeoutError):
        await peer.receive()
    await ours.close()
    await theirs.close()
    await asyncio.wait_for(peer.ended.wait(), 10)


async def test_an_agent_played_by_hand_has_said_hello_already(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        asking = asyncio.ensure_future(client.request("_x/y", {"a": 1}))
        await peer.reply(await peer.next_call("_x/y"), {"b": 2})
        assert await asking == {"b": 2}
        told: dict[str, Any] = peer.received[0]

    assert (told["method"], client.version) == ("initialize", version)


async def test_one_agent_serves_many_clients_of_both_versions_at_once() -> None:
    class Counting(Agent):
        def __init__(self) -> None:
            self.meeting = asyncio.Barrier(4)

        async def prompt(self, turn: Turn) -> None:
            await self.meeting.wait()
            await turn.say(f"{turn.client.version} in {turn.session.cwd}")

    from accord.testing import link  # the fixture of that name speaks one version

    agent = Counting()
    async with (
        link(agent, version=1) as a,
        link(agent, version=2) as b,
        link(agent, version=2) as c,
        link(agent, version=1) as d,
    ):
        sessions = [await client.new_session(f"/{n}") for n, client in enumerate((a, b, c, d))]
        turns = await asyncio.gather(*[session.prompt("go") for session in sessions])

    assert [turn.text for turn in turns] == ["1 in /0", "2 in /1", "2 in /2", "1 in /3"]
    assert len({session.id for session in sessions}) == 4
