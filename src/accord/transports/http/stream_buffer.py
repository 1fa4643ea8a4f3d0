"""The messages of one event stream: unsent ones, and the last ones sent, which a client may request again. No I/O.

Each message is an SSE event with an id: its number in the stream, and if it depends on an event of another stream, the
number of that event (`12;after=4;session=…`)."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple
from urllib.parse import quote, unquote

from accord.transports.http.limits import HttpLimits

CHUNK_BYTES = 64 * 1024


class Event(NamedTuple):
    """A message in its wire format."""

    number: int
    data: bytes


class EventId(NamedTuple):
    """An event id, decoded."""

    number: int
    after: int = 0
    """The number of the event in the stream of `session` that must be received before this one; 0 if there is none."""
    session: str = ""


def write_event_id(id: EventId) -> str:
    """Encode an event id."""
    return f"{id.number};after={id.after};session={quote(id.session, safe='')}" if id.after else str(id.number)


def read_event_id(text: str) -> EventId | None:
    """Decode an event id; None if it isn't one of ours."""
    number, *rest = text.split(";")
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        return None
    if not rest:
        return EventId(int(number))
    fields = dict(part.partition("=")[::2] for part in rest)
    after, session = fields.get("after", ""), unquote(fields.get("session", ""))
    if not after.isascii() or not after.isdigit() or len(after) > 18 or not session:
        return EventId(int(number))
    return EventId(int(number), int(after), session)


class StreamBuffer:
    """Unsent and recently sent events of one stream."""

    def __init__(self, limits: HttpLimits) -> None:
        self.last_number: int = 0
        """The number of the newest event."""
        self.unsent_bytes: int = 0
        self._limits = limits
        self._unsent: deque[Event] = deque()
        self._sent: deque[Event] = deque()
        self._sent_bytes = 0

    @property
    def unsent_messages(self) -> int:
        """The number of unsent events."""
        return len(self._unsent)

    @property
    def is_full(self) -> bool:
        """Whether more is unsent than the limits allow."""
        return len(self._unsent) > self._limits.stream_messages or self.unsent_bytes > self._limits.stream_bytes

    def add(self, message: bytes, after: EventId | None = None) -> None:
        """Add a message, without its line end."""
        self.last_number += 1
        number = self.last_number
        id = str(number) if after is None else write_event_id(EventId(number, after.number, after.session))
        event = Event(number, b"id: %b\ndata: %b\n\n" % (id.encode(), message))
        self._unsent.append(event)
        self.unsent_bytes += len(event.data)

    def take(self) -> bytes:
        """Take the next events, about as many as fit into one write; empty if there are none."""
        chunk: list[bytes] = []
        size = 0
        while self._unsent and size < CHUNK_BYTES:
            event = self._unsent.popleft()
            chunk.append(event.data)
            size += len(event.data)
            self._sent.append(event)
        self.unsent_bytes -= size
        self._sent_bytes += size
        while len(self._sent) > self._limits.replay_messages or self._sent_bytes > self._limits.replay_bytes:
            self._sent_bytes -= len(self._sent.popleft().data)
        return b"".join(chunk)

    def rewind(self, last_event_id: str) -> bool:
        """Continue after the event that the client received last. Returns False if it is no longer available."""
        id = read_event_id(last_event_id)
        first_unsent = self._unsent[0].number if self._unsent else self.last_number + 1
        if id is None or id.number >= first_unsent:
            return False
        oldest = self._sent[0].number if self._sent else first_unsent
        if id.number + 1 < oldest:
            return False
        while self._sent and self._sent[-1].number > id.number:
            event = self._sent.pop()
            self._unsent.appendleft(event)
            self.unsent_bytes += len(event.data)
            self._sent_bytes -= len(event.data)
        return True
