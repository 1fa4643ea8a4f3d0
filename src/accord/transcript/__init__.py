"""Folds session updates into the state of a session, without I/O.

The same updates in the same order produce the same transcript, so all user interfaces agree. `Transcript` is
independent of the version; the folds in `transcript.v1` and `transcript.v2` are imported once a version is negotiated.

The package also has what every user interface needs: the duration of calls (`timing`), calls that never finished
(`unfinished_calls`), and the status of MCP servers (`mcp_status`)."""

from __future__ import annotations

from accord.transcript.message import Message
from accord.transcript.snapshot import Snapshot
from accord.transcript.transcript import TimelineItem, Transcript

__all__ = ["Message", "Snapshot", "TimelineItem", "Transcript"]
