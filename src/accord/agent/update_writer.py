"""Outgoing updates of a session: encoded in the client's protocol version, saved, and sent in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from accord.agent.redaction import StatementRedaction
from accord.connection.connection import Connection
from accord.model.content import as_content
from accord.model.record import Meta
from accord.model.statement import (
    MessageChunk,
    Role,
    SetCompaction,
    SetPlan,
    SetState,
    Statement,
    ToolPatch,
    WholeMessage,
)
from accord.model.values import optional_text
from accord.schema.wire import encode, encode_strictly
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.dialect import Dialect
    from accord.agent.session import Session

_ENDS_MESSAGE = frozenset({ToolPatch, SetPlan, SetCompaction, WholeMessage})
"""Statements after which further text starts a new message."""
_CHUNK_TYPES: dict[Role, bytes] = {
    "agent": b"agent_message_chunk",
    "thought": b"agent_thought_chunk",
    "user": b"user_message_chunk",
}

Save = Callable[[str, Statement], None]


class IdGenerator:
    """Creates ids that no other session, process or store uses."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0

    def new(self, kind: str) -> str:
        """Create an id such as `msg_1f0c9a2b7`."""
        self._count += 1
        return f"{kind}_{self._prefix}{self._count:x}"


class UpdateWriter:
    """Writes the updates of one session.

    Every method does its work when called; awaiting the result only waits while the client is slow. Statements are
    encoded before they are saved, so that a value that can't be sent is not saved either."""

    def __init__(
        self, session: Session, connection: Connection, dialect: Dialect, ids: IdGenerator, save: Save | None
    ) -> None:
        self.redaction: StatementRedaction | None = None
        """Set if secrets are redacted in everything sent and saved."""
        self.is_muted: bool = False
        """Whether updates are dropped: the session has ended, or its client must not see them."""
        self._session = session
        self._connection = connection
        self._dialect = dialect
        self._ids = ids
        self._save = save
        self._held: list[bytes] | None = None
        self._head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%b,"update":' % encode(
            session.id
        )
        # The message being streamed: its role and id, and the encoded text in front of each chunk's content.
        self._role: Role | None = None
        self._message_id = ""
        self._chunk_head = b""

    # -- messages, chunk by chunk

    def say(self, role: Role, content: Any, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Send a chunk of a message. Consecutive chunks of one role belong to one message."""
        if role is not self._role or (message_id is not None and message_id != self._message_id):
            optional_text("message_id", message_id)
            self._role, self._message_id = role, message_id or self._ids.new("msg")
            self._chunk_head = self.chunk_head(role, self._message_id)
        if meta or self.redaction is not None:
            return self.state(
                MessageChunk(role=role, message_id=self._message_id, content=as_content(content), meta=meta)
            )
        if type(content) is str:
            try:
                text = encode_strictly(content)
            except UnicodeEncodeError:
                text = encode(content)
            line = self._chunk_head + b'{"type":"text","text":' + text + b"}}}}\n"
        else:
            piece = as_content(content)
            body = encode(self._dialect.encodable(piece))
            line = self._chunk_head + body + b"}}}\n"
        if self._save is not None:
            self._save(
                self._session.id,
                MessageChunk(role=role, message_id=self._message_id, content=as_content(content), meta=None),
            )
        if self._held is None and not self.is_muted:  # `send`, inlined: this is the hot path of every agent
            return self._connection.send_notification(line)
        return self.send(line)

    def chunk_head(self, role: Role, message_id: str) -> bytes:
        """Encode a message chunk up to its content, which is the same in both versions."""
        return self._head + b'{"sessionUpdate":"%b","messageId":%b,"content":' % (
            _CHUNK_TYPES[role],
            encode(message_id),
        )

    def end_message(self) -> None:
        """Start a new message with the next chunk."""
        self._role = None
        if self.redaction is not None:
            self.release_messages()

    # -- statements

    def encode(self, statement: Statement) -> bytes:
        """Encode a statement as lines; empty if the client's version has no equivalent.

        Call it before changing state: it raises `InvalidValue` if the statement can't be sent."""
        return self._encode(statement if self.redaction is None else self.redaction.redact(statement))

    def _encode(self, statement: Statement) -> bytes:
        lines: list[bytes] = []
        for update in self._dialect.updates(self._session, statement):
            try:
                body = encode_strictly(update)
            except Exception:  # the strict encoder is faster, the other one repairs lone surrogates and explains errors
                body = encode(update)
            lines += self._head, body, b"}}\n"
        return b"".join(lines)

    def state(self, statement: Statement) -> Awaitable[None]:
        """Send and save a statement."""
        if self.redaction is not None:
            return self._state_redacted(self.redaction.feed(statement), ends_message=type(statement) in _ENDS_MESSAGE)
        return self.state_encoded(statement, self._encode(statement))

    def state_encoded(self, statement: Statement, lines: bytes) -> Awaitable[None]:
        """Send and save a statement that `encode` has encoded."""
        if type(statement) in _ENDS_MESSAGE:
            self.end_message()
        if self._save is not None:
            self.save(statement)
        if not lines:
            return READY
        if self._held is None and not self.is_muted:  # `send`, inlined as in `say`
            return self._connection.send_notification(lines)
        return self.send(lines)

    def release_messages(self) -> None:
        """Send and save the ends of messages that were held back because they could be the start of a secret."""
        if self.redaction is not None:
            self._state_redacted(self.redaction.release_messages())

    def release_all(self) -> None:
        """Send and save everything that was held back."""
        if self.redaction is not None:
            self._state_redacted(self.redaction.release_all())

    def _state_redacted(self, statements: list[Statement], *, ends_message: bool = False) -> Awaitable[None]:
        if ends_message:
            self.end_message()
        sent: Awaitable[None] = READY
        for statement in statements:
            lines = self._encode(statement)
            if self._save is not None:
                self._save(self._session.id, statement)
            if lines:
                sent = self.send(lines)
        return sent

    def tell(self, statement: Statement) -> Awaitable[None]:
        """Send a statement without saving it."""
        lines = self.encode(statement)
        if not lines:
            return READY
        if type(statement) is SetState and self._held is None and not self.is_muted:
            # The end of a turn is sent ahead of updates that can't be saved, so that the client learns of the failure.
            return self._connection.send(lines)
        return self.send(lines)

    def tell_now(self, statement: Statement) -> Awaitable[None]:
        """Send a statement without saving it, even while other updates are held back."""
        return self._connection.send(self.encode(statement))

    # -- saving

    @property
    def is_saving(self) -> bool:
        """Whether statements are saved."""
        return self._save is not None

    def save(self, statement: Statement) -> None:
        """Save a statement without sending it."""
        if self._save is not None:
            self._save(self._session.id, self.redaction.redact(statement) if self.redaction is not None else statement)

    def stop_saving(self) -> Save | None:
        """Stop saving. Returns the argument for `resume_saving`."""
        save, self._save = self._save, None
        return save

    def resume_saving(self, save: Save | None) -> None:
        self._save = save

    # -- sending

    def send(self, lines: bytes) -> Awaitable[None]:
        """Send encoded updates, unless they are held back or muted."""
        if self.is_muted:
            return READY
        if self._held is not None:
            self._held.append(lines)
            return READY
        return self._connection.send_notification(lines)

    def hold(self) -> None:
        """Hold updates back until `release`: none may be sent before the response that opens the session."""
        self._held = []

    def release(self) -> None:
        """Send the updates that were held back."""
        held, self._held = self._held, None
        if held and self._connection.is_open:
            self._connection.send_notification(b"".join(held))
