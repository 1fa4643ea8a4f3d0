"""Tracks the state that is needed to resume after a lost connection. No I/O.

`Resumption` sits between a JSON-RPC endpoint above and a series of connections below. It tracks unanswered messages,
the cursor of each open session, and the agent's open requests. After a reconnect it decides which messages to send on
the new connection, drops those that were received before, and matches those that are delivered again.

It uses an extension of the protocol in `_meta`, which is described in docs/remote.md:

- `initialize` announces a client id (`accord/resume`). A server that doesn't respond with the same key doesn't
  support resuming: messages then pass unchanged, and a lost connection can't be resumed.
- Events carry a cursor (`accord/cursor`), requests and notifications a key (`accord/key`), requests of the agent a
  stable id (`accord/request`).
- On a new connection the order is: `initialize`, `session/resume` after the cursor of each session, and when all of
  these are answered, all unacknowledged messages with their old keys.
- The response to `_accord/ping` acknowledges every message that was sent before it, and shows that the connection is
  alive. Other responses acknowledge only their requests: over Streamable HTTP, messages may overtake each other."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from msgspec import UNSET, Raw

from accord.remote.agent_requests import CANCEL, AgentRequests
from accord.remote.message import (
    NOTHING_SEEN,
    RESUME,
    Fields,
    Head,
    add_meta,
    notification,
    raw,
    read_fields,
    read_head,
    read_heads,
    read_id,
    read_text,
    read_value,
    write,
)
from accord.remote.open_sessions import OpenSession, OpenSessions
from accord.remote.sent_messages import SentMessage, SentMessages

SNAPSHOT = "_accord/snapshot"
"""Sent by the server: the session's whole history follows, because the cursor is too old or unknown."""
SNAPSHOT_END = "_accord/snapshot_end"
"""Sent from here to the endpoint above: that history is complete."""
RESOLVED = "_accord/permission_resolved"
PING = "_accord/ping"
UPDATE = "session/update"

MAX_UNACKNOWLEDGED = 64
MAX_UNACKNOWLEDGED_BYTES = 1024 * 1024
"""A ping is sent when more notifications and answers than this are unacknowledged, so that they can be forgotten."""
LOST_OUTPUT = "Some output was lost while the connection was down. Reload the session to see all of it."

_OPENING = frozenset({"session/new", "session/load", "session/resume", "session/fork", "session/attach"})
_WITH_HISTORY = frozenset({"session/load", "session/resume", "session/attach"})
_CLOSING = frozenset({"session/close", "session/delete", "session/archive", "session/detach"})
_OURS = "accord/"  # the prefix of the ids of our own requests
_INITIALIZE = f"{_OURS}initialize"


class Phase(Enum):
    """The phases of a connection."""

    NEW = auto()
    """Nothing was sent on it."""
    INITIALIZING = auto()
    RESUMING = auto()
    LIVE = auto()
    CUT = auto()
    """There is no connection."""


