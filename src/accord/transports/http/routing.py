"""Choose the stream of each message. No I/O.

A Streamable HTTP connection has one stream for itself and one for each session. Calls are sent on the stream of their
session, responses on the stream of their request. `$/` messages and the responses that open a session are sent on the
connection's stream."""

from __future__ import annotations

from typing import NamedTuple

from accord.transports.http.message_head import MessageHead

OPENING_METHODS = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
"""Requests that open a session. The client may not have opened the session's stream, so the response is sent on the
connection's stream."""

REATTACHING_METHODS = frozenset({"session/load", "session/resume"})
"""Requests that open a session that the client already knows. Its updates may precede the response."""

CLOSING_METHODS = frozenset({"session/close", "session/delete"})
"""Requests after which a session's stream is no longer needed."""

ACKNOWLEDGING_METHODS = frozenset({"_accord/ping"})
"""Requests whose response acknowledges all earlier messages, in all sessions."""

SESSION_METHODS = frozenset(
    {
        "session/prompt",
        "session/cancel",
        "session/close",
        "session/set_mode",
        "session/set_model",
        "session/set_config_option",
        *REATTACHING_METHODS,
    }
)
"""Calls of a client that require a session."""

MAX_OPEN_ROUTES = 100_000
"""Requests without a response that are remembered in each direction."""


class Route(NamedTuple):
    """The stream of an outgoing message, and the messages that must be received before it."""

    session: str | None
    """None is the connection's stream."""
    after: str | None = None
    """A session whose earlier messages must be received before this one. Otherwise, streams aren't ordered."""
    is_last: bool = False
    """Whether it ends its stream: it answers the request that closed the session."""


CONNECTION_STREAM = Route(None)


class StreamRouter:
    """Routes the messages of a server to the streams of one connection."""

    def __init__(self) -> None:
        self._answers: dict[bytes, Route] = {}  # the client's open requests
        self._asked: dict[bytes, str] = {}  # the server's open requests that went to a session's stream

    def note_incoming(self, head: MessageHead, session: str | None) -> None:
        """Record a message of the client, which belongs to this session."""
        if head.kind == "response":
            self._asked.pop(head.id, None)
        elif head.kind == "request" and len(self._answers) < MAX_OPEN_ROUTES:
            if head.is_connection_scoped or head.method in OPENING_METHODS:
                self._answers[head.id] = Route(None, after=session)
            else:
                is_last = session is not None and head.method in CLOSING_METHODS
                self._answers[head.id] = Route(session, is_last=is_last)

    def route(self, head: MessageHead) -> Route:
        """Choose the stream of a message of the server."""
        if head.kind == "response":
            route = self._answers.pop(head.id, CONNECTION_STREAM)
            return route._replace(is_last=False) if head.failed else route
        if head.is_connection_scoped:
            return Route(None, after=self._asked.get(head.cancels)) if head.cancels else CONNECTION_STREAM
        if head.kind == "request" and head.session is not None and len(self._asked) < MAX_OPEN_ROUTES:
            self._asked[head.id] = head.session
        return Route(head.session)


class SessionHeaders:
    """Chooses the session that a client names in the header of each POST."""

    def __init__(self) -> None:
        self._asked: dict[bytes, str] = {}  # the server's open requests, by the session of their stream

    def note_incoming(self, head: MessageHead, stream: str | None) -> None:
        """Record a message of the server, received on the stream of this session."""
        session = head.session if stream is None else stream
        if head.kind == "request" and session is not None and len(self._asked) < MAX_OPEN_ROUTES:
            self._asked[head.id] = session

    def session_of(self, head: MessageHead) -> str | None:
        """Return the session of a message of the client; None for the connection."""
        if head.kind == "response":
            return self._asked.pop(head.id, None)
        return None if head.is_connection_scoped else head.session
