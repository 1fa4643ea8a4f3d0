"""Telling a session again from what is kept of it: every update in its order, as it was first said.

They leave many at a time. What is read of a long history waits while the client is slow, so none is held in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from accord.model.content import TextContent
from accord.model.statement import TOLD_AGAIN, Said, Statement, TerminalData
from accord.schema.wire import encode

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.side import AgentSide

AT_ONCE = 32 * 1024
"""Bytes that leave together."""


async def tell_again(side: AgentSide, session: Session) -> None:
    """Tells everything that was said in a session."""
    lines: list[bytes] = []
    size = 0
    role, message_id, head = "", "", b""
    async for statement in _in_one_piece(side.agent.kept.history(session.id)):
        content = statement.content if type(statement) is Said and not statement.meta else None
        if type(content) is TextContent and not content.meta and not content.annotations:
            assert isinstance(statement, Said)
            if statement.message_id != message_id or statement.role != role:
                role, message_id = statement.role, statement.message_id
                head = side.chunk_head(session.id, statement.role, message_id)
            line = head + b'{"type":"text","text":' + encode(content.text) + b"}}}}\n"
        elif isinstance(statement, TOLD_AGAIN):
            line = side.lines_of(session, statement)
        else:
            continue
        lines.append(line)
        size += len(line)
        if size >= AT_ONCE:
            await session.send(b"".join(lines))
            lines, size = [], 0
    if size:
        await session.send(b"".join(lines))


async def _in_one_piece(history: AsyncIterator[Statement]) -> AsyncIterator[Statement]:
    """A history in which what a terminal printed at a stretch is told at once."""
    printed: TerminalData | None = None
    async for statement in history:
        if isinstance(statement, TerminalData) and printed is not None and statement.id == printed.id:
            printed = TerminalData(id=printed.id, data=printed.data + statement.data)
            continue
        if printed is not None:
            yield printed
        printed = statement if isinstance(statement, TerminalData) else None
        if printed is None:
            yield statement
    if printed is not None:
        yield printed
