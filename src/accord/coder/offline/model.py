"""The offline model: deterministic replies behind the interface of a language model.

It never touches a file itself. If it needs to know something, it calls a tool, and reads the result from the history
of the next request. It has no other state, so the same history always gets the same reply."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from accord.coder.history import Call, Message, ModelSaid, Part, Result, Summary, Text, ToolsSaid, UserSaid
from accord.coder.models.base import CallBegins, CallReady, Ended, EndReason, Model, Piece, Request, SaidPiece, Spent
from accord.coder.offline.context import OFFLINE, Prompt, collect_todos, find_last_file, parse_prompt
from accord.coder.offline.misses import suggest
from accord.coder.offline.requests import Continue, Step, Summarize, Talk, Unclear, Unknown, describe_step
from accord.coder.offline.runner import Progress, run_steps
from accord.coder.offline.script import ModelReply, Script, Situation
from accord.coder.offline.summary import INTERRUPTED
from accord.model.content import TextContent

CHARACTERS_PER_TOKEN = 4
"""Tokens are free here, but clients show how full the context is."""
CONTEXT = 200_000
COLLECT_SECONDS = 0.03
"""Seconds of output to collect into one update. Clients redraw for each update, and some start a new paragraph."""
CONFIRMATION = Talk(about="yes")
PIECE = re.compile(r"\S{1,40}\s*|\s+")
LOST = "The conversation was compacted in the middle of this request, so I stopped. Tell me what's left to do."
DIVERGED = "Another model worked on this request, and I can't continue from the middle. Please ask again."


class OfflineModel(Model):
    """Parses requests with a fixed grammar, and carries them out with the same tools as a language model."""

    id = OFFLINE
    name = "Offline (no language model)"
    context = CONTEXT
    reads_data = True

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        reply = next_answer(request)
        said = reply.text
        reason: EndReason = "calls" if reply.calls else "end" if reply.is_understood else "not_understood"
        if request.max_tokens is not None and len(said) > request.max_tokens * CHARACTERS_PER_TOKEN:
            said, reason, reply = said[: request.max_tokens * CHARACTERS_PER_TOKEN], "length", ModelReply("", ())
        async for text in self._collect_words(said):
            yield SaidPiece(text=text)
        parts: list[Part] = [Text(text=said)] if said else []
        seed = blake2b(msgspec.json.encode(request.messages), digest_size=9)
        for index, planned in enumerate(reply.calls):
            digest = blake2b(seed.digest() + bytes([index % 256, index // 256]), digest_size=9).hexdigest()
            call = Call(id=f"call_{digest}", name=planned.name, arguments=planned.arguments)
            yield CallBegins(id=call.id, name=call.name)
            yield CallReady(call=call)
            parts.append(call)
        message = ModelSaid(parts=parts, model=self.id)
        yield Ended(message=message, reason=reason, spent=count_tokens(request, message))

    async def _collect_words(self, text: str) -> AsyncGenerator[str, None]:
        """Split a text into chunks, each with the words of one COLLECT_SECONDS interval."""
        words, started = "", self._clock()
        for word in PIECE.findall(text):
            words += word
            await asyncio.sleep(0)  # allow cancellation between words
            if (now := self._clock()) - started >= COLLECT_SECONDS:
                yield words
                words, started = "", now
        if words:
            yield words


def count_tokens(request: Request, message: ModelSaid) -> Spent:
    """Count the tokens of a request and its reply: one for every four characters, rounded up. They cost nothing."""
    read = (
        len(request.instructions) + len(msgspec.json.encode(request.messages)) + len(msgspec.json.encode(request.tools))
    )
    written = len(msgspec.json.encode(message.parts))
    return Spent(input=-(-read // CHARACTERS_PER_TOKEN), output=-(-written // CHARACTERS_PER_TOKEN), cost=0.0)


def next_answer(request: Request) -> ModelReply:
    """Return the next text and tool calls; no calls if the turn is over."""
    messages = request.messages
    index = _last_prompt(messages, len(messages))
    if index is None:
        return ModelReply(LOST, ())
    tools = frozenset(tool.name for tool in request.tools)
    before, since = messages[:index], messages[index + 1 :]
    if not since and _was_broken_off(before):
        return ModelReply(LOST, ())
    steps, situation = _begin(messages, index, tools)
    progress = Progress()
    answer, matches = _replay(run_steps(steps, situation, progress), since)
    if not matches:
        return ModelReply(DIVERGED, ())
    is_first = not since and not isinstance(steps[0], (Continue, Summarize))
    left = _mention_abandoned(messages, index, tools) if is_first else ""
    said = _join(left, answer.text)
    # The next reply may be shown right after this one, so end the paragraph.
    is_understood = not any(isinstance(step, (Unclear, Unknown)) for step in steps)
    return ModelReply(f"{said}\n\n" if said and answer.calls else said, answer.calls, is_understood)


def _was_broken_off(before: Sequence[Message]) -> bool:
    """Return whether compaction replaced the work on the last prompts with a summary."""
    last = next((message for message in reversed(before) if not isinstance(message, UserSaid)), None)
    return isinstance(last, Summary) and INTERRUPTED in last.text


def _join(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _last_prompt(messages: Sequence[Message], end: int) -> int | None:
    return next((index for index in range(end - 1, -1, -1) if isinstance(messages[index], UserSaid)), None)


def _begin(messages: Sequence[Message], index: int, tools: frozenset[str]) -> tuple[list[Step], Situation]:
    """Parse a prompt, and collect what is known at that point."""
    before, prompt = messages[:index], messages[index]
    assert isinstance(prompt, UserSaid)
    found = parse_prompt(prompt, find_last_file(before))
    if found.steps == [CONFIRMATION]:
        found = _find_confirmed(before) or found
    situation = Situation(tools=tools, attached=found.attached, todos=collect_todos(before), before=before)
    steps = found.steps
    if len(steps) == 1 and isinstance(steps[0], Continue):
        steps = find_undone(messages, index, tools) or steps
    return steps, situation


def _find_confirmed(before: Sequence[Message]) -> Prompt | None:
    """Return the request that was suggested in the last reply, which the user confirms."""
    index = _last_prompt(before, len(before))
    earlier = before[index] if index is not None else None
    assert earlier is None or isinstance(earlier, UserSaid)
    steps = parse_prompt(earlier, find_last_file(before[:index])).steps if earlier is not None else []
    suggestion = suggest(steps[0]) if len(steps) == 1 else None
    return parse_prompt(UserSaid(content=[TextContent(suggestion)])) if suggestion is not None else None


def find_undone(messages: Sequence[Message], index: int, tools: frozenset[str]) -> list[Step]:
    """Return the steps that the previous request left undone."""
    earlier = _last_prompt(messages, index)
    if earlier is None:
        return []
    since = messages[earlier + 1 : index]
    used = {call.name for message in since if isinstance(message, ModelSaid) for call in message.calls}
    steps, situation = _begin(messages, earlier, tools | used)
    progress = Progress()
    _replay(run_steps(steps, situation, progress), since)
    return steps[progress.index :]


def _mention_abandoned(messages: Sequence[Message], index: int, tools: frozenset[str]) -> str:
    """Mention the request that this prompt interrupted, if any."""
    if not index or not isinstance(messages[index - 1], (ToolsSaid, UserSaid)):
        return ""
    if any(isinstance(message, ModelSaid) and message.model not in ("", OFFLINE) for message in messages[:index][-2:]):
        return ""
    left = [describe_step(step) for step in find_undone(messages, index, tools)]
    if not left:
        return ""
    return "I dropped the previous request. Not done: " + "; ".join(left) + ". Say `continue` to resume it."


def _replay(script: Script[str], since: Sequence[Message]) -> tuple[ModelReply, bool]:
    """Run a script with the results in the history; return its next reply, and whether the history matches it."""
    try:
        reply = next(script)
        for index, message in enumerate(since):
            if not isinstance(message, ModelSaid) or not message.calls:
                continue
            following = since[index + 1] if index + 1 < len(since) else None
            if not isinstance(following, ToolsSaid) or not _same(reply, message.calls):
                return reply, False
            results = {result.id: result for result in following.results}
            reply = script.send([results.get(call.id) or _missing(call) for call in message.calls])
        return reply, True
    except StopIteration as end:
        return ModelReply(str(end.value), ()), True


def _same(reply: ModelReply, called: Sequence[Call]) -> bool:
    mine: list[tuple[str, Any]] = [(call.name, call.arguments) for call in reply.calls]
    return mine == [(call.name, call.arguments) for call in called]


def _missing(call: Call) -> Result:
    return Result(id=call.id, name=call.name, text="This call has no result.", failed=True)
