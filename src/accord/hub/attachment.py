"""A client in a session: its role, and its position in the session's events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from accord.connection.relay_connection import RelayConnection
from accord.hub.agent_host import Offer
from accord.hub.event_log import Event, format_time
from accord.hub.principal import Principal, Role
from accord.hub.raw_params import add_meta
from accord.rpc.envelope import call_head

if TYPE_CHECKING:
    from accord.hub.mcp_relay import McpRelay


class Subscriber(Protocol):
    """A client connection, as sessions see it."""

    principal: Principal
    connection: RelayConnection
    offer: Offer
    version: int
    """The negotiated protocol version."""
    origin: str
    """The client's id. A resume-aware client keeps it when it reconnects."""
    is_resume_aware: bool

    def note_mcp(self, relay: McpRelay) -> None:
        """Register the MCP servers that this client offers to a session."""


class Attachment:
    """A client that is attached to a session."""

    def __init__(self, subscriber: Subscriber, role: Role, seq: int) -> None:
        self.subscriber = subscriber
        self.role: Role = role
        self.seq: int = seq
        """The last event that was sent to the client."""

    @property
    def can_drive(self) -> bool:
        return self.role != "watcher"

    def send(self, event: Event, epoch: str, *, is_replay: bool = False) -> None:
        """Send a notification or notice, unless the client caused it or has already received it."""
        self.seq = event.seq
        subscriber = self.subscriber
        if event.kind == "notice" and not subscriber.is_resume_aware:
            return
        params = self.params_for(event, epoch, is_replay=is_replay)
        subscriber.connection.outbox.send(b"%b%b}\n" % (call_head(event.method), params))

    def params_for(self, event: Event, epoch: str, *, is_replay: bool = False) -> bytes:
        """Return an event's params: unchanged for a plain client, with the cursor for a resume-aware one."""
        members = []
        if self.subscriber.is_resume_aware:
            members.append(b'"accord/cursor":"%b.%d"' % (epoch.encode(), event.seq))
            if event.request:
                members.append(b'"accord/request":"%b"' % event.request.encode())
        if is_replay:
            members.append(b'"accord/recordedAt":"%b"' % format_time(event.recorded_at).encode())
        return add_meta(event.params, b",".join(members)) if members else event.params
