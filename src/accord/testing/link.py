"""Joins an agent and a client in memory, over real bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.agent.agent import Agent
from accord.client.connect import Connecting, connect

if TYPE_CHECKING:
    from accord.testing.scripted import ScriptedClient


def link(agent: Agent, client: ScriptedClient | None = None, *, version: int = 1, **options: Any) -> Connecting:
    """Connects to an agent in this process: the whole of both sides, without a process between.

    `client` is what answers the agent; `options` are those of `connect`."""
    if client is not None:
        options = {**client.options(), **options}
    return connect(agent, versions={version}, **options)
