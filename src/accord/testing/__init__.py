"""The test kit for authors of agents and clients: connect both in memory, or script one side."""

from __future__ import annotations

from accord.testing.link import AgentLink as AgentLink
from accord.testing.link import link as link
from accord.testing.recording import Recorder as Recorder
from accord.testing.recording import Recording as Recording
from accord.testing.script import ScriptedAgent as ScriptedAgent
from accord.testing.script import ScriptedClient as ScriptedClient
from accord.testing.snapshot import TranscriptSnapshot as TranscriptSnapshot
from accord.testing.snapshot import render_transcript as render_transcript
from accord.testing.wire import WirePeer as WirePeer
from accord.testing.wire import wire_agent as wire_agent
from accord.testing.wire import wire_client as wire_client

__all__ = [
    "AgentLink",
    "Recorder",
    "Recording",
    "ScriptedAgent",
    "ScriptedClient",
    "TranscriptSnapshot",
    "WirePeer",
    "link",
    "render_transcript",
    "wire_agent",
    "wire_client",
]
