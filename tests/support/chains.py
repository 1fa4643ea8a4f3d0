"""Commands of proxies, conductors and agents, and a raw agent that a test plays behind a proxy."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from accord.proxy import Conductor, Proxy, serve
from accord.testing import WirePeer
from accord.transports.base import Transport
from accord.transports.memory import pair

AGENTS = Path(__file__).resolve().parents[1] / "agents"


def agent_command() -> list[str]:
    return [sys.executable, str(AGENTS / "interop_agent.py"), str(AGENTS)]


def proxy_command(manner: str = "pass", *successor: str) -> list[str]:
    return [sys.executable, str(AGENTS / "proxy_component.py"), manner, *successor]


def conductor_command(*components: list[str]) -> list[str]:
    words = [word for component in components for word in ["--", *component]]
    return [sys.executable, str(AGENTS / "conductor_component.py"), *words[1:]]


PATIENT: dict[str, float | None] = dict.fromkeys(("first byte", "initialize", "session", "call"))
"""Deadlines for `connect`: none. A chain of processes starts slowly on a busy machine."""


def wire_peer(transport: Transport) -> WirePeer:
    """Return a peer that waits as long as the test may take."""
    peer = WirePeer(transport)
    peer.timeout = 600.0
    return peer


class Ends(NamedTuple):
    """Both ends of a proxy or a chain, played by the test."""

    client: WirePeer
    agent: WirePeer


@asynccontextmanager
async def between(*proxies: Proxy | list[str]) -> AsyncIterator[Ends]:
    """Play the client and the agent of a proxy, which owns its successor, or of a chain of several."""
    near, client_end = pair()
    far, agent_end = pair()
    client, agent = wire_peer(near), wire_peer(far)
    serving: asyncio.Task[None]
    if len(proxies) == 1 and isinstance(proxies[0], Proxy):
        serving = asyncio.create_task(serve(proxies[0], client_end, agent_end))
    else:
        serving = asyncio.create_task(Conductor(*proxies, agent_end).serve(client_end))
    try:
        yield Ends(client, agent)
    finally:
        await near.close()
        await serving
        await far.close()


async def initialize(ends: Ends, version: int = 1) -> None:
    """Let both ends agree on a version."""
    id = await ends.client.ask("initialize", {"protocolVersion": version})
    result = {"protocolVersion": version}
    if version == 2:
        result["info"] = {"name": "agent", "version": "1"}  # type: ignore[assignment]
    await ends.agent.reply(await ends.agent.next_call("initialize"), result)
    await ends.client.answer_to(id)
