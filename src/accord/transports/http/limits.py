"""Limits of an HTTP endpoint on all resources that a client could exhaust."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class HttpLimits:
    """Limits of one endpoint and of each client connection."""

    body_bytes: int = 64 * MIB
    """The longest POST body and WebSocket message. The server program may have a lower limit."""
    body_seconds: float = 60.0
    """How long a POST body may take to arrive."""
    connections: int = 1000
    """The maximum number of client connections."""
    streams: int = 1000
    """Streams per connection: one for the connection, one for each session."""
    stream_messages: int = 100_000
    """Unsent messages per stream. A connection that exceeds this, or `stream_bytes`, is closed."""
    stream_bytes: int = 64 * MIB
    """Unsent bytes per stream. Senders have to wait long before (`waiting_bytes`); only those that don't reach this."""
    waiting_bytes: int = MIB
    """Unsent bytes per connection above which senders have to wait."""
    replay_messages: int = 2000
    """Sent messages that each stream keeps for a client that reconnects with `Last-Event-ID`."""
    replay_bytes: int = 4 * MIB
    """Bytes of those messages."""
    idle_seconds: float = 60.0
    """How long a Streamable HTTP connection is kept without any stream, so that its client can reconnect."""
    stall_seconds: float = 120.0
    """How long a stream may accept nothing before it is dropped."""
    keep_alive_seconds: float = 15.0
    """How often an idle event stream sends a comment, so that proxies keep it open and a dead client is detected."""
    initialize_seconds: float = 60.0
    """How long the agent may take to answer `initialize`, and a WebSocket client to send it."""
