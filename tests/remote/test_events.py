"""A lost connection as an application sees it: two events, and a transcript that is complete."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from support.cut_conversation import AT_ONCE
from support.cut_runs import MemoryNetwork
from support.cutting_transport import Open
from support.hub_client import InProcessSpawner
from support.waiting_agent import Waiting

import accord
from accord.hub.hub import Hub
from accord.remote.resuming_transport import ResumingTransport
from accord.transcript.message import Message
from accord.transports.base import Receiver, Transport


class Cuttable(MemoryNetwork):
    """Keeps the newest connection, so that a test can cut it."""

    last: Transport

    async def open(self) -> Transport:
        self.last = await super().open()
        return self.last


class Forgetful(Transport):
    """Changes the epoch of every cursor that the client sends, as if the server had lost its log."""

    def __init__(self, open: Open, inner: Transport | None = None) -> None:
        self._open = open
        self._inner = inner

    async def open(self) -> Transport:
        return Forgetful(self._open, await self._open())

    def start(self, receiver: Receiver) -> None:
        assert self._inner is not None
        self._inner.start(receiver)

    def send(self, data: bytes) -> Awaitable[None]:
        assert self._inner is not None
        return self._inner.send(re.sub(rb'"accord/after":"\w+\.', b'"accord/after":"unknown.', data))

    def flush(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def close(self) -> None:
        assert self._inner is not None
        await self._inner.close()


async def test_a_turn_continues_over_a_lost_connection_and_its_events_tell(version: int, tmp_path: Path) -> None:
    go_on = asyncio.Event()
    async with Hub(InProcessSpawner(lambda: Waiting(go_on)), root=tmp_path) as hub:
        network = Cuttable(hub)
        transport = ResumingTransport(await network.open(), network.open, retry=AT_ONCE)
        async with accord.connect(transport, cwd=tmp_path, versions={version}) as agent:
            session = await agent.new_session()
            kinds: list[Any] = []
            turn = session.prompt("hello")
            async for event in turn:
                kinds.append(type(event))
                if isinstance(event, accord.Text) and event.text == "one ":
                    await network.last.close()
                elif isinstance(event, accord.Resumed):
                    go_on.set()
            assert turn.text == "one two"
            assert turn.stop_reason == "end_turn"
            assert [kind for kind in kinds if kind in (accord.Text, accord.Disconnected, accord.Resumed)] == [
                accord.Text,
                accord.Disconnected,
                accord.Resumed,
                accord.Text,
            ]


async def test_a_client_without_a_session_is_notified_of_a_lost_connection(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(lambda: Waiting(asyncio.Event())), root=tmp_path) as hub:
        network = Cuttable(hub)
        transport = ResumingTransport(await network.open(), network.open, retry=AT_ONCE)
        async with (
            accord.connect(transport, cwd=tmp_path, versions={version}) as agent,
            agent.events() as events,
        ):
            await network.last.close()
            assert isinstance(await anext(events), accord.Disconnected)
            assert isinstance(await anext(events), accord.Resumed)


async def test_a_transcript_starts_over_when_the_server_no_longer_knows_the_cursor(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    spawner = InProcessSpawner(lambda: Waiting(go_on))
    async with Hub(spawner, root=tmp_path) as hub:
        network = Cuttable(hub)
        forget = Forgetful(network.open)
        transport = ResumingTransport(await forget.open(), forget.open, retry=AT_ONCE)
        async with accord.connect(transport, cwd=tmp_path) as agent:
            session = await agent.new_session()
            turn = session.prompt("hello")
            replayed: list[str] = []
            async with session.events() as events:
                async for event in events:
                    if isinstance(event, accord.Text) and event.replayed:
                        replayed.append(event.text)
                        go_on.set()
                    elif isinstance(event, accord.Text) and event.text == "one ":
                        await network.last.close()
                    elif isinstance(event, accord.Text):
                        break
            await turn
            assert replayed == ["one "]
            assert turn.text == "one two"
            roles = [(item.role, item.text) for item in session.transcript.timeline if isinstance(item, Message)]
            assert roles == [("user", "hello"), ("agent", "one two")]