class Resumption:
    """The state of one endpoint over all its connections."""

    def __init__(self, client_id: str, *, resets: bool = True) -> None:
        """`resets` is whether the endpoint above supports `_accord/snapshot`. An editor doesn't: it gets a message
        about lost output instead of a history that it would show twice."""
        self.client_id = client_id
        self.phase: Phase = Phase.NEW
        self.is_supported: bool | None = None
        """Whether the server supports resuming; None until it has answered `initialize`."""
        self.refusal: str = ""
        """Why the server can no longer be used, if so."""
        self.rejection: str = ""
        """Why the server can't be used on this connection, if so."""
        self.unsent_bytes: int = 0
        """The size of the messages that wait for a connection."""
        self._resets = resets
        self._out: list[bytes] = []
        self._version = 1
        self._initialize: Fields | None = None
        self._initialize_is_open = False
        self._sent = SentMessages(client_id)
        self._sessions = OpenSessions()
        self._resuming: dict[str, OpenSession] = {}
        self._pings: dict[str, int] = {}
        self._barrier = ""  # the ping after which the agent's open requests have been delivered again
        self._requests = AgentRequests()
        self._next_own_id = 0

    @property
    def can_reconnect(self) -> bool:
        """Whether a lost connection can be replaced. `initialize` itself can always be repeated."""
        return self.is_supported is not False and not self.refusal and self._initialize is not None

    @property
    def session_ids(self) -> list[str]:
        """The sessions that are open here."""
        return [session.id for session in self._sessions]

    def take(self) -> list[bytes]:
        """Return and forget the lines to send on the current connection."""
        out, self._out = self._out, []
        return out

    # -- connections

    def disconnect(self) -> None:
        """Handle the loss of the connection."""
        self.phase = Phase.CUT
        self._out.clear()
        self._resuming.clear()
        self._pings.clear()
        self._barrier = ""
        self.rejection = ""
        self._requests.disconnect()

    def connect(self) -> None:
        """Start on a new connection."""
        assert self._initialize is not None
        self.phase = Phase.INITIALIZING
        if self._initialize_is_open:
            self._out.append(write(self._initialize))
        else:
            self._out.append(write({**self._initialize, "id": raw(_INITIALIZE)}))

    def ping(self) -> str:
        """Send a request that the server answers at once. Returns its id."""
        id = self._own_id("ping")
        self._pings[id] = self._sent.next_order()
        self._out.append(write({"jsonrpc": "2.0", "id": id, "method": PING, "params": {}}))
        return id

    def _own_id(self, kind: str) -> str:
        self._next_own_id += 1
        return f"{_OURS}{kind}:{self._next_own_id}"

    # -- from above

    def send(self, block: bytes) -> None:
        """Handle lines from the endpoint above. Lines that can be sent now are added to the output."""
        for line in (block,) if block.find(b"\n", 0, -1) < 0 else block.split(b"\n"):
            if line:
                self._send(line)
        if self.phase is Phase.LIVE and not self._pings:
            self._ask_for_acknowledgement()

    def _send(self, line: bytes) -> None:
        fields = read_fields(line)
        if fields is None:  # a batch: it has no key, so it is sent once
            if self.phase is Phase.LIVE:
                self._out.append(line if line.endswith(b"\n") else line + b"\n")
            return
        method = read_text(fields, "method")
        if not method and not self.is_supported:
            self._out.append(write(fields))
        elif not method:
            self._put_answer(self._requests.answer(fields, self._sent.next_order()))
        elif method == "initialize" and "id" in fields and self.is_supported is None:
            self._send_initialize(fields)
        else:
            self._send_call(fields, method)

    def _send_initialize(self, fields: Fields) -> None:
        params = read_fields(fields.get("params", UNSET)) or {}
        params = add_meta(params, **{RESUME: {"client": self.client_id}})
        self._initialize = {**fields, "params": raw(params)}
        self._initialize_is_open = True
        if self.phase is not Phase.CUT:
            self.phase = Phase.INITIALIZING
            self._out.append(write(self._initialize))

    def _send_call(self, fields: Fields, method: str) -> None:
        params = read_fields(fields.get("params", raw({})))
        session_id = read_text(params, "sessionId")
        sent = self._sent.add(fields, method, session_id)
        if sent.is_request and method in _WITH_HISTORY:
            self._start_loading(sent, params or {})
        if self.phase is Phase.LIVE:
            self._put(sent)
        else:
            self.unsent_bytes += len(sent.line)

    def _put(self, sent: SentMessage) -> None:
        sent.times_sent += 1
        self._out.append(sent.line)

    def _start_loading(self, sent: SentMessage, params: Fields) -> None:
        session = self._sessions.get(sent.session_id) or self._sessions.add(sent.session_id, params)
        session.load, session.has_replayed = sent, False

    def _put_answer(self, line: bytes) -> None:
        if line:
            self._out.append(line)

    def _ask_for_acknowledgement(self) -> None:
        answers, size = self._requests.unacknowledged
        if self._sent.notification_count + answers >= MAX_UNACKNOWLEDGED or size >= MAX_UNACKNOWLEDGED_BYTES:
            self.ping()

    # -- from below

    def receive(self, block: bytes) -> bytes:
        """Handle lines from the connection, and return those for the endpoint above.

        Nearly every message is a new event of an open session. A block of these is returned unchanged."""
        heads = read_heads(block)
        if heads is None:
            return self._receive_unusual(block)
        for index, head in enumerate(heads):
            if head.method == UPDATE and head.params is not None and head.id is UNSET:
                if self._sessions.accept(head.params):
                    continue
                return self._receive_rest(block, heads, index, index + 1)
            return self._receive_rest(block, heads, index, index)
        return block

    def _receive_rest(self, block: bytes, heads: list[Head], kept: int, begin: int) -> bytes:
        """Handle a block line by line from `begin` on. The first `kept` lines are for the endpoint above."""
        lines = [line for line in block.split(b"\n") if line.strip()]
        if len(lines) != len(heads):  # two messages in one line: none of our peers sends that
            return block
        above = [line + b"\n" for line in lines[:kept]]
        above += [self._receive(head, line + b"\n") for head, line in zip(heads[begin:], lines[begin:], strict=True)]
        return b"".join(above)

    def _receive_unusual(self, block: bytes) -> bytes:
        above = []
        for line in block.split(b"\n"):
            if line.strip():
                head = read_head(line) or _read_call_without_params(line)
                above.append(line + b"\n" if head is None else self._receive(head, line + b"\n"))
        return b"".join(above)

    def _receive(self, head: Head, line: bytes) -> bytes:
        """Handle one message; return the line for the endpoint above."""
        if not head.method:
            return self._receive_response(head, line)
        if not self.is_supported:
            return line
        if head.id is not UNSET:
            return self._receive_request(head, line)
        if head.method == CANCEL:
            return self._requests.cancel(line)
        if head.method == SNAPSHOT:
            return self._receive_snapshot(head, line)
        if head.method == RESOLVED:
            return line + self._requests.resolve(line)
        return line if head.params is None or self._sessions.accept(head.params) else b""

    # -- responses

    def _receive_response(self, head: Head, line: bytes) -> bytes:
        fields = read_fields(line)
        id = read_id(fields)
        if isinstance(id, str) and id.startswith(_OURS):
            return self._receive_own_response(id, head)
        if self._initialize_is_open and id == read_value(self._initialize, "id"):
            self._receive_first_initialize(head)
            return line
        return line if self._note_answered(id, head) else b""

    def _note_answered(self, id: Any, head: Head) -> bool:
        """Record the response to a request of the endpoint above; return False if there is no such request."""
        sent = self._sent.take_request(id)
        if sent is None:
            return False
        if sent.method in _OPENING:
            self._note_opened(sent, head)
        elif sent.method in _CLOSING and head.result is not UNSET:
            self._sessions.remove(sent.session_id)
        return True

    def _note_opened(self, sent: SentMessage, head: Head) -> None:
        session = self._sessions.get(sent.session_id) if sent.method in _WITH_HISTORY else None
        if session is not None and session.load is sent:
            session.load = None
            if head.result is UNSET and not session.is_open:
                self._sessions.remove(session.id)
        result = read_fields(head.result)
        if result is None:
            return
        if session is None:
            id = read_text(result, "sessionId")
            if not id:
                return
            session = self._sessions.add_created(id, read_fields(sent.fields.get("params", UNSET)) or {})
        session.is_open = True
        session.note_result(result)
        if sent.times_sent > 1 and sent.method not in _WITH_HISTORY:
            self._resume(session)  # it was opened on a lost connection, to which its events were sent

    def _acknowledge(self, order: int) -> None:
        """Remove notifications and answers that were sent before an acknowledged ping."""
        self._sent.acknowledge(order)
        self._requests.acknowledge(order)

    def _receive_own_response(self, id: str, head: Head) -> bytes:
        if id == _INITIALIZE:
            self._receive_next_initialize(head)
            return b""
        order = self._pings.pop(id, None)
        if order is not None:
            self._acknowledge(order)
            return self._requests.withdraw_missing() if id == self._barrier else b""
        session = self._resuming.pop(id, None)
        above = b"" if session is None else self._note_resumed(session, head)
        if self.phase is Phase.RESUMING and not self._resuming:
            self._send_unacknowledged()
        return above

    # -- initialize and resume

    def _receive_first_initialize(self, head: Head) -> None:
        """Read the response, which is also passed to the endpoint above."""
        self._initialize_is_open = False
        result = read_fields(head.result)
        if result is None:  # an error: the endpoint may try again with another version
            self._initialize, self.phase = None, Phase.NEW
            return
        version = read_value(result, "protocolVersion")
        self._version = version if isinstance(version, int) else 1
        self.is_supported = isinstance(read_value(result, "_meta", RESUME), dict)
        self._send_unacknowledged()

    def _receive_next_initialize(self, head: Head) -> None:
        result = read_fields(head.result)
        if result is None:
            self.rejection = "the server refused to initialize the new connection"
        elif not isinstance(read_value(result, "_meta", RESUME), dict):
            self.refusal = "the server no longer supports resuming"
        elif read_value(result, "protocolVersion") != self._version:
            self.refusal = "the server now uses another version of the protocol"
        if self.refusal or self.rejection:
            return
        self.phase = Phase.RESUMING
        for session in self._sessions:
            if session.is_open or session.has_replayed:
                self._resume(session)
        if not self._resuming:
            self._send_unacknowledged()

    def _resume(self, session: OpenSession) -> None:
        """Ask for the events after the last one that was received."""
        id = self._own_id("resume")
        params = session.resume_params(self._version, self._sent.next_key())
        self._resuming[id] = session
        self._out.append(write({"jsonrpc": "2.0", "id": id, "method": "session/resume", "params": params}))

    def _note_resumed(self, session: OpenSession, head: Head) -> bytes:
        above = b""
        result = read_fields(head.result)
        if result is not None:
            session.note_result(result)
        if session.is_resetting:
            session.is_resetting = False
            above = self._end_snapshot(session)
        sent = session.load
        if sent is not None and session.has_replayed and result is not None:
            # The first part of the history arrived on the lost connection, and the rest now, so this is the response.
            self._note_answered(read_id(sent.fields), head)
            above += _response(sent.fields["id"], result)
        return above

    def _send_unacknowledged(self) -> None:
        """Send all unacknowledged messages in their original order."""
        self.phase = Phase.LIVE
        self.unsent_bytes = 0
        for sent in self._sent:
            if sent.method in _WITH_HISTORY and sent.times_sent:
                # The server must execute it again, because its answer was sent to the lost connection.
                self._sent.replace_key(sent)
            self._put(sent)
        if self._requests.has_missing:
            self._barrier = self.ping()

    # -- snapshots

    def _receive_snapshot(self, head: Head, line: bytes) -> bytes:
        session = self._sessions.get(head.params.session_id or "") if head.params is not None else None
        if session is None:
            return b""
        session.cursor = NOTHING_SEEN
        session.is_resetting = True
        session.is_muted = not self._resets
        return b"" if session.is_muted else line

    def _end_snapshot(self, session: OpenSession) -> bytes:
        if not session.is_muted:
            return notification(SNAPSHOT_END, {"sessionId": session.id})
        session.is_muted = False
        update = {
            "sessionUpdate": "agent_message_chunk",
            "messageId": self._own_id("notice"),
            "content": {"type": "text", "text": LOST_OUTPUT},
        }
        return notification(UPDATE, {"sessionId": session.id, "update": update})

    # -- requests of the agent

    def _receive_request(self, head: Head, line: bytes) -> bytes:
        if head.params is not None:
            self._sessions.accept(head.params)
        above, request = self._requests.receive(head, line)
        if request.answer is not None:
            request.answer_order = self._sent.next_order()
            self._put_answer(request.write_answer())
        return above


def _response(id: Raw, result: Fields) -> bytes:
    return write({"jsonrpc": "2.0", "id": id, "result": result})


def _read_call_without_params(line: bytes) -> Head | None:
    """Read a call whose parameters are unusual, such as a list: at least its id has to be translated."""
    fields = read_fields(line)
    method = read_text(fields, "method")
    return Head(id=(fields or {}).get("id", UNSET), method=method) if method else None
