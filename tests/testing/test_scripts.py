"""The test kit: scripted agents and clients, and raw messages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.link import Link

from accord import Agent, ExitStatus, LocalProtocolError, NotFound, Reply, Turn, connect
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


async def test_a_step_may_be_a_plain_function(link: Link) -> None:
    async with link(ScriptedAgent(["Well", lambda turn: None, lambda turn: "refusal"])) as client:
        turn = await (await client.new_session()).prompt("hello")

    assert (turn.text, turn.stop_reason) == ("Well", "refusal")


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
    peer.timeout = 0.01
    with pytest.raises(TimeoutError, match=r"^session/new didn't arrive within 0\.01 s; received last: nothing$"):
        await peer.next_call("session/new")
    await ours.close()
    await theirs.close()
    await asyncio.wait_for(peer.ended.wait(), 300)


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


class Builder(Agent):
    """Reads, writes, and runs a command."""

    async def prompt(self, turn: Turn) -> None:
        notes = await turn.files.read("notes.txt", line=2)
        await turn.files.write("new.txt", notes.upper())
        terminal = await turn.terminals.create("wc", ["-l", "notes.txt"])
        async with terminal, turn.tool("Count", kind="execute") as tool:
            await tool.show(terminal)
            status = await terminal.wait()
            printed = await terminal.output()
        await turn.say(f"{printed.text.strip()}, status {status.code}")


async def test_the_files_and_commands_of_a_script_are_the_agents_in_both_versions(link: Link) -> None:
    client = ScriptedClient(
        files={"/project/notes.txt": "one\ntwo\n"}, commands={"wc -l notes.txt": ("17 notes.txt\n", 3)}
    )
    async with link(Builder(), client, cwd="/project") as agent:
        session = await agent.new_session()
        turn = await session.prompt("go")

    assert turn.text == "17 notes.txt, status 3"
    assert client.files["/project/new.txt"] == "TWO\n"
    assert [(each.command, each.args, each.cwd) for each in client.started] == [("wc", ["-l", "notes.txt"], "/project")]
    assert client.released == ["terminal-1"]
    (terminal,) = session.transcript.terminals.values()
    assert (terminal.command, terminal.text, terminal.exit) == (
        "wc -l notes.txt",
        "17 notes.txt\n",
        ExitStatus(code=3),
    )


async def test_a_file_or_command_that_is_not_in_the_script_is_not_there_in_either_version(
    link: Link, tmp_path: Path
) -> None:
    (tmp_path / "real.txt").write_text("on the disk")

    async def look(turn: Turn) -> None:
        try:
            await turn.files.read("real.txt")
        except NotFound:
            await turn.say("no file, ")
        await turn.say((await turn.terminals.run("uname")).text)

    client = ScriptedClient(commands={"ls": ("", 0)})
    async with link(ScriptedAgent([look]), client, cwd=str(tmp_path)) as agent:
        turn = await (await agent.new_session()).prompt("go")
    assert turn.text == "no file, uname: command not found\n"


async def test_a_command_that_never_ends_is_killed_with_its_block(link: Link) -> None:
    async def serve(turn: Turn) -> None:
        async with await turn.terminals.create("server") as terminal:
            await terminal.kill()
            await turn.say(str((await terminal.wait()).signal))
        await turn.terminals.create("server")  # left to the session's end

    client = ScriptedClient(commands={"server": ("listening\n", None)})
    async with link(ScriptedAgent([serve]), client) as agent:
        turn = await (await agent.new_session()).prompt("go")
    assert turn.text == "SIGTERM"
    assert client.released == ["terminal-1", "terminal-2"]


@pytest.mark.parametrize("given", [{"files": {"/a": "1"}}, {"commands": {"ls": ("", 0)}}])
async def test_a_script_that_version_2_would_not_use_fails_loudly(given: Any) -> None:
    client = ScriptedClient(**given)
    with pytest.raises(LocalProtocolError, match=r"connect an Agent object with link\(\)"):
        await connect(ScriptedAgent(), versions={2}, **client.options())
    async with connect(ScriptedAgent(), versions={2}, **ScriptedClient().options()) as agent:
        assert agent.version == 2
