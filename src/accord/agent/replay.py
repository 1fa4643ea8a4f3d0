"""Replays a session from the store: every update in order, as it was first sent.

Updates are sent in blocks. Reading pauses while the client is slow, so a long history needn't fit in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from accord.model.content import Content, TextContent
from accord.model.statement import REPLAYED, MessageChunk, Statement, TerminalData, TerminalPatch, WholeMessage
from accord.schema.wire import encode

if TYPE_CHECKING:
    from accord.agent.session import Session

BLOCK_BYTES = 32 * 1024
"""Size of a block of updates."""


async def replay_history(session: Session) -> None:
    """Replay the whole history of a session."""
    lines: list[bytes] = []
    size = 0
    role, message_id, head = "", "", b""
    writer = session.writer
    history = session.agent.kept.history(session.id)
    async for statement in _merge_chunks(history) if session.dialect.replays_whole else _merge_output(history):
        content = statement.content if type(statement) is MessageChunk and not statement.meta else None
        if type(content) is TextContent and not content.meta and not content.annotations:
            assert isinstance(statement, MessageChunk)
            if statement.message_id != message_id or statement.role != role:
                role, message_id = statement.role, statement.message_id
                head = writer.chunk_head(statement.role, message_id)
            line = head + b'{"type":"text","text":' + encode(content.text) + b"}}}}\n"
        elif isinstance(statement, REPLAYED):
            line = writer.encode(statement)
        else:
            continue
        lines.append(line)
        size += len(line)
        if size >= BLOCK_BYTES:
            await writer.send(b"".join(lines))
            lines, size = [], 0
    if size:
        await writer.send(b"".join(lines))


async def _merge_output(history: AsyncIterator[Statement]) -> AsyncIterator[Statement]:
    """Merge consecutive output of a terminal."""
    printed: TerminalData | None = None
    async for statement in history:
        if printed is not None and _merge_key(statement) == _merge_key(printed):
            assert isinstance(statement, TerminalData)
            printed = TerminalData(id=printed.id, data=printed.data + statement.data)
            continue
        if printed is not None:
            yield printed
        printed = statement if isinstance(statement, TerminalData) and not statement.meta else None
        if printed is None:
            yield statement
    if printed is not None:
        yield printed


async def _merge_chunks(history: AsyncIterator[Statement]) -> AsyncIterator[Statement]:
    """Merge chunks into whole messages and terminal snapshots.

    Only consecutive chunks are merged, so at most one message is held in memory. A message that continues after
    something else stays a chunk, because a whole message would replace the earlier part."""
    begun: set[tuple[str, str]] = set()
    run: list[Any] = []
    async for statement in history:
        if not isinstance(statement, REPLAYED):
            continue
        key = _merge_key(statement)
        if run and key is not None and key == _merge_key(run[0]):
            run.append(statement)
            continue
        for merged in _merge(run, begun):
            yield merged
        run = []
        if key is not None:
            run = [statement]
            continue
        if isinstance(statement, (MessageChunk, WholeMessage)):
            begun.add((statement.role, statement.message_id))
        elif isinstance(statement, TerminalData) or (
            isinstance(statement, TerminalPatch) and not isinstance(statement.output, UnsetType)
        ):
            begun.add(("terminal", statement.id))
        yield statement
    for merged in _merge(run, begun):
        yield merged


def _merge_key(statement: Statement) -> tuple[str, str] | None:
    """Identify the message or terminal that a chunk belongs to; None if the statement can't be merged."""
    if isinstance(statement, TerminalData) and not statement.meta:
        return "terminal", statement.id
    if isinstance(statement, MessageChunk) and not statement.meta:
        return statement.role, statement.message_id
    return None


def _merge(run: list[Any], begun: set[tuple[str, str]]) -> list[Statement]:
    """Merge consecutive chunks of one message or terminal into as few statements as possible."""
    if not run:
        return []
    key = _merge_key(run[0])
    assert key is not None
    is_new = key not in begun
    begun.add(key)
    if isinstance(run[0], TerminalData):
        id, data = run[0].id, b"".join(each.data for each in run)
        return [TerminalPatch(id=id, output=data) if is_new else TerminalData(id=id, data=data)]
    content: list[Content] = []
    for is_plain, found in groupby((said.content for said in run), _is_plain):
        group = list(found)
        content += [TextContent("".join(each.text for each in group))] if is_plain else group
    role, message_id = run[0].role, run[0].message_id
    if is_new:
        return [WholeMessage(role=role, message_id=message_id, content=content)]
    return [MessageChunk(role=role, message_id=message_id, content=piece) for piece in content]


def _is_plain(content: Content) -> bool:
    return type(content) is TextContent and not content.meta and not content.annotations
