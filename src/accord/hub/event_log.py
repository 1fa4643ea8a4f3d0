"""Event logs: every event of every session, in order, and the data to continue after a crash.

A log runs in the event loop, without waiting: `append` and the other methods collect writes, and `commit` makes them
durable. `CommitQueue` decides when to commit, and holds messages that must not be sent before that."""

from __future__ import annotations

import heapq
import secrets
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from accord.hub.principal import Role

EventKind = Literal["notification", "request", "notice"]
"""A notification or request of the agent (or of the hub on its behalf), or a notice for resume-aware clients only."""


MAX_REQUESTS_WITHOUT_SESSION = 10_000
"""How many saved requests without a session are kept, such as those for sessions that couldn't be created."""
PRUNE_EVERY = 1000
"""After how many of these requests the oldest are removed."""


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A message of a session to its clients."""

    seq: int
    kind: EventKind
    method: str
    params: bytes
    """JSON, as the agent sent it."""
    recorded_at: float
    origin: str = ""
    """The client that caused it and doesn't receive it, such as the sender of a prompt."""
    request: str = ""
    """The stable id of a request."""


class SavedState(msgspec.Struct):
    """The accumulated state of a session's events, so that they needn't be read when the session is opened."""

    seq: int = 0
    """The last event that is included."""
    size: int = 0
    """The bytes that the events take in the log."""
    is_working: bool = False
    """Whether the agent reports that it is working (version 2)."""
    context_tokens: int = 0
    session_cost: float = 0.0
    has_turn_tokens: bool = False


class SessionRecord(msgspec.Struct, kw_only=True):
    """A session in the log."""

    id: str
    agent_id: str
    """The agent's own id. It differs from `id` only if another agent process had used that id before."""
    owner: str
    cwd: str
    version: int
    params: msgspec.Raw
    """The params of `session/new`, to open the session again in a new agent process."""
    result: msgspec.Raw
    """The agent's result of opening it, with later changes of modes and options."""
    created_at: float
    updated_at: float
    title: str | None = None
    shared_with: dict[str, Role] = {}
    """Principals, besides the owner and admins, that may attach, and their role; `*` stands for everyone."""
    exact_from: int = 0
    """Events up to this one were compacted, so an older cursor needs a snapshot."""
    is_archived: bool = False
    """Whether default lists omit it."""
    state: SavedState = msgspec.field(default_factory=SavedState)


class SessionFilter(NamedTuple):
    """The sessions to list."""

    principal: str | None = None
    """Sessions that this principal owns, or that are shared with it; None for all."""
    cwd: str | None = None
    is_archived: bool | None = False
    """None for both."""
    before: tuple[float, str] | None = None
    """The `updated_at` and the id of the last session of the previous page."""

    def matches(self, record: SessionRecord) -> bool:
        """Return whether a session should be listed."""
        name, shared = self.principal, record.shared_with
        return (
            (name is None or record.owner == name or name in shared or "*" in shared)
            and self.cwd in (None, record.cwd)
            and self.is_archived in (None, record.is_archived)
            and (self.before is None or (record.updated_at, record.id) < self.before)
        )


class SavedRequest(NamedTuple):
    """A request that a client may send again, and its response once there is one."""

    method: str
    session_id: str
    response: bytes | None


class Spent(NamedTuple):
    """The tokens and costs of a principal in a day."""

    tokens: int = 0
    cost: float = 0.0


class EventLog(ABC):
    """Sessions and their events. Cursors are `epoch.seq`; the epoch names the log."""

    epoch: str

    @abstractmethod
    def append(self, session_id: str, event: Event) -> None:
        """Add the next event of a session."""

    @abstractmethod
    def events(self, session_id: str, after: int, limit: int, max_bytes: int = sys.maxsize) -> Sequence[Event]:
        """Return committed events after a sequence number, oldest first: at most `limit`, and none after their params
        have reached `max_bytes`."""

    @abstractmethod
    def last_seq(self, session_id: str) -> int:
        """Return the sequence number of the last committed event; 0 if there is none."""

    @abstractmethod
    def compact(self, session_id: str, events: Iterable[Event], until: int, after: int = 0) -> None:
        """Replace the events after `after` and up to `until` with these."""

    @abstractmethod
    def save_session(self, record: SessionRecord) -> None:
        """Add or replace a session."""

    @abstractmethod
    def session(self, session_id: str) -> SessionRecord | None:
        """Return a session, or None if it isn't in the log."""

    @abstractmethod
    async def list_sessions(self, wanted: SessionFilter, limit: int) -> Sequence[SessionRecord]:
        """Return the first committed sessions that match a filter, the last changed first."""

    @abstractmethod
    def delete_session(self, session_id: str) -> None:
        """Remove a session, its events and its requests."""

    @abstractmethod
    def save_request(self, key: str, method: str, session_id: str) -> None:
        """Add a request that is about to be executed, or assign it to a session.

        Requests are removed with their session. Of those without one (`""`), the log keeps the latest
        `MAX_REQUESTS_WITHOUT_SESSION`, and at most `PRUNE_EVERY` older ones."""

    @abstractmethod
    def save_response(self, key: str, response: bytes) -> None:
        """Add the response to a request."""

    @abstractmethod
    def request(self, key: str) -> SavedRequest | None:
        """Return a request by its key."""

    @abstractmethod
    def add_spent(self, principal: str, day: str, tokens: int, cost: float) -> None:
        """Add the usage of a principal."""

    @abstractmethod
    def read_spent(self, principal: str, day: str) -> Spent:
        """Return the usage of a principal on a day."""

    @abstractmethod
    def commit(self) -> None:
        """Make everything durable. Raises `StoreFailed`; nothing is lost then, and the next commit tries again."""

    @abstractmethod
    def close(self) -> None:
        """Commit and close. Idempotent."""


