"""A server with a hub: whole turns over both transports, and principals that stay out of each other's sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.server import INITIALIZE, MemorySpawner, Served, serving

import accord
from accord.hub.hub import Hub
from accord.server.limits import ServerLimits
from accord.transports.base import Transport
from accord.transports.http.client import open_url
from accord.transports.http.options import HttpOptions


class Counter(accord.Agent):
    """Counts until it is stopped, or echoes."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def prompt(self, turn: accord.Turn) -> None:
        if turn.text != "count":
            await turn.say(f"You said: {turn.text}")
            return
        await turn.say("0 ")
        await self.go_on.wait()
        for number in range(1, 5):
            await turn.say(f"{number} ")


@asynccontextmanager
async def hub_serving(folder: Path, agent: accord.Agent | None = None, **options: Any) -> AsyncIterator[Served]:
    hub = Hub(MemorySpawner(agent or Counter()), root=folder)
    async with serving(folder, hub, **options) as served:
        served.server.add_hub_metrics(hub)
        yield served


def connect(served: Served, token: str, scheme: str = "ws", **how: Any) -> Any:
    async def open() -> Transport:
        return await open_url(served.url.replace("http", scheme, 1), HttpOptions(token=token))

    return accord.connect(open, **how)


class Following:
    """Receives a turn in the background. (Leaving its events early would cancel it.)"""

    def __init__(self, turn: Any) -> None:
        self.started = asyncio.Event()
        self.text = ""
        self.task = asyncio.create_task(self._follow(turn))

    async def _follow(self, turn: Any) -> Any:
        async for event in turn:
            if isinstance(event, accord.Text):
                self.text += event.text
                self.started.set()
        return await turn


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (nothing signals it)
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_session_works_over_both_transports(scheme: str, tmp_path: Path, version: int) -> None:
    async with (
        hub_serving(tmp_path) as served,
        connect(served, served.token("anna"), scheme, versions={version}, cwd=tmp_path) as agent,
    ):
        session = await agent.new_session()
        turn = await session.prompt("hello")
        metrics = (await served.request("GET", "/metrics")).body.decode()
    assert (turn.text, turn.stop_reason) == ("You said: hello", "end_turn")
    assert "accord_sessions 1\n" in metrics and "accord_turns_total 1\n" in metrics


@pytest.mark.req("V1-LIST-11")
async def test_a_session_of_another_principal_can_be_neither_found_nor_loaded_nor_driven(tmp_path: Path) -> None:
    async with (
        hub_serving(tmp_path) as served,
        connect(served, served.token("anna"), cwd=tmp_path) as anna,
        connect(served, served.token("bert"), cwd=tmp_path) as bert,
    ):
        session = await anna.new_session()
        await session.prompt("secret plans")
        assert [info.id async for info in bert.list_sessions()] == []
        for attempt in (bert.load_session, bert.resume_session):
            with pytest.raises(accord.RequestFailed) as error:
                await attempt(session.id, cwd=tmp_path)
            with pytest.raises(accord.RequestFailed) as unknown:
                await attempt("no-such-session", cwd=tmp_path)
            # The same words: an id can't be tested for existence.
            assert error.value.message.replace(session.id, "ID") == unknown.value.message.replace(
                "no-such-session", "ID"
            )


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_revoking_a_token_ends_a_stream_in_the_middle(scheme: str, tmp_path: Path) -> None:
    agent = Counter()
    async with hub_serving(tmp_path, agent) as served:
        token = served.token("anna")
        async with connect(served, token, scheme, cwd=tmp_path) as anna:
            session = await anna.new_session()
            turn = Following(session.prompt("count"))
            await turn.started.wait()
            served.tokens.revoke("anna")
            await until(lambda: len(served.server.connections) == 0)
            agent.go_on.set()
            with pytest.raises(accord.ConnectionClosed):
                await turn.task
        assert turn.text == "0 "
        refused = await served.request("DELETE", "/acp", token=token)
    assert refused.status == 401


class Flood(accord.Agent):
    """Says more than the buffers of a connection hold."""

    async def prompt(self, turn: accord.Turn) -> None:
        for _ in range(1000):
            await turn.say("x" * 20_000)


async def test_revoking_a_token_closes_the_connection_of_a_client_that_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The close frame can't be sent, and nobody acknowledges it."""
    monkeypatch.setattr("accord.transports.http.websocket_server._CLOSE_SECONDS", 0.1)
    hub = Hub(MemorySpawner(Flood()), root=tmp_path)
    async with serving(tmp_path, hub) as served:
        client = await served.open()
        client.write(served.upgrade(token=served.token("anna")))
        assert (await client.response()).status == 101
        messages = [INITIALIZE, {"id": 1, "method": "session/new", "params": {"cwd": str(tmp_path), "mcpServers": []}}]
        for message in messages:
            client.write_frame(json.dumps({"jsonrpc": "2.0", **message}).encode())
            answer = json.loads((await client.frame())[1])
        params = {"sessionId": answer["result"]["sessionId"], "prompt": [{"type": "text", "text": "go on"}]}
        prompt = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params}
        client.write_frame(json.dumps(prompt).encode())
        await until(lambda: bool(hub.stats.queued_bytes))

        async with asyncio.timeout(50):  # the system gives up after 60 s
            served.tokens.revoke("anna")
            await until(lambda: not len(served.server.connections))
        assert not hub.stats.clients
        await client.close()


async def test_a_watcher_cannot_send_prompts(tmp_path: Path) -> None:
    async with (
        hub_serving(tmp_path) as served,
        connect(served, served.token("eve", "watcher"), cwd=tmp_path) as watcher,
    ):
        with pytest.raises(accord.RequestFailed):
            await (await watcher.new_session()).prompt("hello")


async def test_stopping_lets_the_turn_of_a_hub_finish(tmp_path: Path) -> None:
    agent = Counter()
    async with (
        hub_serving(tmp_path, agent, drain_seconds=300) as served,
        connect(served, served.token("anna"), cwd=tmp_path) as anna,
    ):
        session = await anna.new_session()
        turn = Following(session.prompt("count"))
        await turn.started.wait()
        served.server.stop()
        await until(lambda: bool(served.audit_entries("draining")))
        agent.go_on.set()
        done = await turn.task
    assert (done.text, done.stop_reason) == ("0 1 2 3 4 ", "end_turn")


async def test_many_connections_of_one_principal_share_its_limits(tmp_path: Path) -> None:
    async with hub_serving(tmp_path, limits=ServerLimits(max_connections_per_principal=1)) as served:
        token = served.token("anna")
        async with connect(served, token, cwd=tmp_path):
            with pytest.raises(accord.LaunchError) as error:
                async with connect(served, token, cwd=tmp_path):
                    pass
    assert "the limit for one token" in str(error.value) or "429" in str(error.value)
