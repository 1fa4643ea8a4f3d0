"""Keep the history within the model's context: replace it with a summary, or truncate it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from accord.coder.history import (
    Call,
    KnownContent,
    Message,
    ModelSaid,
    Part,
    Result,
    Summary,
    Text,
    Thought,
    ToolsSaid,
    UserSaid,
)
from accord.coder.models.base import Ended, ModelError, Request, SaidPiece, ToolSpec
from accord.model.content import Audio, Image, Resource, TextContent

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.coder.models.base import Model
    from accord.coder.session import CoderSession

COMPACT_AT = 0.8
"""Compact when this share of the context is used."""
MIN_GAIN = 0.2
"""The share of the history a summary must replace: less is not worth a request."""
CHARACTERS_PER_TOKEN = 3
"""A low estimate: the text to summarize must fit in the context too."""
MAX_ATTEMPTS = 4
"""If even the text to summarize is too long, try again with half of it, this often."""
PROMPT = (
    "Summarize this conversation so that the work can continue from the summary alone: what the user wants, what was "
    "decided and why, which files were read and changed and what matters in them, what was tried and failed, and what "
    "remains to be done. Omit greetings and anything that no longer matters."
)
INSTRUCTIONS = "You summarize conversations for a coding agent. Be clear and complete, invent nothing, call no tools."


def is_due(state: CoderSession, model: Model) -> bool:
    """Return whether the next request may not fit: the size of the last one plus the messages since."""
    since: list[Message] = []
    for message in reversed(state.history):
        if isinstance(message, ModelSaid):
            break
        since.append(message)
    return state.used + size(since) // 4 > model.context * COMPACT_AT and len(state.history) > 2


async def compact(
    state: CoderSession,
    model: Model,
    turn: Turn,
    asked: Sequence[UserSaid] = (),
    *,
    wish: str = "",
    tools: Sequence[ToolSpec] = (),
) -> bool:
    """Replace the history with a summary. The prompts `asked` in this turn stay unchanged.

    Returns False if there is little to gain. `tools` are those that the history mentions: some providers require them.
    Raises `ModelError` if there is no summary; then the history is unchanged."""
    old, kept = _split(state.history, asked)
    if not old:
        return False
    session = state.session
    id = session.new_id("compact")
    await session.compaction(id, "in_progress")
    try:
        text = await _summary(old, model, f"{PROMPT} {wish}".strip(), tools, state, turn, id)
    except asyncio.CancelledError:
        await session.compaction(id, "cancelled")
        raise
    except Exception as error:
        await session.compaction(id, "failed", error=str(error) or type(error).__name__)
        await session.usage(
            min(state.used, model.context), model.context, cost=state.cost
        )  # it may have cost something
        raise
    state.replace_history([Summary(text=text), *kept])
    state.used = size(state.history) // 4
    await session.compaction(id, "completed", summary=text)
    await session.usage(min(state.used, model.context), model.context, cost=state.cost)
    return True


async def _summary(
    old: list[Message], model: Model, wish: str, tools: Sequence[ToolSpec], state: CoderSession, turn: Turn, id: str
) -> str:
    """Ask for a summary of as much of the history as fits."""
    room = int(model.context * COMPACT_AT) * CHARACTERS_PER_TOKEN - size(tools)
    for attempt in range(MAX_ATTEMPTS):
        messages = fit(old, room >> attempt)
        request = Request(
            instructions=INSTRUCTIONS, messages=[*messages, UserSaid(content=[TextContent(wish)])], tools=list(tools)
        )
        try:
            return await _stream_summary(request, model, state, turn, id)
        except ModelError as error:
            if error.kind != "context" or attempt == MAX_ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


async def _stream_summary(request: Request, model: Model, state: CoderSession, turn: Turn, id: str) -> str:
    text: list[str] = []
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, SaidPiece):
                text.append(piece.text)
                await state.session.compaction_text(id, piece.text)
            elif isinstance(piece, Ended):
                state.add_cost(piece.spent, turn)
    if not "".join(text).strip():
        raise ModelError(f"{model.name} returned an empty summary; nothing was compacted")
    return "".join(text)


def _split(history: list[Message], asked: Sequence[UserSaid]) -> tuple[list[Message], list[Message]]:
    """Split the history into the part to summarize (empty if not worth it) and the part to keep: the user's prompts of
    this turn, and what followed."""
    wanted = {id(message) for message in asked}
    first = next((index for index, message in enumerate(history) if id(message) in wanted), len(history))
    old, kept = history[:first], history[first:]
    if size(kept) * 2 > size(history):
        # The work since the prompt fills the context, so summarize that too.
        old, kept = list(history), [message for message in kept if id(message) in wanted]
    gain = size(history) - size(kept)
    return (old, kept) if gain > size(history) * MIN_GAIN else ([], kept)


IMAGE_SIZE = 6_000
"""An image counts as this many characters: what it costs a model, not the size of its data."""
OVERHEAD = 40
MAX_TEXT = 16_000
MIN_TEXT = 250
"""Texts are truncated to between these sizes before whole messages are dropped."""


def size(value: Any) -> int:
    """The approximate number of characters in messages or their parts."""
    match value:
        case list() | tuple():
            return sum(map(size, value))
        case UserSaid(content=pieces):
            return size(pieces)
        case ToolsSaid(results=results):
            return size(results)
        case Result(text=text, images=images):
            return len(text) + size(images) + OVERHEAD
        case Resource(resource=resource):
            return len(resource.text or "") + (IMAGE_SIZE if resource.blob else 0) + OVERHEAD
        case Image() | Audio():
            return IMAGE_SIZE
    return len(str(value))


def fit(messages: Sequence[Message], room: int) -> list[Message]:
    """Truncate messages to about `room` characters; unchanged if they fit.

    Truncated messages lose what only their provider understands: thoughts, signatures and images."""
    whole = list(messages)
    if size(whole) <= room:
        return whole
    limit = MAX_TEXT
    truncated = [_truncate(message, limit) for message in whole]
    while size(truncated) > room and limit > MIN_TEXT:
        limit //= 2
        truncated = [_truncate(message, limit) for message in whole]
    while size(truncated) > room and (following := _next_start(truncated)):
        truncated = truncated[following:]
    return truncated


def _next_start(messages: Sequence[Message]) -> int:
    """The index of the next prompt, where the history can start instead; 0 if there is none."""
    return next((index for index, message in enumerate(messages) if index and isinstance(message, UserSaid)), 0)


def _truncate(message: Message, limit: int) -> Message:
    match message:
        case UserSaid(content=content):
            return UserSaid(content=[_content(piece, limit) for piece in content])
        case ModelSaid(parts=parts, model=model):
            return ModelSaid(parts=[_part(part, limit) for part in parts if not isinstance(part, Thought)], model=model)
        case ToolsSaid(results=results):
            return ToolsSaid(results=[_result(result, limit) for result in results])
        case Summary(text=text):
            return Summary(text=_truncate_middle(text, MAX_TEXT))


def _content(piece: KnownContent, limit: int) -> KnownContent:
    match piece:
        case TextContent(text=text):
            return TextContent(_truncate_middle(text, limit))
        case Resource(resource=resource):
            return TextContent(_truncate_middle(f"[{resource.uri}]\n{resource.text or ''}", limit))
        case Image(mime_type=kind) | Audio(mime_type=kind):
            return TextContent(f"[{kind}, omitted]")
    return piece


def _part(part: Part, limit: int) -> Part:
    if isinstance(part, Call):
        return Call(id=part.id, name=part.name, arguments=_value(part.arguments, limit), fault=part.fault)
    return Text(text=_truncate_middle(part.text, limit))


def _value(value: Any, limit: int) -> Any:
    match value:
        case str():
            return _truncate_middle(value, limit)
        case dict():
            return {key: _value(item, limit) for key, item in value.items()}
        case list():
            return [_value(item, limit) for item in value[: max(limit // 100, 1)]]
    return value


def _result(result: Result, limit: int) -> Result:
    return Result(id=result.id, name=result.name, text=_truncate_middle(result.text, limit), failed=result.failed)


def _truncate_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters omitted …]\n{text[-half:]}"