class MemoryEventLog(EventLog):
    """A log that ends with the process."""

    def __init__(self) -> None:
        self.epoch: str = secrets.token_hex(4)
        self._sessions: dict[str, SessionRecord] = {}
        self._events: dict[str, list[Event]] = {}
        self._requests: dict[str, SavedRequest] = {}
        self._unpruned = 0
        self._spent: dict[tuple[str, str], Spent] = {}

    def append(self, session_id: str, event: Event) -> None:
        self._events.setdefault(session_id, []).append(event)

    def events(self, session_id: str, after: int, limit: int, max_bytes: int = sys.maxsize) -> Sequence[Event]:
        events = self._events.get(session_id, [])
        start = _position(events, after)
        return take_page(events[start : start + limit], max_bytes)

    def last_seq(self, session_id: str) -> int:
        events = self._events.get(session_id)
        return events[-1].seq if events else 0

    def compact(self, session_id: str, events: Iterable[Event], until: int, after: int = 0) -> None:
        old = self._events.get(session_id, [])
        self._events[session_id] = [*old[: _position(old, after)], *events, *old[_position(old, until) :]]

    def save_session(self, record: SessionRecord) -> None:
        self._sessions[record.id] = record

    def session(self, session_id: str) -> SessionRecord | None:
        return self._sessions.get(session_id)

    async def list_sessions(self, wanted: SessionFilter, limit: int) -> Sequence[SessionRecord]:
        found = (record for record in self._sessions.values() if wanted.matches(record))
        return heapq.nlargest(limit, found, key=lambda record: (record.updated_at, record.id))

    def delete_session(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
        self._events.pop(session_id, None)
        self._requests = {key: each for key, each in self._requests.items() if each.session_id != session_id}

    def save_request(self, key: str, method: str, session_id: str) -> None:
        self._requests[key] = SavedRequest(method, session_id, None)
        if not session_id:
            self._unpruned += 1
            if self._unpruned >= PRUNE_EVERY:
                self._unpruned = 0
                old = [key for key, each in self._requests.items() if not each.session_id]
                for key in old[:-MAX_REQUESTS_WITHOUT_SESSION]:
                    del self._requests[key]

    def save_response(self, key: str, response: bytes) -> None:
        if key in self._requests:
            self._requests[key] = self._requests[key]._replace(response=response)

    def request(self, key: str) -> SavedRequest | None:
        return self._requests.get(key)

    def add_spent(self, principal: str, day: str, tokens: int, cost: float) -> None:
        known = self.read_spent(principal, day)
        self._spent[principal, day] = Spent(known.tokens + tokens, known.cost + cost)

    def read_spent(self, principal: str, day: str) -> Spent:
        return self._spent.get((principal, day), Spent())

    def commit(self) -> None:
        """Do nothing, because there is no file."""

    def close(self) -> None:
        """Do nothing."""


def take_page(events: Iterable[Event], max_bytes: int) -> list[Event]:
    """Return events until their params reach `max_bytes`; at least one, if there are any."""
    page, size = [], 0
    for event in events:
        page.append(event)
        size += len(event.params)
        if size >= max_bytes:
            break
    return page


def _position(events: Sequence[Event], after: int) -> int:
    """Return the index of the first event after a sequence number."""
    low, high = 0, len(events)
    while low < high:
        middle = (low + high) // 2
        if events[middle].seq <= after:
            low = middle + 1
        else:
            high = middle
    return low


def format_time(moment: float) -> str:
    """Format a time as RFC 3339, in UTC with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"
