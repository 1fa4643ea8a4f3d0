"""For those who test agents and clients: join both in memory, or play one side by a script."""

from __future__ import annotations

from accord.testing.link import link as link
from accord.testing.scripted import ScriptedAgent as ScriptedAgent
from accord.testing.scripted import ScriptedClient as ScriptedClient
from accord.testing.wire import WirePeer as WirePeer
from accord.testing.wire import wire_agent as wire_agent
from accord.testing.wire import wire_client as wire_client

__all__ = ["ScriptedAgent", "ScriptedClient", "WirePeer", "link", "wire_agent", "wire_client"]
