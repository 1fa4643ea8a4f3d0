"""A message, stored in the pieces in which it arrived."""

from __future__ import annotations

from typing import Union

import msgspec

from accord.model.content import Content, TextContent
from accord.model.record import Meta
from accord.transcript.events import Role

Piece = Union[str, Content]


class Message(msgspec.Struct, kw_only=True, gc=False):
    """A message of the user or the agent, or a thought of the agent.

    `pieces` are strings for streamed text, and content for anything else. Adding a piece takes constant time. `content`
    and `text` join the pieces each time they are read."""

    role: Role
    id: str
    """The id that the agent sent. Messages without one get an id that starts with `~`."""
    given_id: str | None = None
    """The id that the agent sent; None if it sent none."""
    pieces: list[Piece] = []
    replayed: bool = False
    """Whether it started during a replay of the session's history."""
    meta: Meta | None = None

    @property
    def content(self) -> list[Content]:
        """The content blocks of the message. Streamed text is one block, regardless of its chunks."""
        return [TextContent(piece) if isinstance(piece, str) else piece for piece in join(self.pieces)]

    @property
    def text(self) -> str:
        """All text of the message."""
        return "".join(
            piece if isinstance(piece, str) else piece.text
            for piece in self.pieces
            if isinstance(piece, (str, TextContent))
        )


def join(pieces: list[Piece]) -> list[Piece]:
    """Join adjacent strings."""
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
