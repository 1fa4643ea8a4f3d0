"""Runs of a conversation over connections that break in chosen ways."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from support.cut_conversation import AT_ONCE, Conversation, Shape, Talker, Tally
from support.cutting_transport import Open, Scissors
from support.faulty_proxy import Fault, run_proxy
from support.hub_client import ALICE, InProcessSpawner
from transports.http.web_server import run_server

import accord
from accord.client.agent import ConnectedAgent
from accord.errors import ConnectionClosed, LaunchError
from accord.hub.hub import Hub
from accord.remote.resuming_transport import ResumingTransport, Retry
from accord.transports.base import Transport
from accord.transports.http.asgi import Endpoint, Peer
from accord.transports.http.client import HttpOptions, open_url
from accord.transports.http.limits import HttpLimits
from accord.transports.memory import pair

Scheme = Literal["http", "ws"]
SCHEMES: tuple[Scheme, ...] = ("http", "ws")


class CutRun(NamedTuple):
    """The result of one conversation."""

    tally: Tally
    messages: int
    """Messages, or bytes on a network."""
    cuts: int


class MemoryNetwork:
    """Opens connections to a hub in this process."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._serving: set[asyncio.Task[Any]] = set()

    async def open(self) -> Transport:
        ours, theirs = pair()
        task = asyncio.ensure_future(self.hub.accept(theirs, ALICE))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return ours


async def run_in_memory(cuts: set[int], shape: Shape, version: int, cwd: Path) -> CutRun:
    """Run a conversation over memory transports that break before the messages with these numbers."""
    heard: list[str] = []
    async with Hub(InProcessSpawner(lambda: Talker(shape.words, heard)), root=cwd) as hub:
        scissors = Scissors(cuts)
        open = scissors.wrap(MemoryNetwork(hub).open)
        transport = ResumingTransport(await open(), open, retry=AT_ONCE)
        conversation = Conversation(shape)
        async with accord.connect(transport, cwd=cwd, versions={version}, permissions=conversation.permit) as agent:
            await conversation.run(agent, str(cwd))
        return CutRun(conversation.check(heard), scissors.messages, scissors.done)


@asynccontextmanager
async def serve(hub: Hub) -> AsyncIterator[int]:
    """Serve a hub by HTTP and WebSocket on a free port."""

    async def accept(transport: Transport, peer: Peer) -> None:
        await hub.accept(transport, ALICE)

    async with run_server(Endpoint(accept, limits=HttpLimits(keep_alive_seconds=0.2)), "uvicorn") as server:
        yield server.port


async def run_on_network(
    scheme: Scheme,
    shape: Shape,
    version: int,
    cwd: Path,
    *,
    cuts: set[int] | None = None,
    faults: Sequence[Fault] = (),
    patience: float = 0.5,
) -> CutRun:
    """Run a conversation over real sockets, cut before messages with these numbers or by faults of a proxy.

    With stalls among the faults, a connection counts as lost after `patience` seconds without a response. A false alarm
    is one more cut, but a machine that always takes longer never gets to the end."""
    heard: list[str] = []
    async with (
        Hub(InProcessSpawner(lambda: Talker(shape.words, heard)), root=cwd) as hub,
        serve(hub) as port,
        run_proxy(port, faults) as proxy,
    ):
        url = f"{scheme}://127.0.0.1:{proxy.port}/acp"
        retry, silence = AT_ONCE, 60.0
        if any(fault.kind == "stall" for fault in faults):
            retry, silence = AT_ONCE._replace(heartbeat_seconds=0.5, timeout_seconds=patience), 4 * patience
        options = HttpOptions(connect_seconds=5.0, resume_seconds=1.0, silence_seconds=silence)
        run = await talk(url, options, shape, version, cwd, heard, cuts or set(), retry)
        return run if cuts is not None else run._replace(messages=proxy.bytes, cuts=proxy.done)


async def talk(
    url: str,
    options: HttpOptions,
    shape: Shape,
    version: int,
    cwd: Path,
    heard: list[str],
    cuts: set[int],
    retry: Retry,
) -> CutRun:
    """Run a conversation with the agent at a URL."""
    scissors = Scissors(cuts)

    async def connect() -> Transport:
        return await open_url(url, options)

    conversation = Conversation(shape)
    async with await _connect(scissors.wrap(connect), cwd, version, conversation, retry) as agent:
        await conversation.run(agent, str(cwd))
    return CutRun(conversation.check(heard), scissors.messages, scissors.done)


async def _connect(open: Open, cwd: Path, version: int, conversation: Conversation, retry: Retry) -> ConnectedAgent:
    """Connect for the first time, which an application has to retry itself."""
    while True:
        try:
            transport = ResumingTransport(await open(), open, retry=retry)
            return await accord.connect(transport, cwd=cwd, versions={version}, permissions=conversation.permit)
        except (LaunchError, ConnectionClosed):
            continue
