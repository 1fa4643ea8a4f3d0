"""The known faults of the official Python SDK cannot happen here, each a test."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import accord
from accord import v1
from accord.testing import ScriptedAgent, ScriptedClient, WirePeer, link, wire_agent, wire_client
from accord.transports.memory import pair
from accord.transports.subprocess import SubprocessTransport

BOUND = 300.0
AGENT = [sys.executable, str(Path(__file__).parents[1] / "agents" / "careless_agent.py")]

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
NEW = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


async def until(condition: Any) -> None:
    async with asyncio.timeout(BOUND):
        while not condition():  # noqa: ASYNC110  # another process tells nobody that it is gone
            await asyncio.sleep(0.005)


# -- `_meta` overwriting a parameter


@pytest.mark.req("V1-EXT-01", "V1-EXT-03", "V2-EXT-06")
async def test_meta_never_overwrites_a_parameter() -> None:
    asked: list[Any] = []

    class Handlers:
        def fs_read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
            asked.append(params)
            return v1.ReadTextFileResponse(content="")

    ours, theirs = pair()
    peer = WirePeer(ours)
    async with v1.connect(theirs, Handlers()):
        meta = {"path": "/etc/passwd", "sessionId": "theirs", "session_id": "theirs", "limit": 1, "self": 1}
        await peer.call("fs/read_text_file", {"sessionId": "ours", "path": "/mine", "_meta": meta})

    (params,) = asked
    assert (params.session_id, params.path) == ("ours", "/mine")
    assert params.meta == meta


@pytest.mark.parametrize("version", [1, 2])
async def test_the_meta_of_a_prompt_is_apart_from_it(version: int) -> None:
    seen: list[Any] = []

    async def note(turn: accord.Turn) -> None:
        seen.append((turn.text, turn.meta))

    async with link(ScriptedAgent([note]), version=version) as agent:
        session = await agent.new_session("/")
        await session.prompt("hello", meta={"prompt": "other", "text": "other", "sessionId": "x"})

    assert seen == [("hello", {"prompt": "other", "text": "other", "sessionId": "x"})]


# -- an array, a number or garbage ending the connection


@pytest.mark.req("V1-FRAME-27", "V1-FRAME-28")
@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"[1,2,3]",
        b"42",
        b"null",
        b'"text"',
        b"garbage",
        b"\xff\xfe",
        b"{}",
        b"[" * 100_000,
        b'{"jsonrpc":"2.0"}',
    ],
)
@pytest.mark.parametrize("version", [1, 2])
async def test_no_line_ends_a_connection(line: bytes, version: int) -> None:
    async with wire_client(ScriptedAgent()) as peer:
        await peer.send(line)
        hello = {"protocolVersion": version, "info": {"name": "x", "version": "1"}, "capabilities": {}}
        assert "result" in await peer.call("initialize", hello)
        await peer.send(line)
        assert "result" in await peer.call("session/new", {"cwd": "/", "mcpServers": []})

    async with wire_agent(version) as (peer, agent):
        await peer.send(line)
        making = asyncio.ensure_future(agent.new_session("/"))
        await peer.reply(await peer.next_call("session/new"), {"sessionId": "s"})
        assert (await asyncio.wait_for(making, BOUND)).id == "s"


# -- processes: standard error, grandchildren, print, standard output as a file


async def test_three_hundred_kilobytes_of_stderr_block_nobody() -> None:
    async with accord.connect(AGENT, cwd="/") as agent:
        session = await agent.new_session()
        turn = await asyncio.wait_for(session.prompt("stderr 300000"), BOUND)

    assert turn.text == "written"


async def test_grandchildren_do_not_survive_their_agent() -> None:
    async with accord.connect(AGENT, cwd="/") as agent:
        session = await agent.new_session()
        turn = await asyncio.wait_for(session.prompt("family"), BOUND)
        pids = [int(pid) for pid in turn.text.split()]
        assert len(pids) == 2 and all(map(is_alive, pids))

    await until(lambda: not any(map(is_alive, pids)))


@pytest.mark.req("V1-FRAME-08", "V2-FRAME-02")
async def test_nothing_that_a_handler_prints_reaches_the_wire() -> None:
    troubles: list[Any] = []
    async with accord.connect(AGENT, cwd="/") as agent:
        agent.on_problem(troubles.append)
        session = await agent.new_session()
        turn = await asyncio.wait_for(session.prompt("prints"), BOUND)

    assert turn.text == "before after"
    assert troubles == []


def test_an_agent_answers_into_a_file(tmp_path: Path) -> None:
    """And though its input is over before the second request is handled, that one is answered too."""
    said = tmp_path / "said"
    with said.open("wb") as out:
        done = subprocess.run(AGENT, input=lines(INITIALIZE, NEW), stdout=out, timeout=BOUND, check=True)

    answers = [json.loads(line) for line in said.read_bytes().splitlines()]
    assert done.returncode == 0
    assert [(answer["id"], "result" in answer) for answer in answers] == [(0, True), (1, True)]


def test_an_agent_answers_what_a_shell_pipes_into_it() -> None:
    done = subprocess.run(AGENT, input=lines(INITIALIZE, NEW)[:-1], capture_output=True, timeout=BOUND, check=True)

    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]


async def test_an_agent_that_dies_says_how_and_what_it_last_said() -> None:
    async with accord.connect(AGENT, cwd="/") as agent:
        session = await agent.new_session()
        with pytest.raises(accord.PeerDied) as caught:
            await asyncio.wait_for(session.prompt("dies 3"), BOUND)

    error = caught.value
    assert error.status == 3
    assert "no API key" in error.stderr
    assert "careless_agent.py" in error.command
    assert "session/prompt" in str(error) and "no API key" in str(error)


# -- cancelling an awaiting task sending nothing


@pytest.mark.parametrize("version", [1, 2])
async def test_cancelling_a_task_that_awaits_an_answer_tells_the_peer(version: int) -> None:
    async with wire_agent(version) as (peer, agent):
        asking = asyncio.ensure_future(agent.request("_slow/thing"))
        request = await peer.next_call("_slow/thing")
        asking.cancel()
        assert (await peer.next_call("$/cancel_request"))["params"] == {"requestId": request["id"]}


@pytest.mark.parametrize("version", [1, 2])
async def test_cancelling_a_task_that_awaits_a_turn_tells_the_agent(version: int) -> None:
    began, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(turn: accord.Turn) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with link(ScriptedAgent([wait]), version=version) as agent:
        session = await agent.new_session("/")

        async def turn() -> None:
            await session.prompt("wait")

        task = asyncio.ensure_future(turn())
        await asyncio.wait_for(began.wait(), BOUND)
        task.cancel()
        await asyncio.wait_for(cancelled.wait(), BOUND)
        await asyncio.wait({task})


# -- an unencodable result leaving the peer waiting


async def test_a_result_that_cannot_be_encoded_is_an_error_and_not_silence() -> None:
    class Handlers:
        def initialize(self, params: Any) -> Any:
            return v1.InitializeResponse(protocol_version=1)

        async def session_list(self, params: Any) -> Any:
            return {"sessions": {1, 2, object()}}

    ours, theirs = pair()
    peer = WirePeer(ours)
    async with v1.serve(theirs, Handlers()):
        await peer.call("initialize", {"protocolVersion": 1})
        error = (await peer.call("session/list"))["error"]
        await peer.quiet()

    assert error["code"] == -32603


# -- unknown updates dropped


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.req("V1-EXT-11", "V2-EXT-04")
async def test_an_unknown_update_is_preserved(version: int) -> None:
    unknown = {"sessionUpdate": "_hologram", "depth": 3, "rays": [1, {"x": None}]}
    async with wire_agent(version) as (peer, agent):
        making = asyncio.ensure_future(agent.new_session("/"))
        await peer.reply(await peer.next_call("session/new"), {"sessionId": "s"})
        session = await asyncio.wait_for(making, BOUND)
        await peer.tell("session/update", {"sessionId": "s", "update": unknown})
        await peer.quiet()

        assert [{"sessionUpdate": each.kind, **each.data} for each in session.transcript.unknown] == [unknown]


# -- updates overtaking each other or the response


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.req("V1-FRAME-36", "V2-FRAME-33")
async def test_updates_overtake_neither_each_other_nor_the_end_of_the_turn(version: int) -> None:
    async with accord.connect(AGENT, cwd="/", versions={version}) as agent:
        session = await agent.new_session()
        for _ in range(3):
            turn = await asyncio.wait_for(session.prompt("counts 300"), BOUND)
            assert turn.text.split() == [str(number) for number in range(300)]


async def test_slow_handlers_of_the_wire_see_everything_before_the_response() -> None:
    seen: list[str] = []

    class Handlers:
        async def session_update(self, params: Any) -> None:
            await asyncio.sleep(0 if len(seen) % 2 else 0.0005)
            seen.append(params.update.content.text)

    transport = await SubprocessTransport.launch(AGENT, cwd="/")
    async with v1.connect(transport, Handlers()) as connection:
        await connection.initialize(v1.InitializeRequest(protocol_version=1))
        session = (await connection.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))).session_id
        prompt = v1.PromptRequest(session_id=session, prompt=[v1.TextContent(text="counts 100")])
        await asyncio.wait_for(connection.session_prompt(prompt), BOUND)
        at_the_answer = list(seen)

    assert "".join(at_the_answer).split() == [str(number) for number in range(100)]


# -- quadratic accumulation


@pytest.mark.parametrize("version", [1, 2])
async def test_an_update_costs_the_same_however_long_the_message_has_become(version: int) -> None:
    """Counted, not timed: the most memory that a burst of chunks needs on its way into the transcript."""
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "x" * 100}}
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": chunk}})
    async with wire_agent(version) as (peer, agent):
        making = asyncio.ensure_future(agent.new_session("/"))
        await peer.reply(await peer.next_call("session/new"), {"sessionId": "s"})
        session = await asyncio.wait_for(making, BOUND)

        def burst(count: int) -> int:
            block = (line.encode() + b"\n") * 20
            tracemalloc.start()
            for _ in range(count // 20):
                agent.connection.on_lines(block)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return peak

        burst(100)
        early = burst(100)
        burst(20_000)  # two megabytes of text: one copy of it would show
        late = burst(100)
        (message,) = session.transcript.messages.values()
        assert len(message.text) == 100 * 20_300

    assert late < 2 * early + 100_000


# -- a missing client method answered with success


@pytest.mark.req("V1-FRAME-26", "V1-INIT-24", "V2-FRAME-26")
@pytest.mark.parametrize(
    "method", ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "elicitation/create"]
)
async def test_a_method_that_a_client_does_not_have_is_refused(method: str) -> None:
    ours, theirs = pair()
    peer = WirePeer(ours)
    async with v1.connect(theirs, object()):
        params = {"sessionId": "s", "path": "/a", "content": "", "command": "ls", "terminalId": "t", "mode": "form"}
        error = (await peer.call(method, params))["error"]

    assert error["code"] == -32601


async def test_a_client_without_a_workspace_refuses_files_and_terminals() -> None:
    async with wire_agent(1) as (peer, agent):
        making = asyncio.ensure_future(agent.new_session("/"))
        await peer.reply(await peer.next_call("session/new"), {"sessionId": "s"})
        await asyncio.wait_for(making, BOUND)
        error = (await peer.call("fs/read_text_file", {"sessionId": "s", "path": "/a"}))["error"]

    assert error["code"] == -32601


async def test_a_client_with_a_workspace_serves_it() -> None:
    """The other half: with a workspace, the request is served."""
    async with wire_agent(1, **ScriptedClient(files={"/a": "text"}).options()) as (peer, agent):
        making = asyncio.ensure_future(agent.new_session("/"))
        await peer.reply(await peer.next_call("session/new"), {"sessionId": "s"})
        await asyncio.wait_for(making, BOUND)

        assert (await peer.call("fs/read_text_file", {"sessionId": "s", "path": "/a"}))["result"] == {"content": "text"}
