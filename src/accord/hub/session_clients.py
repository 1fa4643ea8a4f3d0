"""The clients that are attached to a session: each gets the session's events, from its own position on."""

from __future__ import annotations

from collections.abc import Iterator

from accord.connection.relay_connection import RelayConnection
from accord.errors import INVALID_REQUEST, NotFound, RequestFailed
from accord.hub.attachment import Attachment, Subscriber
from accord.hub.event_log import Event
from accord.hub.history import SessionHistory
from accord.hub.open_requests import OpenRequests
from accord.hub.principal import Role
from accord.hub.raw_params import write_object


class SessionClients:
    """The attachments of one session."""

    def __init__(self, session_id: str, history: SessionHistory, requests: OpenRequests) -> None:
        self._session_id = session_id
        self._history = history
        self._requests = requests
        self._attachments: dict[RelayConnection, Attachment] = {}

    def __len__(self) -> int:
        return len(self._attachments)

    def __iter__(self) -> Iterator[Attachment]:
        return iter(list(self._attachments.values()))

    def find(self, connection: RelayConnection) -> Attachment | None:
        """Return the attachment of a client; None if it isn't attached."""
        return self._attachments.get(connection)

    def has(self, origin: str) -> bool:
        """Return whether the client with this id is attached."""
        return any(each.subscriber.origin == origin for each in self._attachments.values())

    @property
    def has_drivers(self) -> bool:
        return any(each.can_drive for each in self._attachments.values())

    def connections(self) -> list[RelayConnection]:
        """Return the connections of all clients, drivers first."""
        ordered = sorted(self._attachments.values(), key=lambda each: not each.can_drive)
        return [each.subscriber.connection for each in ordered]

    def drivers(self) -> list[RelayConnection]:
        """Return the connections of the clients that may drive the session."""
        return [each.subscriber.connection for each in self._attachments.values() if each.can_drive]

    def check_drives(self, connection: RelayConnection) -> None:
        """Raise `RequestFailed` unless a client may drive the session."""
        attachment = self._attachments.get(connection)
        if attachment is None:
            raise NotFound(f"session {self._session_id} isn't open in this client; load or resume it first")
        if not attachment.can_drive:
            raise RequestFailed("you are watching this session; only a driver can do that", code=INVALID_REQUEST)

    def add(self, attachment: Attachment) -> None:
        """Attach a client: it gets every event after its position."""
        self._attachments[attachment.subscriber.connection] = attachment

    def remove(self, connection: RelayConnection) -> bool:
        """Detach a client, and return whether it was attached."""
        if self._attachments.pop(connection, None) is None:
            return False
        self._requests.withdraw(connection)
        return True

    def clear(self) -> None:
        """Detach all clients: the session is closed."""
        self._attachments.clear()

    async def replay(self, subscriber: Subscriber, role: Role, history: str, cursor: str) -> Attachment:
        """Send a client the history it asks for: `full`, `none`, or the events `after` a cursor.

        Returns its attachment. Nothing may be awaited before it is added, or events would be lost or sent twice."""
        attachment = Attachment(subscriber, role, self._history.seq)
        if history == "none":
            return attachment
        after = self._history.read_cursor(cursor) if history == "after" else None
        if history == "after" and after is None:
            params = write_object({"sessionId": self._session_id, "cursor": self._history.cursor})
            subscriber.connection.notify("_accord/snapshot", params)
        await self._history.replay(attachment, after, self._replay_request)
        return attachment

    def _replay_request(self, attachment: Attachment, event: Event) -> None:
        if attachment.subscriber.is_resume_aware:
            self._requests.send(attachment, event)

    def send(self, event: Event) -> None:
        """Send an event that is durable to all clients that don't have it yet."""
        for attachment in list(self._attachments.values()):
            if event.seq > attachment.seq:
                self._send(attachment, event)

    def _send(self, attachment: Attachment, event: Event) -> None:
        if event.kind == "request":
            attachment.seq = event.seq
            self._requests.send(attachment, event)
        elif event.origin and event.origin == attachment.subscriber.origin:
            attachment.seq = event.seq  # the client has its own prompt
        else:
            attachment.send(event, self._history.epoch)
