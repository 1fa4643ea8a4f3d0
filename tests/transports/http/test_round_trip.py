"""A client and an agent over real sockets: both transports, both versions, both servers, HTTP/1.1 and HTTP/2."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from transports.http.web_server import KINDS, WebServer, run_server

import accord
from accord import Agent, Turn
from accord.transports.http.client import HttpOptions, HttpTransport


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        for word in turn.text.split():
            await turn.say(f"{word} ")


@pytest.fixture(params=KINDS)
async def server(request: pytest.FixtureRequest) -> AsyncIterator[WebServer]:
    async with run_server(accord.asgi(Echo()), request.param) as running:
        yield running


@pytest.mark.parametrize("scheme", ["http", "websocket"])
async def test_a_url_is_a_target_like_any_other(server: WebServer, scheme: str, version: int) -> None:
    async with accord.connect(getattr(server, scheme), versions={version}) as agent:
        session = await agent.new_session()
        turn = await session.prompt("one two three")

    assert (agent.version, turn.text) == (version, "one two three ")


async def test_http2_without_tls(server: WebServer, version: int) -> None:
    transport = await HttpTransport.connect(server.http, options=HttpOptions(http2=True))
    async with accord.connect(transport, versions={version}) as agent:
        session = await agent.new_session()
        turn = await session.prompt("one two three")

    assert turn.text == "one two three "
