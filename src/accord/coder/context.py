"""Build requests, and keep the history within the model's context: omit old tool results, or summarize it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import structs

from accord.coder import modes
from accord.coder.history import (
    Call,
    KnownContent,
    Message,
    ModelSaid,
    Part,
    Reminder,
    Result,
    Summary,
    Text,
    Thought,
    ToolsSaid,
    UserSaid,
)
from accord.coder.models.base import Ended, ModelError, Request, SaidPiece
from accord.model.content import Audio, Image, Resource, TextContent

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.coder.models.base import Model
    from accord.coder.session import CoderSession
    from accord.coder.tools.base import Tool

COMPACT_AT = 0.8
"""Compact when this share of the context is used."""
MAX_TOKENS = 200_000
"""Compact at this size at the latest, unless the user chose another: long contexts make models worse and cost more."""
MIN_GAIN = 0.2
"""The share of the history a summary must replace: less is not worth a request."""
PRUNE_GAIN = 0.25
"""The share of the available context that pruning must free. Less isn't worth it: it invalidates the provider's cache
from the first omitted result on."""
PROTECTED_SHARE = 0.2
MAX_PROTECTED = 160_000
"""The newest messages keep their results: this share of the available context, at most this many characters."""
MIN_RESULT = 500
"""Shorter results are not worth omitting."""
OMITTED = "[This result was omitted to save context. Make the call again if you need it.]"
PROMPTS_SHARE = 0.1
MAX_PROMPTS = 60_000
"""How much of the user's last messages a summary quotes: this share of the context, at most this many characters."""
HEADROOM = 8_000
"""The tokens that a turn needs besides instructions and tools: a prompt, a file or two, and the answers."""
CHARACTERS_PER_TOKEN = 3
"""A low estimate: the text to summarize must fit in the context too."""
MAX_ATTEMPTS = 4
"""If even the text to summarize is too long, try again with half of it, this often."""
PROMPT = """\
Summarize this conversation so that the work can continue from the summary alone. Sections:
1. Request: what the user wants, with all requirements and preferences.
2. Decisions: what was decided, and why.
3. Files: which were read and changed, and what matters in them. Quote code only where it is needed to continue.
4. Findings: commands and their results, errors, and what was tried and failed.
5. State: what is done and verified, what isn't, and the next step.
Be exact about paths, names and error messages. Omit what no longer matters, and invent nothing. Answer with the \
summary only, and call no tools."""
WISH = "The user adds, for this summary: "
INSTRUCTIONS = "You summarize conversations for a coding agent. Be clear and complete, invent nothing, call no tools."


async def build_request(state: CoderSession, model: Model, tools: Iterable[Tool[Any]]) -> Request:
    """Build the next request. It extends the last one, so that a provider can answer from its cache."""
    from accord.coder.instructions import instructions

    if model.reads_data:  # the offline model: it has no cache, and learns the mode from the tools
        messages: list[Message] = [message for message in state.history if not isinstance(message, Reminder)]
        specs = [tool.spec() for tool in tools if tool.suits(model.id) and modes.offers(state.mode, tool)]
    else:
        state.history.announce_mode(state.mode)
        messages, specs = list(state.history), [tool.spec() for tool in tools if tool.suits(model.id)]
    effort = state.models.effort
    return Request(
        instructions=await instructions(state, model),
        messages=messages,
        tools=specs,
        effort=effort if effort in model.efforts else None,
        session=state.cache_key,
    )


