"""One end by hand, the other a real connection: for tests whose subject is the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from accord import v1, v2
from accord.connection.limits import Limits
from accord.connection.typed_connection import TypedConnection
from accord.testing import WirePeer
from accord.transports.memory import pair

BOUND = 300.0

HELLO: dict[int, dict[str, Any]] = {
    1: {"protocolVersion": 1, "clientCapabilities": {}},
    2: {"protocolVersion": 2, "info": {"name": "by hand", "version": "0"}, "capabilities": {}},
}


class Serves:
    """Handlers made of keyword arguments; an agent's `initialize` is there unless it is given."""

    def __init__(self, **handlers: Callable[..., Any]) -> None:
        self.__dict__.update(handlers)


def hello_v1(params: v1.InitializeRequest) -> v1.InitializeResponse:
    return v1.InitializeResponse(protocol_version=1)


def hello_v2(params: v2.InitializeRequest) -> v2.InitializeResponse:
    return v2.InitializeResponse(
        protocol_version=2, info=v2.Implementation(name="agent", version="0"), capabilities=v2.AgentCapabilities()
    )


@asynccontextmanager
async def a_client(
    *, version: int = 1, limits: Limits | None = None, unstable: bool = False, **handlers: Any
) -> AsyncIterator[tuple[WirePeer, Any]]:
    """A client with these handlers, and the agent's end by hand."""
    ours, theirs = pair(max_message_bytes=limits.max_message_bytes) if limits else pair()
    peer = WirePeer(ours)
    words = v1 if version == 1 else v2
    async with words.connect(theirs, Serves(**handlers), limits=limits, unstable=unstable) as connection:
        yield peer, connection
    await ours.close()


@asynccontextmanager
async def an_agent(
    *, version: int = 1, limits: Limits | None = None, unstable: bool = False, said_hello: bool = True, **handlers: Any
) -> AsyncIterator[tuple[WirePeer, Any]]:
    """An agent with these handlers, and the client's end by hand, past the handshake."""
    ours, theirs = pair(max_message_bytes=limits.max_message_bytes) if limits else pair()
    peer = WirePeer(ours)
    words, hello = (v1, hello_v1) if version == 1 else (v2, hello_v2)
    handlers = {"initialize": hello, **handlers}
    async with words.serve(theirs, Serves(**handlers), limits=limits, unstable=unstable) as connection:
        if said_hello:
            answer = await peer.answer_to(await peer.ask("initialize", HELLO[version], id="hello"))
            assert "result" in answer, answer
        yield peer, connection
    await ours.close()


def update(session: str, text: str) -> dict[str, Any]:
    """A message chunk, as params of `session/update`."""
    return {
        "sessionId": session,
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}},
    }


def text_of(params: Any) -> str:
    """Return the text of a chunk."""
    said: str = params.update.content.text
    return said


def prompt(session: str) -> dict[str, Any]:
    """The params of `session/prompt`."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}


async def until(condition: Callable[[], Any]) -> None:
    """Lets the loop run until something is so, within a bound."""
    async with asyncio.timeout(BOUND):
        while not condition():  # noqa: ASYNC110  # the condition has no event
            await asyncio.sleep(0)


async def passes(times: int = 20) -> None:
    """Lets the loop run a little: long enough for whatever could happen at once."""
    for _ in range(times):
        await asyncio.sleep(0)


def problems(connection: TypedConnection) -> list[Any]:
    """Return a list to which the connection's problems are added from now on."""
    seen: list[Any] = []
    connection.connection.on_problem = seen.append
    return seen
