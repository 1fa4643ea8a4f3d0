"""Redaction of a session's statements, some of which continue earlier ones.

A secret may be split over two chunks of a message, or two pieces of a terminal's output. The end of a text is therefore
held back while it could be the start of a secret. The held text is usually empty, and never longer than the longest
secret."""

from __future__ import annotations

from typing import Protocol, Union

from msgspec import UNSET, structs

from accord.model.content import TextContent
from accord.model.statement import CompactionText, MessageChunk, SetCompaction, Statement, TerminalData, TerminalPatch

Piece = Union[MessageChunk, TerminalData, CompactionText]
Stream = tuple[str, str, str]
"""A message, terminal or summary: its kind, its id, and the role of a message."""


class Redactor(Protocol):
    """Replaces secrets."""

    def redact_statement(self, statement: Statement) -> Statement:
        """Redact a statement before it is sent or saved."""

    def count_held(self, text: str | bytes) -> int:
        """Return the length of the end of a text that could be the start of a secret."""


class StatementRedaction:
    """Redacts the statements of one session, in the order in which they are sent."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._held: dict[Stream, Piece] = {}

    def redact(self, statement: Statement) -> Statement:
        """Redact a statement that isn't part of a stream."""
        return self.redactor.redact_statement(statement)

    def feed(self, statement: Statement) -> list[Statement]:
        """Add a statement to its stream, and return the redacted statements that can be sent now."""
        match statement:
            case MessageChunk(role=role, message_id=id, content=TextContent()):
                return [
                    *self.release_messages(("message", id, role)),
                    *self._continue(("message", id, role), statement),
                ]
            case MessageChunk():
                return [*self.release_messages(), self.redact(statement)]
            case CompactionText(id=id, content=TextContent()):
                return self._continue(("summary", id, ""), statement)
            case TerminalData(id=id):
                return self._continue(("terminal", id, ""), statement)
            case TerminalPatch(id=id):
                held = self._release(("terminal", id, ""))
                return [*(held if statement.output is UNSET else ()), self.redact(statement)]
            case SetCompaction(compaction=compaction):
                return [*self._release(("summary", compaction.id, "")), self.redact(statement)]
        return [self.redact(statement)]

    def release_messages(self, other_than: Stream | None = None) -> list[Statement]:
        """Return the held ends of messages that won't be continued."""
        ended = [stream for stream in self._held if stream[0] == "message" and stream != other_than]
        return [statement for stream in ended for statement in self._release(stream)]

    def release_all(self) -> list[Statement]:
        """Return everything held back."""
        return [statement for stream in list(self._held) for statement in self._release(stream)]

    def _release(self, stream: Stream) -> list[Statement]:
        held = self._held.pop(stream, None)
        return [self._redact_piece(held)] if held is not None else []

    def _continue(self, stream: Stream, statement: Piece) -> list[Statement]:
        held = self._held.pop(stream, None)
        whole = statement if held is None else _join(held, statement)
        redacted = self._redact_piece(whole)
        sent, rest = self._split(whole)
        if rest is not None:
            # The end is held as it came: a whole secret in it may be the start of a longer one. But if a secret extends
            # into it from the text before it, the redacted text is split.
            parts = _join(self._redact_piece(sent), self._redact_piece(rest))
            if _text_of(parts) != _text_of(redacted):
                sent, rest = self._split(redacted)
        if rest is None:
            return [redacted]
        self._held[stream] = rest
        return [self._redact_piece(sent)] if _text_of(sent) else []

    def _split(self, piece: Piece) -> tuple[Piece, Piece | None]:
        """Split off the end that could be the start of a secret; None if there is none."""
        text = _text_of(piece)
        count = self.redactor.count_held(text)
        if not count:
            return piece, None
        end = len(text) - count
        return _with_text(piece, text[:end]), _with_text(piece, text[end:], is_rest=True)

    def _redact_piece(self, piece: Piece) -> Piece:
        redacted = self.redact(piece)
        assert isinstance(redacted, (MessageChunk, TerminalData, CompactionText))
        return redacted


def _text_of(statement: Piece) -> str | bytes:
    if isinstance(statement, TerminalData):
        return statement.data
    assert isinstance(statement.content, TextContent)
    return statement.content.text


def _join(first: Piece, second: Piece) -> Piece:
    before, after = _text_of(first), _text_of(second)
    if isinstance(before, bytes):
        assert isinstance(after, bytes)
        return _with_text(second, before + after)
    assert isinstance(after, str)
    return _with_text(second, before + after)


def _with_text(statement: Piece, text: str | bytes, *, is_rest: bool = False) -> Piece:
    """Replace the text. The rest of a chunk has no metadata, because that was sent with its start."""
    if isinstance(statement, TerminalData):
        assert isinstance(text, bytes)
        return TerminalData(id=statement.id, data=text, meta=None if is_rest else statement.meta)
    assert isinstance(text, str)
    assert isinstance(statement.content, TextContent)
    content = TextContent(text) if is_rest else structs.replace(statement.content, text=text)
    if is_rest:
        return structs.replace(statement, content=content, meta=None)
    return structs.replace(statement, content=content)
