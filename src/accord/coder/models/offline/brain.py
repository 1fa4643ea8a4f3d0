"""The offline model: a deterministic brain behind the interface of a language model.

It looks at the conversation alone, never at a file: whatever it wants to know, it asks a tool for, and reads what the
tool said when it is asked the next time. The same conversation always gets the same answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from accord.coder.history import Call, Message, ModelSaid, Part, Result, Summary, Text, ToolsSaid, UserSaid
from accord.coder.models.base import CallBegins, CallReady, Ended, EndReason, Model, Piece, Request, SaidPiece, Spent
from accord.coder.models.offline.conductor import Progress, conduct
from accord.coder.models.offline.memory import OFFLINE, last_file, todos, understood
from accord.coder.models.offline.requests import Continue, Step, Summarise
from accord.coder.models.offline.script import Ask, Script, Situation
from accord.coder.models.offline.summary import BROKEN_OFF
from accord.coder.models.offline.titles import title

CHARACTERS = 4
"""How many characters count as one token: nobody charges for these, but clients like to see how full the context is."""
CONTEXT = 200_000
PIECE = re.compile(r"\S{1,40}\s*|\s+")
LOST = "The conversation was shortened in the middle of this request, so I stop here. Say what is left to do."
OTHERWISE = "The conversation went on otherwise than I would have; I cannot take it up in the middle. Please ask again."


class OfflineModel(Model):
    """Understands requests of a fixed grammar, and carries them out with the same tools as a language model."""

    id = OFFLINE
    name = "Offline (no language model)"
    context = CONTEXT

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        ask = next_answer(request)
        said = ask.said
        reason: EndReason = "calls" if ask.wants else "end"
        if request.max_tokens is not None and len(said) > request.max_tokens * CHARACTERS:
            said, reason, ask = said[: request.max_tokens * CHARACTERS], "length", Ask("", ())
        for piece in PIECE.findall(said):
            yield SaidPiece(text=piece)
            await asyncio.sleep(0)  # whoever cancels is heard between two words
        parts: list[Part] = [Text(text=said)] if said else []
        seed = blake2b(msgspec.json.encode(request.messages), digest_size=9)
        for index, want in enumerate(ask.wants):
            digest = blake2b(seed.digest() + bytes([index % 256, index // 256]), digest_size=9).hexdigest()
            call = Call(id=f"call_{digest}", name=want.name, arguments=want.arguments)
            yield CallBegins(id=call.id, name=call.name)
            yield CallReady(call=call)
            parts.append(call)
        message = ModelSaid(parts=parts, model=self.id)
        yield Ended(message=message, reason=reason, spent=spent(request, message))


def spent(request: Request, message: ModelSaid) -> Spent:
    """What an answer cost: a token for every four characters that were read and said, rounded up. Nothing is paid."""
    read = (
        len(request.instructions) + len(msgspec.json.encode(request.messages)) + len(msgspec.json.encode(request.tools))
    )
    written = len(msgspec.json.encode(message.parts))
    return Spent(input=-(-read // CHARACTERS), output=-(-written // CHARACTERS), cost=0.0)


def next_answer(request: Request) -> Ask:
    """What is said and called next; no calls when the turn is over."""
    messages = request.messages
    index = _last_prompt(messages, len(messages))
    if index is None:
        return Ask(LOST, ())
    tools = frozenset(tool.name for tool in request.tools)
    before, since = messages[:index], messages[index + 1 :]
    if not since and _was_broken_off(before):
        return Ask(LOST, ())
    steps, situation = _begin(messages, index, tools, request.instructions)
    progress = Progress()
    answer, met = _replayed(conduct(steps, situation, progress), since)
    if not met:
        return Ask(OTHERWISE, ())
    begins = not since and not isinstance(steps[0], (Continue, Summarise))
    left = _left_behind(messages, index, tools) if begins else ""
    said = _joined(left, answer.said)
    # What is said next may be shown in the same breath: a paragraph of its own, then.
    return Ask(f"{said}\n\n" if said and answer.wants else said, answer.wants)


def _was_broken_off(before: Sequence[Message]) -> bool:
    """Whether a summary took the place of what was done for the prompts at the end of the conversation."""
    last = next((message for message in reversed(before) if not isinstance(message, UserSaid)), None)
    return isinstance(last, Summary) and BROKEN_OFF in last.text


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _last_prompt(messages: Sequence[Message], end: int) -> int | None:
    return next((index for index in range(end - 1, -1, -1) if isinstance(messages[index], UserSaid)), None)


def _begin(
    messages: Sequence[Message], index: int, tools: frozenset[str], instructions: str
) -> tuple[list[Step], Situation]:
    """A request, understood, and what is known when it is made."""
    before, prompt = messages[:index], messages[index]
    assert isinstance(prompt, UserSaid)
    found = understood(prompt, last_file(before))
    situation = Situation(
        tools=tools, attached=found.attached, todos=todos(before), before=before, instructions=instructions
    )
    steps = found.steps
    if len(steps) == 1 and isinstance(steps[0], Continue):
        steps = undone(messages, index, tools) or steps
    return steps, situation


def undone(messages: Sequence[Message], index: int, tools: frozenset[str]) -> list[Step]:
    """The steps that the request before this one left undone."""
    earlier = _last_prompt(messages, index)
    if earlier is None:
        return []
    since = messages[earlier + 1 : index]
    used = {call.name for message in since if isinstance(message, ModelSaid) for call in message.calls}
    steps, situation = _begin(messages, earlier, tools | used, "")
    progress = Progress()
    _replayed(conduct(steps, situation, progress), since)
    return steps[progress.index :]


def _left_behind(messages: Sequence[Message], index: int, tools: frozenset[str]) -> str:
    """A word about a request that this one took the place of while it was being carried out."""
    if not index or not isinstance(messages[index - 1], (ToolsSaid, UserSaid)):
        return ""
    if any(isinstance(message, ModelSaid) and message.model not in ("", OFFLINE) for message in messages[:index][-2:]):
        return ""
    left = [title(step) for step in undone(messages, index, tools)]
    if not left:
        return ""
    return "I leave the request before this one; not done: " + "; ".join(left) + ". Say `continue` to take it up again."


def _replayed(script: Script[str], since: Sequence[Message]) -> tuple[Ask, bool]:
    """Where a script stands after what has been said and done since, and whether that is what it wanted."""
    try:
        ask = next(script)
        for place, message in enumerate(since):
            if not isinstance(message, ModelSaid) or not message.calls:
                continue
            following = since[place + 1] if place + 1 < len(since) else None
            if not isinstance(following, ToolsSaid) or not _same(ask, message.calls):
                return ask, False
            results = {result.id: result for result in following.results}
            ask = script.send([results.get(call.id) or _missing(call) for call in message.calls])
        return ask, True
    except StopIteration as end:
        return Ask(str(end.value), ()), True


def _same(ask: Ask, called: Sequence[Call]) -> bool:
    mine: list[tuple[str, Any]] = [(want.name, want.arguments) for want in ask.wants]
    return mine == [(call.name, call.arguments) for call in called]


def _missing(call: Call) -> Result:
    return Result(id=call.id, name=call.name, text="This call was not answered.", failed=True)
