"""Making room: when a model's context fills up, a summary takes the place of what was said long ago."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from accord.coder.fitting import fitted, size
from accord.coder.history import Message, ModelSaid, Summary, UserSaid
from accord.coder.models.base import Ended, ModelError, Request, SaidPiece, ToolSpec
from accord.model.content import TextContent

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.coder.desk import Desk
    from accord.coder.models.base import Model

FULL = 0.8
"""From which part of the context on room is made."""
WORTH = 0.2
"""Which part of the history a summary must take the place of: less is not worth a request."""
CHARACTERS = 3
"""How many characters a token has at least, more or less: what is to be summarised must fit as well."""
ATTEMPTS = 4
"""How often a summary is asked for of less and less, when even that is too long."""
WISH = (
    "Summarise this conversation, so that the work can go on from the summary alone: what the user wants, what was "
    "decided and why, which files were read and changed and what matters in them, what was tried and failed, what is "
    "still to do. Leave out greetings and what no longer matters."
)
INSTRUCTIONS = "You keep the memory of a coding agent. Write plainly and completely; invent nothing. Call no tools."


def is_due(desk: Desk, model: Model) -> bool:
    """Whether the next request might not fit: what the last one was, and what was said since."""
    since: list[Message] = []
    for message in reversed(desk.history):
        if isinstance(message, ModelSaid):
            break
        since.append(message)
    return desk.used + size(since) // 4 > model.context * FULL and len(desk.history) > 2


async def compact(
    desk: Desk,
    model: Model,
    turn: Turn,
    asked: Sequence[UserSaid] = (),
    *,
    wish: str = "",
    tools: Sequence[ToolSpec] = (),
) -> bool:
    """Puts a summary in the place of the history; what was `asked` in this turn stays word for word.

    False when there is little to gain. `tools` are those that the history speaks of: some providers want them named.
    Raises `ModelError` when there is no summary; the history is what it was then."""
    old, kept = _parted(desk.history, asked)
    if not old:
        return False
    session = desk.session
    id = session.new_id("compact")
    await session.compaction(id, "in_progress")
    try:
        text = await _summary(old, model, f"{WISH} {wish}".strip(), tools, desk, turn, id)
    except asyncio.CancelledError:
        await session.compaction(id, "cancelled")
        raise
    except Exception as error:
        await session.compaction(id, "failed", error=str(error) or type(error).__name__)
        await session.usage(min(desk.used, model.context), model.context, cost=desk.cost)  # it may have cost something
        raise
    desk.begin_again([Summary(text=text), *kept])
    desk.used = size(desk.history) // 4
    await session.compaction(id, "completed", summary=text)
    await session.usage(min(desk.used, model.context), model.context, cost=desk.cost)
    return True


async def _summary(
    old: list[Message], model: Model, wish: str, tools: Sequence[ToolSpec], desk: Desk, turn: Turn, id: str
) -> str:
    """A summary of as much as fits."""
    room = int(model.context * FULL) * CHARACTERS - size(tools)
    for attempt in range(ATTEMPTS):
        messages = fitted(old, room >> attempt)
        request = Request(
            instructions=INSTRUCTIONS, messages=[*messages, UserSaid(content=[TextContent(wish)])], tools=list(tools)
        )
        try:
            return await _told(request, model, desk, turn, id)
        except ModelError as error:
            if error.kind != "context" or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


async def _told(request: Request, model: Model, desk: Desk, turn: Turn, id: str) -> str:
    text: list[str] = []
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, SaidPiece):
                text.append(piece.text)
                await desk.session.compaction_text(id, piece.text)
            elif isinstance(piece, Ended):
                desk.spend(piece.spent, turn)
    if not "".join(text).strip():
        raise ModelError(f"{model.name} gave an empty summary; nothing was shortened")
    return "".join(text)


def _parted(history: list[Message], asked: Sequence[UserSaid]) -> tuple[list[Message], list[Message]]:
    """What can be summarised, if that is worth it, and what must stay: the user's request, and what followed it."""
    wanted = {id(message) for message in asked}
    first = next((index for index, message in enumerate(history) if id(message) in wanted), len(history))
    old, kept = history[:first], history[first:]
    if size(kept) * 2 > size(history):
        # The work since the request is what fills the context: it is summarised as well.
        old, kept = list(history), [message for message in kept if id(message) in wanted]
    gain = size(history) - size(kept)
    return (old, kept) if gain > size(history) * WORTH else ([], kept)
