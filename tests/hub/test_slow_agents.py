"""Agents that don't read: a client can queue a limited number of bytes for one, and affects no other client."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE, BOB, HubClient, joined
from support.raw_agent import RawAgent, answer

from accord.hub.hub import Hub
from accord.hub.spawner import CommandSpawner
from accord.transports.base import Transport

LARGE = "x" * 20_000_000
AGENT = """
import json, sys

sessions = 0
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": {}}
    elif message.get("method") == "session/new":
        sessions += 1
        result = {"sessionId": f"s{sessions}"}
    elif message.get("method") == "session/prompt":
        if "stop reading" in str(message):
            open(sys.argv[1]).read()
        result = {"stopReason": "end_turn"}
    else:
        result = {}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def send_large(client: HubClient, session: str) -> int:
    return client.start("_vendor/large", {"sessionId": session, "x": LARGE})


async def go_on(fifo: Path) -> None:
    """Let the agent read again."""
    await asyncio.to_thread(fifo.write_text, "")


async def test_what_a_client_queues_for_an_agent_that_reads_nothing_is_limited(tmp_path: Path) -> None:
    fifo = tmp_path / "go-on"
    os.mkfifo(fifo)
    agent = CommandSpawner([sys.executable, "-c", AGENT, str(fifo)])
    async with (
        Hub(agent, root=tmp_path, isolation="shared") as hub,
        joined(hub, principal=ALICE) as alice,
        joined(hub, principal=BOB) as bob,
    ):
        hers, his = await alice.new_session(str(tmp_path)), await bob.new_session(str(tmp_path))
        stopped = alice.prompt(hers, "stop reading")
        written, queued, refused = [send_large(alice, hers) for _ in range(3)]
        for _ in range(5):
            alice.notify("_vendor/note", {"sessionId": hers, "x": LARGE})
        error = (await alice.response(refused))["error"]
        prompted = bob.prompt(his, "hello")
        await go_on(fifo)

        assert "the agent isn't reading" in error["message"]
        assert (await bob.response(prompted))["result"] == {"stopReason": "end_turn"}
        assert [(await alice.response(id))["result"] for id in (stopped, written, queued)] == [
            {"stopReason": "end_turn"},
            {},
            {},
        ]
        assert (await alice.response(send_large(alice, hers)))["result"] == {}
        assert (hub.stats.agent_processes, hub.stats.agent_processes_total) == (1, 1)


async def test_a_client_cancels_a_turn_although_it_has_queued_too_much(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        agent.transports[-1].pause()
        for _ in range(2):
            send_large(client, session)
        await client.response(send_large(client, session))
        client.notify("session/cancel", {"sessionId": session})
        agent.transports[-1].resume()
        await agent.wait_for(b"session/cancel")


async def test_large_responses_to_an_agent_that_reads_nothing_are_replaced_by_errors(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        agent.transports[-1].pause()
        for id in range(101, 104):
            agent.ask({"sessionId": session}, "_vendor/ask", id=id)
            request = await client.wait_for("_vendor/ask", after=len(client.messages))
            client.answer(request, {"x": LARGE})
        await client.call("_accord/ping")
        agent.transports[-1].resume()
        last = await agent.wait_for(b'"id":103')

        assert b"the client's response was dropped" in last
        assert LARGE.encode() in await agent.wait_for(b'"id":102')


async def test_what_a_client_queues_for_an_agent_that_starts_is_limited(tmp_path: Path) -> None:
    class Loading(RawAgent):
        def handle(self, transport: Transport, message: dict[str, Any]) -> None:
            if message.get("method") == "session/load":
                self.load = message
            elif message.get("method") == "_vendor/large":
                answer(transport, message, b"{}")
            else:
                super().handle(transport, message)

    agent = Loading()
    async with Hub(agent, root=tmp_path) as hub, joined(hub, name="a") as client:
        session = await client.new_session(str(tmp_path))
        await agent.transports[-1].close()
        await client.wait_for("_accord/agent_ended")
        waiting, refused = send_large(client, session), send_large(client, session)
        error = (await client.response(refused))["error"]
        await agent.wait_for(b"session/load")
        answer(agent.transports[-1], agent.load, b"{}")

        assert "the agent is starting" in error["message"]
        assert (await client.response(waiting))["result"] == {}


async def test_an_agent_gets_one_cancellation_of_a_request_however_many_a_client_sends(tmp_path: Path) -> None:
    agent = RawAgent()
    async with Hub(agent, root=tmp_path) as hub, joined(hub) as client:
        session = await client.new_session(str(tmp_path))
        prompt = client.prompt(session, "wait")
        await agent.wait_for(b"session/prompt")
        for _ in range(10):
            client.notify("$/cancel_request", {"requestId": prompt})
        client.notify("_vendor/last", {"sessionId": session})
        await agent.wait_for(b"_vendor/last")

        assert sum(b"$/cancel_request" in line for line in agent.lines) == 1


async def test_an_agent_that_reads_no_responses_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.hub.agent_process.MAX_UNREAD_BYTES", 2_000_000)
    (tmp_path / "notes").write_text("x" * 1_000_000)
    agent = RawAgent()
    async with Hub(agent, root=tmp_path, client_files=False) as hub, joined(hub, name="a") as client:
        session = await client.new_session(str(tmp_path))
        agent.transports[-1].pause()
        for id in range(8):
            agent.ask({"sessionId": session, "path": str(tmp_path / "notes")}, "fs/read_text_file", id=id)

        await client.wait_for("_accord/agent_ended")
