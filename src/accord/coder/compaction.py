"""Making room: when a model's context fills up, a summary takes the place of what was said long ago."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from accord.coder.history import Message, Summary, UserSaid
from accord.coder.models.base import Ended, ModelError, Request, SaidPiece
from accord.model.content import TextContent

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.coder.desk import Desk
    from accord.coder.models.base import Model

FULL = 0.8
"""From which part of the context on room is made."""
WISH = (
    "Summarise this conversation, so that the work can go on from the summary alone: what the user wants, what was "
    "decided and why, which files were read and changed and what matters in them, what was tried and failed, what is "
    "still to do. Leave out greetings and what no longer matters."
)
INSTRUCTIONS = "You keep the memory of a coding agent. Write plainly and completely; invent nothing."


def is_due(desk: Desk, model: Model) -> bool:
    """Whether the next request might not fit."""
    return desk.used > model.context * FULL and len(desk.history) > 2


async def compact(desk: Desk, model: Model, turn: Turn, *, wish: str = "", everything: bool = False) -> bool:
    """Puts a summary in the place of the history; the current request stays as it is, unless `everything` is meant.

    False when there is nothing to gain."""
    old, kept = (list(desk.history), []) if everything else _parted(desk.history)
    if not old:
        return False
    session = desk.session
    id = session.new_id("compact")
    await session.compaction(id, "in_progress")
    try:
        text = await _summary(old, model, f"{WISH} {wish}".strip(), desk, turn, id)
    except asyncio.CancelledError:
        await session.compaction(id, "cancelled")
        raise
    except ModelError as error:
        await session.compaction(id, "failed", error=str(error))
        raise
    await session.compaction(id, "completed", summary=text)
    desk.begin_again([Summary(text=text), *kept])
    desk.used = sum(map(_size, desk.history)) // 4
    await session.usage(min(desk.used, model.context), model.context, cost=desk.cost)
    return True


async def _summary(old: list[Message], model: Model, wish: str, desk: Desk, turn: Turn, id: str) -> str:
    request = Request(instructions=INSTRUCTIONS, messages=[*old, UserSaid(content=[TextContent(wish)])])
    text: list[str] = []
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, SaidPiece):
                text.append(piece.text)
                await desk.session.compaction_text(id, piece.text)
            elif isinstance(piece, Ended):
                await desk.account(piece.spent, model.context, turn)
    if not "".join(text).strip():
        raise ModelError(f"{model.name} gave an empty summary; nothing was shortened")
    return "".join(text)


def _parted(history: list[Message]) -> tuple[list[Message], list[Message]]:
    """What can be summarised, and what must stay word for word: the user's last request, if it is not too long."""
    last = max((index for index, message in enumerate(history) if isinstance(message, UserSaid)), default=len(history))
    old, kept = history[:last], history[last:]
    if len(kept) > 1 and sum(map(_size, kept)) * 2 > sum(map(_size, history)):
        # The work since that request is what fills the context: it is summarised as well.
        return history, [history[last]]
    return old, kept


def _size(message: Message) -> int:
    return len(str(message))
