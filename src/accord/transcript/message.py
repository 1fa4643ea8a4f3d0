"""A message of a conversation, kept as the pieces it came in."""

from __future__ import annotations

from typing import Union

import msgspec

from accord.model.content import Content, TextContent
from accord.model.noun import Meta
from accord.transcript.events import Role

Piece = Union[str, Content]


class Message(msgspec.Struct, kw_only=True, gc=False):
    """What somebody said, or what the agent thought.

    `pieces` is how it came: streamed text as plain strings, anything else as content. Adding a piece costs the same
    however long the message is; `content` and `text` put the pieces together each time they are read."""

    role: Role
    id: str
    """The agent's name for it. Messages that came without one are named here, with a leading `~`."""
    given_id: str | None = None
    """The name that the agent gave; None when it gave none."""
    pieces: list[Piece] = []
    replayed: bool = False
    """First told while the history of a session was told again."""
    meta: Meta | None = None

    @property
    def content(self) -> list[Content]:
        """The message block by block. Text that was streamed is one block, however many chunks it came in."""
        return [TextContent(piece) if isinstance(piece, str) else piece for piece in joined(self.pieces)]

    @property
    def text(self) -> str:
        """All text of the message."""
        return "".join(
            piece if isinstance(piece, str) else piece.text
            for piece in self.pieces
            if isinstance(piece, (str, TextContent))
        )


def joined(pieces: list[Piece]) -> list[Piece]:
    """The same pieces, with neighbouring strings made one."""
    result: list[Piece] = []
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
            continue
        if run:
            result.append("".join(run))
            run = []
        result.append(piece)
    if run:
        result.append("".join(run))
    return result
