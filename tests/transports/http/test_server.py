"""The endpoint over real sockets: statuses, streams, limits and the end of connections, on both server programs."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.link import until
from transports.http.agents import Keeper, Worker
from transports.http.raw_client import RawClient, initialize, open_client, request
from transports.http.web_server import Certificate, Kind, run_server

import accord
from accord import Agent
from accord.transports.base import Transport
from accord.transports.http.asgi import Endpoint, Peer
from accord.transports.http.limits import HttpLimits


@asynccontextmanager
async def serving(kind: Kind, agent: Agent | None = None, **limits: Any) -> AsyncIterator[RawClient]:
    app = accord.asgi(agent or Worker(), limits=dataclasses.replace(HttpLimits(), **limits))
    async with run_server(app, kind) as server, open_client() as client:
        yield RawClient(server, client)


def prompt(id: int, session: str, text: str) -> dict[str, Any]:
    return request(id, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])


def texts(messages: list[dict[str, Any]]) -> list[str]:
    updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
    return [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]


@pytest.mark.req("V1-HTTP-06", "V1-HTTP-07", "V1-HTTP-10", "V1-HTTP-11", "V1-HTTP-18", "V2-HTTP-01")
async def test_a_session_over_post_and_two_streams(kind: Kind, version: int) -> None:
    async with serving(kind) as client:
        opened = await client.connect(version)
        assert opened.headers["Content-Type"] == "application/json"
        assert opened.json()["result"]["protocolVersion"] == version
        async with client.events() as main:
            assert main.response.headers["Content-Type"] == "text/event-stream"
            accepted = await client.post(request(1, "session/new", cwd="/", mcpServers=[]))
            assert (accepted.status_code, accepted.content) == (202, b"")
            session = (await main.until(id=1))[-1]["result"]["sessionId"]
            async with client.events(session) as events:
                accepted = await client.post(prompt(2, session, "one two"), session)
                assert (accepted.status_code, accepted.content) == (202, b"")
                seen = await events.until(id=2)
                if version == 2:
                    while texts(seen) != ["one ", "two "]:
                        seen.append(await events.next())
        assert texts(seen) == ["one ", "two "]


@pytest.mark.req("V1-HTTP-01", "V1-HTTP-12", "V1-HTTP-13", "V1-HTTP-14", "V1-HTTP-16", "V1-HTTP-17")
async def test_every_refusal_has_its_status_and_says_why(kind: Kind) -> None:
    async with serving(kind, body_bytes=10_000) as client:
        wrong = RawClient(client.server, client.client)
        wrong.ids = {"Acp-Connection-Id": "unknown"}
        outside = RawClient(client.server, client.client)
        await client.connect()
        list_sessions = request(1, "session/list")
        refusals = {
            "not JSON": (415, await client.post(b"x", Content_Type="text/plain")),
            "no connection": (400, await outside.post(list_sessions)),
            "unknown connection": (404, await wrong.post(list_sessions)),
            "no session": (400, await client.post(request(1, "session/prompt"))),
            "another session": (400, await client.post(prompt(1, "a", "x"), "b")),
            "initialized already": (400, await client.post(initialize())),
            "no message": (400, await client.post(b"{no JSON")),
            "a batch": (501, await client.post([list_sessions])),
            "too long": (413, await client.post(b'{"x":"' + b"x" * 20_000 + b'"}')),
            "another origin": (403, await client.post(list_sessions, Origin="https://evil.example")),
            "delete nothing": (400, await outside.delete()),
            "delete unknown": (404, await wrong.delete()),
            "another method": (405, await client.client.put(client.server.http, content=b"")),
            "another path": (404, await client.client.post(client.server.http + "x", content=b"")),
        }
        for name, (status, response) in refusals.items():
            assert (name, response.status_code) == (name, status)
            assert response.text, name
        assert "10000 bytes" in refusals["too long"][1].text
        assert refusals["another method"][1].headers["Allow"] == "GET, POST, DELETE"
        assert await client.get_status(Accept="application/json") == 406
        assert await outside.get_status() == 400
        assert await wrong.get_status() == 404
        assert (await client.post(list_sessions)).status_code == 202, "nothing of this ended the connection"


@pytest.mark.req("V1-HTTP-14")
async def test_a_stream_has_one_receiver_at_a_time(kind: Kind) -> None:
    async with serving(kind) as client:
        await client.connect()
        async with client.events():
            assert await client.get_status() == 409
            assert await client.get_status("a session") == 200


@pytest.mark.req("V1-HTTP-15", "V1-HTTP-22", "V1-HTTP-21")
async def test_after_a_drop_a_new_connection_opens_the_stream_and_then_loads_the_session(kind: Kind) -> None:
    async with serving(kind, Keeper()) as client:
        await client.connect()
        async with client.events() as main:
            session = await client.new_session(main)
            async with client.events(session) as events:
                await client.post(prompt(2, session, "one two"), session)
                await events.until(id=2)
        await client.delete()
        assert await client.get_status() == 404

        client.ids = {}
        await client.connect()
        async with client.events() as main, client.events(session) as events:
            load = request(1, "session/load", sessionId=session, cwd="/", mcpServers=[])
            assert (await client.post(load, session)).status_code == 202
            assert "result" in (await main.until(id=1))[-1]
            seen: list[dict[str, Any]] = []
            while "".join(texts(seen)) != "one two ":
                seen.append(await events.next())


@pytest.mark.req("V1-HTTP-17")
async def test_delete_ends_the_connection_and_its_streams(kind: Kind) -> None:
    agent = Worker()
    async with serving(kind, agent) as client:
        await client.connect()
        async with client.events() as main:
            session = await client.new_session(main)
            await client.post(prompt(2, session, "wait"), session)
            await agent.waiting.wait()
            assert (await client.delete()).status_code == 202
            await main.wait_ended()
        assert (await client.post(request(3, "session/list"))).status_code == 404
        await agent.cancelled.wait()
        await agent.disconnected.wait()


@pytest.mark.req("V1-HTTP-19")
async def test_a_burst_before_the_stream_opens_arrives_whole_and_in_order(kind: Kind) -> None:
    async with serving(kind) as client:
        await client.connect()
        async with client.events() as main:
            session = await client.new_session(main)
            await client.post(prompt(2, session, "many 1500"), session)
            async with client.events(session) as events:
                seen = await events.until(id=2)
        assert "".join(texts(seen)).split() == [str(number) for number in range(1500)]


async def test_a_client_continues_where_its_stream_broke_off(kind: Kind) -> None:
    async with serving(kind) as client:
        await client.connect()
        async with client.events() as main:
            session = await client.new_session(main)
            async with client.events(session) as events:
                await client.post(prompt(2, session, "many 300"), session)
                seen = [await events.next() for _ in range(100)]
                last = events.last_id
            while True:  # the server may need a moment to notice that the stream is gone
                async with client.events(session, Last_Event_ID=last) as events:
                    if events.response.status_code == 409:
                        continue
                    seen += await events.until(id=2)
                    break
            assert await client.get_status("unknown", Last_Event_ID="7") == 404
    assert "".join(texts(seen)).split() == [str(number) for number in range(300)]


async def test_a_slow_reader_slows_only_its_own_connection(kind: Kind) -> None:
    agent = Worker()
    async with serving(kind, agent, waiting_bytes=10_000) as slow, open_client() as other:
        quick = RawClient(slow.server, other)
        await slow.connect()
        await quick.connect()
        async with slow.events() as main, quick.events() as their_main:
            session = await slow.new_session(main)
            await slow.post(prompt(2, session, "many 1000"), session)  # and nobody receives it
            theirs = await quick.new_session(their_main)
            async with quick.events(theirs) as events:
                await quick.post(prompt(2, theirs, "one two"), theirs)
                assert texts(await events.until(id=2)) == ["one ", "two "]
            async with slow.events(session) as events:
                assert len(texts(await events.until(id=2))) == 1000


async def test_a_silent_stream_sends_comments(kind: Kind) -> None:
    async with serving(kind, keep_alive_seconds=0.05) as client:
        await client.connect()
        async with client.events() as main:
            seen = ""
            async for text in main.response.aiter_text():
                seen += text
                if seen.count(": keep-alive\n\n") >= 3:
                    break


async def test_a_connection_without_streams_ends_after_a_while(kind: Kind) -> None:
    agent = Worker()
    async with serving(kind, agent, idle_seconds=0.2) as client:
        await client.connect()
        await agent.disconnected.wait()
        assert (await client.post(request(1, "session/list"))).status_code == 404


async def test_connections_are_limited(kind: Kind) -> None:
    async with serving(kind, connections=1) as client:
        await client.connect()
        client.ids = {}
        refused = await client.post(initialize())
        assert (refused.status_code, "connections" in refused.text) == (503, True)


@pytest.mark.req("V1-HTTP-23")
async def test_the_id_of_a_connection_is_not_a_credential(kind: Kind) -> None:
    async def accept(transport: Transport, peer: Peer) -> None:
        await accord.agent.run.serve(Worker(), transport)  # type: ignore[attr-defined]

    endpoint = Endpoint(accept)

    async def authenticate(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            name = dict(scope["headers"]).get(b"authorization", b"").decode()
            scope.setdefault("state", {})["accord.principal"] = name
        await endpoint(scope, receive, send)

    import accord.agent.run

    async with run_server(authenticate, kind) as server, open_client(headers={"Authorization": "ada"}) as hers:
        ada = RawClient(server, hers)
        await ada.connect()
        assert [peer.principal for peer in endpoint.peers] == ["ada"]
        async with open_client(headers={"Authorization": "eve"}) as theirs:
            eve = RawClient(server, theirs)
            eve.ids = ada.ids
            assert (await eve.post(request(1, "session/list"))).status_code == 404
            assert (await eve.delete()).status_code == 404
        assert (await ada.post(request(1, "session/list"))).status_code == 202
        assert endpoint.close_connections(lambda peer: peer.principal == "ada") == 1
        assert (await ada.post(request(1, "session/list"))).status_code == 404


async def test_a_repeated_post_is_delivered_once(kind: Kind) -> None:
    async with serving(kind) as client:
        await client.connect()
        async with client.events() as main:
            for _ in range(3):
                response = await client.post(request(1, "session/new", cwd="/", mcpServers=[]), Idempotency_Key="k")
                assert response.status_code == 202
            await client.post(request(2, "session/list"))
            assert [message["id"] for message in await main.until(id=2)] == [1, 2]


@pytest.mark.req("V1-HTTP-02")
async def test_http2_with_tls_and_without(kind: Kind, certificate: Certificate) -> None:
    import ssl

    trusting = ssl.create_default_context(cafile=str(certificate.cert))
    for given in (None, certificate):
        options: dict[str, Any] = {"http2": True, "http1": given is not None}
        async with (
            run_server(accord.asgi(Worker()), kind, certificate=given) as server,
            open_client(**options, **({} if given is None else {"verify": trusting})) as http,
        ):
            client = RawClient(server, http)
            response = await client.connect()
            assert response.http_version == "HTTP/2"


async def test_shutting_down_ends_streams_after_their_last_messages(kind: Kind) -> None:
    agent = Worker()
    app = accord.asgi(agent)
    async with run_server(app, kind) as server, open_client() as http:
        client = RawClient(server, http)
        await client.connect()
        async with client.events() as main:
            session = await client.new_session(main)
            async with client.events(session) as events:
                await client.post(prompt(2, session, "wait"), session)
                await agent.waiting.wait()
                closing = asyncio.create_task(app.close(5))
                seen = await events.until(id=2)
                assert seen[-1]["result"]["stopReason"] == "cancelled"
                await events.wait_ended()
            await main.wait_ended()
            await closing
        client.ids = {}
        assert (await client.post(initialize())).status_code == 503
    await until(lambda: not app.peers)
