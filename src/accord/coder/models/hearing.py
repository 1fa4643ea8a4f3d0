"""Hears what a provider's library says of an answer, and says it on piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from accord.coder.history import Call, ModelSaid, Part, Text, Thought
from accord.coder.models.base import (
    CallBegins,
    CallReady,
    Ended,
    EndReason,
    ModelError,
    Piece,
    SaidPiece,
    Spent,
    ThoughtPiece,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponsePart, ModelResponseStreamEvent


class Cut(Exception):
    """The stream ended, but not the answer."""


class Hearing:
    """One answer, as it comes in."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._ids: dict[int, str] = {}
        """The id of each call, by its place in the answer."""
        self._ready: set[int] = set()
        self.heard = False
        """Whether anything came."""

    def hear(self, event: ModelResponseStreamEvent) -> Iterator[Piece]:
        """What an event says."""
        from pydantic_ai.messages import PartDeltaEvent, PartEndEvent, PartStartEvent, TextPartDelta, ThinkingPartDelta

        self.heard = True
        match event:
            case PartStartEvent(index=index, part=part):
                yield from self._begins(index, part)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                yield SaidPiece(text=text)
            case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text)) if text:
                yield ThoughtPiece(text=text)
            case PartEndEvent(index=index, part=part) if _whole(part):
                yield from self._is_ready(index, part)

    def end(self, response: ModelResponse) -> Iterator[Piece]:
        """The last pieces, when the stream has ended; `Cut` when the answer has not."""
        details = response.provider_details or {}
        finish = response.finish_reason
        # Where no reason came, a library may make one up; only a refusal has another way to be told.
        if not details.get("finish_reason") and finish != "content_filter":
            raise Cut
        if finish == "error":
            raise ModelError("the model broke its answer off with an error; ask again", retry=True)
        parts: list[Part] = []
        for index, part in enumerate(response.parts):
            if (ours := self._part(index, part)) is None:
                continue
            parts.append(ours)
            if isinstance(ours, Call):
                yield from self._is_ready(index, part)
        said = ModelSaid(parts=parts, model=self._model)
        reason = _reason(finish, said)
        if reason == "refusal" and not said.text and (words := _words_of_refusal(details)):
            said.parts.append(Text(text=words))
            yield SaidPiece(text=words)
        yield Ended(message=said, reason=reason, spent=spent(response, self._model))

    def _begins(self, index: int, part: ModelResponsePart) -> Iterator[Piece]:
        from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

        match part:
            case TextPart(content=text) if text:
                yield SaidPiece(text=text)
            case ThinkingPart(content=text) if text:
                yield ThoughtPiece(text=text)
            case ToolCallPart(tool_name=name) if index not in self._ids:
                yield CallBegins(id=self._id(index, part), name=name)

    def _is_ready(self, index: int, part: Any) -> Iterator[Piece]:
        if index in self._ready:
            return
        self._ready.add(index)
        if index not in self._ids:
            yield CallBegins(id=self._id(index, part), name=part.tool_name)
        call = self._part(index, part)
        assert isinstance(call, Call)
        yield CallReady(call=call)

    def _id(self, index: int, part: Any) -> str:
        """A call's id. Some servers give two calls the same, or none: then it is made another's."""
        if index not in self._ids:
            id = part.tool_call_id or "call"
            taken = set(self._ids.values())
            self._ids[index] = id if id not in taken and part.tool_call_id else f"{id}-{index}"
        return self._ids[index]

    def _part(self, index: int, part: Any) -> Part | None:
        from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

        match part:
            case TextPart(content=text):
                extra = _extra(part)
                return Text(text=text, extra=extra) if text or extra else None
            case ThinkingPart(content=text, signature=signature):
                return Thought(text=text, extra=_extra(part, signature=signature))
            case ToolCallPart(tool_name=name, args=args):
                arguments, fault = _arguments(args)
                extra = _extra(part, raw=args if fault else None)
                return Call(id=self._id(index, part), name=name, arguments=arguments, extra=extra, fault=fault)
        return None  # a tool of the provider's own: none is asked for


def _whole(part: Any) -> bool:
    """Whether a part is a call whose arguments are all there: several calls may be written at once."""
    from pydantic_ai.messages import ToolCallPart

    return isinstance(part, ToolCallPart) and bool(part.args) and _arguments(part.args)[1] is None


def _arguments(args: str | dict[str, Any] | None) -> tuple[dict[str, Any], str | None]:
    """The arguments of a call, and what is wrong with them."""
    if isinstance(args, dict):
        return args, None
    if args is None or not args.strip():
        return {}, None
    try:
        arguments = msgspec.json.decode(args)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        return {}, f"the arguments are no JSON ({error}): {_short(args)}"
    if not isinstance(arguments, dict):
        return {}, f"the arguments are no JSON object: {_short(args)}"
    return arguments, None


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"


def _extra(part: Any, **more: Any) -> dict[str, Any] | None:
    """What its provider wants back with a part."""
    extra = {"id": part.id, "details": _plain(part.provider_details), **more}
    return {name: value for name, value in extra.items() if value} or None


def _plain(details: dict[str, Any] | None) -> dict[str, Any]:
    """Those details that can be kept."""
    kept = {}
    for name, value in (details or {}).items():
        try:
            kept[name] = msgspec.json.decode(msgspec.json.encode(value))
        except (TypeError, msgspec.MsgspecError, UnicodeEncodeError):
            continue
    return kept


def _reason(finish: str | None, said: ModelSaid) -> EndReason:
    if finish == "content_filter":
        return "refusal"
    if finish == "length":
        return "length"
    return "calls" if said.calls else "end"


def _words_of_refusal(details: dict[str, Any]) -> str:
    for name in ("refusal", "block_reason_message"):
        if isinstance(words := details.get(name), str) and words:
            return words
    return ""


def spent(response: ModelResponse, model: str) -> Spent:
    """What an answer took."""
    usage = response.usage
    return Spent(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached_read=usage.cache_read_tokens,
        cached_write=usage.cache_write_tokens,
        thought=usage.output_reasoning_tokens,
        cost=_cost(response, model),
    )


def _cost(response: ModelResponse, model: str) -> float | None:
    if response.usage.cost is not None:
        return float(response.usage.cost)
    # A provider may call a model by a name of its own in the answer.
    for name in dict.fromkeys((response.model_name, model.partition(":")[2])):
        try:
            return float(replace(response, model_name=name).cost().total_price)
        except (LookupError, ValueError, AssertionError):  # no price is known, or no usage was told
            continue
    return None
