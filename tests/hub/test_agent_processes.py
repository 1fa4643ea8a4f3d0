"""Agent processes: how many there are, what happens when one ends, and their messages outside of sessions."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE, BOB, TIMEOUT_SECONDS, HubClient, InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub.agent_host import Isolation
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.hub.spawner import CommandSpawner
from accord.transports.base import Transport
from accord.transports.memory import pair

AGENTS = Path(__file__).parents[1] / "agents"


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(turn.text)

    async def extension_request(self, method: str, params: Any) -> Any:
        return {"method": method, "params": params}


class Counting(Echo):
    """Numbers its sessions from one, as if no other process did."""

    async def new_session_id(self) -> str:
        return "1"


def load(session: str, cwd: Path) -> dict[str, Any]:
    return {"sessionId": session, "cwd": str(cwd), "mcpServers": []}


@pytest.mark.parametrize(("isolation", "processes"), [("session", 4), ("principal", 2), ("shared", 1)])
async def test_the_isolation_setting_decides_which_sessions_share_an_agent_process(
    isolation: Isolation, processes: int, tmp_path: Path
) -> None:
    async with (
        Hub(InProcessSpawner(Echo), root=tmp_path, isolation=isolation) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        for client in (alice, bob):
            for text in ("one", "two"):
                session = await client.new_session(str(tmp_path))
                await client.response(client.prompt(session, text))
        assert hub.stats.agent_processes == processes
        assert alice.texts() == bob.texts() == ["one", "two"]


async def test_the_agent_that_answered_initialize_serves_the_first_session(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub, joined(hub) as client:
        await client.new_session(str(tmp_path))

        assert hub.stats.agent_processes_total == 1


@pytest.mark.parametrize("isolation", ["session", "principal"])
async def test_sessions_with_the_same_agent_id_stay_apart(isolation: Isolation, tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Counting), root=tmp_path, isolation=isolation) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        first, second = await alice.new_session(str(tmp_path)), await bob.new_session(str(tmp_path))
        assert first == "1" != second
        await bob.response(bob.prompt(second, "hello"))

        assert alice.texts() == []
        assert bob.texts() == ["hello"]
        assert {m["params"]["sessionId"] for m in bob.messages if m.get("method") == "session/update"} == {second}


async def start_mortal(tmp_path: Path, **env: str) -> Hub:
    argv = [sys.executable, "-P", str(AGENTS / "mortal_agent.py")]
    (tmp_path / "home").mkdir()
    environment = {**os.environ, "MORTAL_HOME": str(tmp_path / "home"), **env}
    return Hub(CommandSpawner(argv, environment), root=tmp_path)


@pytest.mark.parametrize("env", [{}, {"MORTAL_LOADS": "1"}], ids=["resumes", "loads"])
async def test_a_dead_agent_process_is_reported_and_replaced_when_it_is_needed(
    env: dict[str, str], tmp_path: Path
) -> None:
    async with await start_mortal(tmp_path, **env) as hub, joined(hub, name="c") as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "hello"))
        died = await client.response(client.prompt(session, "die"))
        ended = await client.wait_for("_accord/agent_ended")
        await client.response(client.prompt(session, "again"))

        assert "it was my time" in died["error"]["message"]
        assert "it was my time" in ended["params"]["reason"]
        first, second = client.texts()
        assert first.startswith("prompt 1 in process")
        assert second.startswith("prompt 3 in process")
        assert first.split()[-1] != second.split()[-1]


DIES_WITHIN_A_RESPONSE = """
import json, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"protocolVersion": 1}}), flush=True)
request = json.loads(sys.stdin.readline())
print("it was my time", file=sys.stderr, flush=True)
sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "s"}})[:-5])
"""


async def test_an_agent_process_that_dies_within_a_response_is_reported(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-c", DIES_WITHIN_A_RESPONSE]
    async with Hub(CommandSpawner(argv, dict(os.environ)), root=tmp_path) as hub, joined(hub) as client:
        error = await client.fail("session/new", {"cwd": str(tmp_path), "mcpServers": []})

    assert "it was my time" in error["message"]


async def test_an_agent_that_cannot_restore_sessions_is_reported(tmp_path: Path) -> None:
    async with await start_mortal(tmp_path, MORTAL_FORGETS="1") as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "die"))
        response = await client.response(client.prompt(session, "again"))

        assert "can't restore sessions" in response["error"]["message"]
        await client.call("session/load", load(session, tmp_path))
        assert client.texts("user_message_chunk") == ["die", "again"]


async def test_a_turn_of_version_2_ends_when_its_agent_process_does(tmp_path: Path) -> None:
    class Waiting(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say("waiting")
            await asyncio.Event().wait()

    spawner = InProcessSpawner(Waiting)
    async with Hub(spawner, root=tmp_path) as hub, joined(hub, version=2) as client:
        session = await client.new_session(str(tmp_path))
        await client.response(client.prompt(session, "go"))
        await client.wait(lambda m: "waiting" in str(m))
        await spawner.transports[-1].close()
        ended = await client.wait(lambda m: "idle" in str(m))

        assert ended["params"]["update"]["stopReason"] == "error"
        assert "agent process ended" in ended["params"]["update"]["error"]["message"]


async def test_the_reason_why_an_agent_does_not_start_is_reported(tmp_path: Path) -> None:
    async with Hub(CommandSpawner([str(tmp_path / "missing")]), root=tmp_path) as hub:
        client = HubClient(hub)
        error = await client.fail("initialize", {"protocolVersion": 1})
        await client.close()

        assert "the agent couldn't be started" in error["message"]
        assert "missing" in error["message"]


async def test_requests_outside_of_sessions_reach_the_agent(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Echo), root=tmp_path) as hub, joined(hub, version=version) as client:
        params = {"deep": {"list": [1, 2.5, None]}}
        assert await client.call("_vendor/method", params) == {"method": "_vendor/method", "params": params}


class RawAgent:
    """An agent that answers with bytes of the test's choice."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.transport: Transport
        self.received = asyncio.Event()

    async def spawn(self, cwd: str, principal: Principal) -> Transport:
        ours, self.transport = pair()
        self.transport.start(self)
        return ours

    def describe(self) -> str:
        return "a raw agent"

    def on_lines(self, block: bytes) -> None:
        for line in block.splitlines():
            self.lines.append(line)
            message = json.loads(line)
            if message.get("method") == "initialize":
                self.answer(message, b'{"protocolVersion":1,"agentCapabilities":{"_x":1.50}}')
            elif message.get("method") == "session/new":
                self.answer(message, b'{"sessionId":"s","unknown":1.50}')
        self.received.set()

    def on_oversized(self, head: bytes, size: int) -> None: ...

    def on_end(self, error: Exception | None) -> None: ...

    def answer(self, message: dict[str, Any], result: bytes) -> None:
        self.transport.send(b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (message["id"], result))

    async def wait_for(self, part: bytes) -> bytes:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                found = next((line for line in self.lines if part in line), None)
                if found is not None:
                    return found
                self.received.clear()
                await self.received.wait()