def prefix_size(request: Request) -> int:
    """Return the size of the part that all requests begin with, in tokens: instructions and tools."""
    tools = sum(len(tool.name) + len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    return (len(request.instructions) + tools) // 4


def available(model: Model, compact_at: int | None = None) -> int:
    """Return how many tokens of the context may be used before the history is compacted.

    `compact_at` is the user's choice, in place of the price step and `MAX_TOKENS`."""
    limit = compact_at or min(model.price_step or MAX_TOKENS, MAX_TOKENS)
    return min(int(model.context * COMPACT_AT), limit)


def is_due(state: CoderSession, model: Model) -> bool:
    """Return whether the next request may not fit: the size of the last one plus the messages since."""
    since: list[Message] = []
    for message in reversed(state.history):
        if isinstance(message, ModelSaid):
            break
        since.append(message)
    return (
        state.usage.context + size(since) // 4 > available(model, state.settings.compact_at) and len(state.history) > 2
    )


def prune(state: CoderSession, model: Model, *, is_too_long: bool = False) -> bool:
    """Omit old tool results, if that frees enough context to do without a summary for a while.

    `is_too_long` says that the provider has rejected the history. Its window may be smaller than we know, so the
    history is the measure then."""
    room = available(model, state.settings.compact_at) * 4
    if is_too_long:
        room = min(room, size(state.history))
    protected = min(room * PROTECTED_SHARE, MAX_PROTECTED)
    end = len(state.history)
    while end and protected > 0:
        end -= 1
        protected -= size(state.history[end])
    pruned = [*omit_results(state.history[:end]), *state.history[end:]]
    gain = size(state.history) - size(pruned)
    if gain < room * PRUNE_GAIN:
        return False
    state.prune_history(pruned)
    state.usage.context = max(state.usage.context - gain // 4, 0)
    return True


def omit_results(messages: Sequence[Message]) -> list[Message]:
    """Return messages without the text and images of long tool results."""
    return [
        ToolsSaid(results=[_omit(result) for result in message.results])
        if isinstance(message, ToolsSaid) and any(size(result) > MIN_RESULT for result in message.results)
        else message
        for message in messages
    ]


def _omit(result: Result) -> Result:
    if size(result) <= MIN_RESULT:
        return result
    return Result(id=result.id, name=result.name, text=OMITTED, failed=result.failed)


async def compact(
    state: CoderSession,
    model: Model,
    turn: Turn,
    asked: Sequence[UserSaid] = (),
    *,
    tools: Iterable[Tool[Any]],
    wish: str = "",
    is_too_long: bool = False,
) -> bool:
    """Replace the history with a summary. The prompts `asked` in this turn stay unchanged.

    Returns False if there is little to gain. `is_too_long` says that the provider has rejected the history. Raises
    `ModelError` if there is no summary; then the history is unchanged."""
    old, kept = _split(state.history, asked)
    if not old:
        return False
    session = state.session
    id = session.new_id("compact")
    await session.compaction(id, "in_progress")
    try:
        request = await build_request(state, model, tools)
        text = await _summary(
            old, request, model, f"{PROMPT}\n{WISH}{wish}" if wish else PROMPT, state, turn, id, is_too_long
        )
    except asyncio.CancelledError:
        await session.compaction(id, "cancelled")
        raise
    except Exception as error:
        await session.compaction(id, "failed", error=str(error) or type(error).__name__)
        await state.usage.report(model.context)  # it may have cost something
        raise
    prompts = _last_prompts(old, kept, int(min(model.context * 4 * PROMPTS_SHARE, MAX_PROMPTS)))
    plan = [f"- [{entry.status}] {entry.content}" for entry in state.plan]
    state.replace_history([Summary(text=text, prompts=prompts, plan=plan), *kept])
    state.usage.context = size(state.history) // 4
    await session.compaction(id, "completed", summary=text)
    await state.usage.report(model.context)
    return True


def _last_prompts(old: Sequence[Message], kept: Sequence[Message], room: int) -> list[str]:
    """Return the user's last messages that a summary replaces, in their order; the oldest may be truncated."""
    stay = {id(message) for message in kept}
    texts: list[str] = []
    for message in old:
        if isinstance(message, Summary):
            texts += message.prompts
        elif isinstance(message, UserSaid) and id(message) not in stay:
            texts += [piece.text for piece in message.content if isinstance(piece, TextContent)]
    found: list[str] = []
    for text in reversed(texts):
        if room < MIN_TEXT:
            break
        found.insert(0, _truncate_middle(text, room))
        room -= len(found[0])
    return found


async def _summary(
    old: list[Message],
    request: Request,
    model: Model,
    wish: str,
    state: CoderSession,
    turn: Turn,
    id: str,
    is_too_long: bool,
) -> str:
    """Ask for a summary: at the end of the last request, which the provider has cached, or of the part that fits."""
    if model.reads_data:
        old = [message for message in old if not isinstance(message, Reminder)]
    room = available(model, state.settings.compact_at) * CHARACTERS_PER_TOKEN - size(request.tools)
    rooms = [room >> attempt for attempt in range(MAX_ATTEMPTS)]
    for attempt, limit in enumerate(rooms):
        messages = fit(old, limit) if attempt or is_too_long else old
        request = structs.replace(request, messages=[*messages, UserSaid(content=[TextContent(wish)])])
        try:
            return await _stream_summary(request, model, state, turn, id)
        except EmptySummary:
            if request.instructions == INSTRUCTIONS or attempt == MAX_ATTEMPTS - 1:
                raise
            request = structs.replace(request, instructions=INSTRUCTIONS)  # it continued the work instead
        except ModelError as error:
            if error.kind != "context" or attempt == MAX_ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


class EmptySummary(ModelError):
    """The model answered without a summary."""


async def _stream_summary(request: Request, model: Model, state: CoderSession, turn: Turn, id: str) -> str:
    text: list[str] = []
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, SaidPiece):
                text.append(piece.text)
                await state.session.compaction_text(id, piece.text)
            elif isinstance(piece, Ended):
                state.usage.add(piece.spent, turn)
    if not "".join(text).strip():
        raise EmptySummary(f"{model.name} returned an empty summary; nothing was compacted")
    return "".join(text)


def _split(history: Sequence[Message], asked: Sequence[UserSaid]) -> tuple[list[Message], list[Message]]:
    """Split the history into the part to summarize (empty if not worth it) and the part to keep: the user's prompts of
    this turn, and what followed."""
    wanted = {id(message) for message in asked}
    first = next((index for index, message in enumerate(history) if id(message) in wanted), len(history))
    old, kept = list(history[:first]), list(history[first:])
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
    """Return the approximate number of characters in messages or their parts."""
    match value:
        case str():
            return len(value)
        case Sequence():
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
    """Return the index of the next prompt, where the history can start instead; 0 if there is none."""
    return next((index for index, message in enumerate(messages) if index and isinstance(message, UserSaid)), 0)


def _truncate(message: Message, limit: int) -> Message:
    match message:
        case UserSaid(content=content):
            return UserSaid(content=[_content(piece, limit) for piece in content])
        case ModelSaid(parts=parts, model=model):
            return ModelSaid(parts=[_part(part, limit) for part in parts if not isinstance(part, Thought)], model=model)
        case ToolsSaid(results=results):
            return ToolsSaid(results=[_result(result, limit) for result in results])
        case Summary(text=text, prompts=prompts, plan=plan):
            return Summary(
                text=_truncate_middle(text, MAX_TEXT), prompts=prompts if limit > MIN_TEXT else [], plan=plan
            )
    return message


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
