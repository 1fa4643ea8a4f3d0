"""WebSockets over real sockets, on both server programs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from httpx2.websockets import AsyncWebSocketSession, WebSocketDisconnect, WebSocketUpgradeError
from transports.http.agents import Keeper, Worker
from transports.http.raw_client import initialize, open_client, request
from transports.http.web_server import Kind, WebServer, run_server

import accord
from accord import Agent
from accord.transports.http.limits import HttpLimits


@asynccontextmanager
async def open_socket(server: WebServer, **headers: str) -> AsyncIterator[AsyncWebSocketSession]:
    async with open_client() as client, client.websocket(server.websocket, headers=headers) as socket:
        yield socket


async def ask(socket: AsyncWebSocketSession, message: dict[str, Any]) -> dict[str, Any]:
    await socket.send_text(json.dumps(message))
    return await answer_to(socket, message["id"])


async def answer_to(socket: AsyncWebSocketSession, id: Any) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = json.loads(await socket.receive_text())
        if found.get("id") == id and "method" not in found:
            return found


async def close_code(socket: AsyncWebSocketSession) -> int:
    try:
        while True:
            await socket.receive()
    except WebSocketDisconnect as end:
        return end.code


@pytest.mark.req("V1-WS-01", "V1-HTTP-01", "V2-HTTP-01")
async def test_the_upgrade_names_the_connection_and_one_socket_carries_all_sessions(kind: Kind, version: int) -> None:
    async with run_server(accord.asgi(Keeper()), kind) as server, open_socket(server) as socket:
        assert socket.response is not None
        assert socket.response.status_code == 101
        assert len(socket.response.headers["Acp-Connection-Id"]) >= 16
        assert (await ask(socket, initialize(version)))["result"]["protocolVersion"] == version
        sessions = []
        for id in (1, 2):
            opened = await ask(socket, request(id, "session/new", cwd="/", mcpServers=[]))
            sessions.append(opened["result"]["sessionId"])
        assert "result" in await ask(socket, request(3, "session/close", sessionId=sessions[0]))
        prompt = request(4, "session/prompt", sessionId=sessions[1], prompt=[{"type": "text", "text": "x"}])
        assert "result" in await ask(socket, prompt), "closing a session doesn't close the socket"


@pytest.mark.req("V1-WS-03")
async def test_binary_frames_are_ignored(kind: Kind) -> None:
    async with run_server(accord.asgi(Worker()), kind) as server, open_socket(server) as socket:
        await socket.send_bytes(json.dumps(request(7, "session/list")).encode())
        assert "result" in await ask(socket, initialize())
        await socket.send_bytes(b"\xff\x00")
        assert "result" in await ask(socket, request(1, "session/new", cwd="/", mcpServers=[]))


@pytest.mark.req("V1-WS-04")
@pytest.mark.parametrize("first", [request(1, "session/list"), {"no": "message"}, []])
async def test_the_first_message_must_be_initialize(kind: Kind, first: Any) -> None:
    async with run_server(accord.asgi(Worker()), kind) as server, open_socket(server) as socket:
        await socket.send_text(json.dumps(first))
        assert await close_code(socket) == 1002


@pytest.mark.req("V1-WS-04")
async def test_a_second_initialize_is_refused_and_the_connection_continues(kind: Kind) -> None:
    async with run_server(accord.asgi(Worker()), kind) as server, open_socket(server) as socket:
        await ask(socket, initialize())
        again = await ask(socket, {**initialize(), "id": 5})
        assert again["error"]["code"] == -32600
        assert "result" in await ask(socket, request(1, "session/new", cwd="/", mcpServers=[]))


@pytest.mark.req("V1-WS-05", "V1-HTTP-22")
async def test_a_drop_cancels_the_work_and_keeps_the_session(kind: Kind) -> None:
    agent = Keeper()
    async with run_server(accord.asgi(agent), kind) as server:
        async with open_socket(server) as socket:
            await ask(socket, initialize())
            opened = await ask(socket, request(1, "session/new", cwd="/", mcpServers=[]))
            session = opened["result"]["sessionId"]
            prompt = request(2, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "wait"}])
            await socket.send_text(json.dumps(prompt))
            await agent.waiting.wait()
            await socket.stream.aclose()  # without a closing handshake
        await agent.cancelled.wait()
        await agent.disconnected.wait()
        async with open_socket(server) as socket:
            await ask(socket, initialize())
            load = request(1, "session/load", sessionId=session, cwd="/", mcpServers=[])
            assert "result" in await ask(socket, load)


async def test_a_message_past_our_limit_is_answered_with_an_error(kind: Kind) -> None:
    app = accord.asgi(Worker(), limits=HttpLimits(body_bytes=1000))
    async with run_server(app, kind) as server, open_socket(server) as socket:
        await ask(socket, initialize())
        refused = await ask(socket, request(1, "session/new", cwd="/" + "x" * 2000, mcpServers=[]))
        assert "error" in refused
        assert "result" in await ask(socket, request(2, "session/new", cwd="/", mcpServers=[]))


async def test_a_message_past_the_limit_of_the_server_program_closes_the_socket(kind: Kind) -> None:
    agent = Worker()
    async with run_server(accord.asgi(agent), kind, max_message_bytes=1000) as server, open_socket(server) as socket:
        await ask(socket, initialize())
        await socket.send_text(json.dumps(request(1, "session/new", cwd="/" + "x" * 5000, mcpServers=[])))
        assert await close_code(socket) == 1009
    await agent.disconnected.wait()


@pytest.mark.req("V1-HTTP-24")
async def test_an_upgrade_from_another_origin_or_path_is_refused(kind: Kind) -> None:
    async with run_server(accord.asgi(Worker()), kind) as server:
        for url, headers in [(server.websocket, {"Origin": "https://evil.example"}), (server.websocket + "x", {})]:
            with pytest.raises(WebSocketUpgradeError) as caught:
                async with open_client() as client, client.websocket(url, headers=headers):
                    pass
            assert caught.value.response.status_code in (403, 404)


async def test_a_server_that_shuts_down_closes_with_the_code_for_it(kind: Kind) -> None:
    app = accord.asgi(Worker())
    async with run_server(app, kind) as server, open_socket(server) as socket:
        await ask(socket, initialize())
        await app.close(5)
        assert await close_code(socket) == 1001


async def test_revoked_access_closes_the_socket_while_it_streams(kind: Kind) -> None:
    agent: Agent = Worker()
    app = accord.asgi(agent)
    async with run_server(app, kind) as server, open_socket(server) as socket:
        await ask(socket, initialize())
        session = (await ask(socket, request(1, "session/new", cwd="/", mcpServers=[])))["result"]["sessionId"]
        prompt = request(2, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "many 100000"}])
        await socket.send_text(json.dumps(prompt))
        await socket.receive_text()
        assert app.close_connections(lambda peer: peer.kind == "websocket") == 1
        assert await close_code(socket) == 1008