class RawReceiver:
    """Collects the lines that a client receives."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._changed = asyncio.Event()

    def on_lines(self, block: bytes) -> None:
        self.lines += block.splitlines()
        self._changed.set()

    def on_oversized(self, head: bytes, size: int) -> None: ...

    def on_end(self, error: Exception | None) -> None: ...

    async def wait_for(self, part: bytes) -> bytes:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                found = next((line for line in self.lines if part in line), None)
                if found is not None:
                    return found
                self._changed.clear()
                await self._changed.wait()


async def test_unknown_fields_pass_byte_for_byte_in_both_directions(tmp_path: Path) -> None:
    agent, receiver = RawAgent(), RawReceiver()
    async with Hub(agent, root=tmp_path) as hub:
        ours, theirs = pair()
        serving = asyncio.ensure_future(hub.accept(theirs, ALICE))
        ours.start(receiver)
        ours.send(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"_y":1.50}}\n')
        assert b'"_x":1.50' in await receiver.wait_for(b'"id":0')
        assert b'"_y":1.50' in agent.lines[0]
        new = json.dumps({"cwd": str(tmp_path), "mcpServers": []}).encode()[:-1] + b',"z":1.00}'
        ours.send(b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":%b}\n' % new)
        assert b'{"sessionId":"s","unknown":1.50}' in await receiver.wait_for(b'"id":1')
        assert b'"params":%b}' % new in await agent.wait_for(b"session/new")

        update = b'{ "sessionId":"s", "later":1.2300,"update":{"sessionUpdate":"_new","n":1e2,"t":"\\u00e9\xc3\xa9"}}'
        agent.transport.send(b'{"jsonrpc":"2.0","method":"session/update","params":%b}\n' % update)
        assert update in await receiver.wait_for(b"_new")
        prompt = b'{"sessionId":"s","prompt":[{"type":"_x","v":1.50}],"_meta":{"k":1.0}}'
        ours.send(b'{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":%b}\n' % prompt)
        assert b'"params":%b}' % prompt in await agent.wait_for(b"session/prompt")

        asked = b'{"sessionId":"s","toolCall":{"toolCallId":"t","_q":1.0},"options":[]}'
        agent.transport.send(
            b'{"jsonrpc":"2.0","id":"a-1","method":"session/request_permission","params":%b}\n' % asked
        )
        request = await receiver.wait_for(b"session/request_permission")
        assert asked in request
        answer = b'{"outcome":{"outcome":"selected","optionId":"x"},"_r":1.50}'
        ours.send(b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (json.loads(request)["id"], answer))
        assert await agent.wait_for(b'"a-1"') == b'{"jsonrpc":"2.0","id":"a-1","result":%b}' % answer
        await ours.close()
        await serving


async def test_a_request_that_the_agent_withdraws_is_withdrawn_from_the_clients(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        await client.new_session(str(tmp_path))
        asked = b'{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}'
        agent.transport.send(b'{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":%b}\n' % asked)
        request = await client.wait_for("session/request_permission")
        agent.transport.send(b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}\n')
        cancelled = await client.wait_for("$/cancel_request")

        assert cancelled["params"]["requestId"] == request["id"]
        assert b"-32800" in await agent.wait_for(b'"id":7')


async def test_the_agent_gets_a_cancellation_before_the_answers_that_follow_from_it(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        asked = b'{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}'
        for id in (b"7", b"8"):
            request = b'{"jsonrpc":"2.0","id":%b,"method":"session/request_permission","params":%b}\n' % (id, asked)
            agent.transport.send(request)
        first = await client.wait_for("session/request_permission")
        client.prompt(session, "more")  # something that waits for a commit
        client.notify("session/cancel", {"sessionId": session})
        client.answer(first, {"outcome": {"outcome": "cancelled"}})
        await agent.wait_for(b'"id":8')

        order = [line for line in agent.lines if b"session/cancel" in line or b'"result"' in line]
        assert [b"session/cancel" in line for line in order] == [True, False, False]


async def test_a_session_outside_of_the_root_directory_is_rejected(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    async with Hub(InProcessSpawner(Echo), root=root) as hub, joined(hub) as client:
        for cwd in (str(tmp_path), "/", str(root / ".."), str(root / "link"), "relative", f"{root}-beside"):
            error = await client.fail("session/new", {"cwd": cwd, "mcpServers": []})
            assert error["code"] == -32602
        missing = await client.fail("session/new", {"cwd": str(root / "missing"), "mcpServers": []})
        assert "there is no directory" in missing["message"]
        (root / "inside").mkdir()
        await client.new_session(str(root / "inside"))


async def test_the_messages_of_a_subagent_belong_to_the_session_that_started_it(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        content = b'{"type":"text","text":"x"}'
        said = b'{"sessionId":"child","update":{"sessionUpdate":"agent_message_chunk","content":%b}}' % content
        agent.transport.send(b'{"jsonrpc":"2.0","method":"session/update","params":%b}\n' % said)
        update = await client.wait_for("session/update")
        client.notify("session/cancel", {"sessionId": "child"})

        assert update["params"]["sessionId"] == "child"
        assert b'"child"' in await agent.wait_for(b"session/cancel")
        async with joined(hub) as late:
            await late.call("session/load", load(session, tmp_path))
            assert late.texts() == ["x"]
