"""Translate stream events of pydantic-ai into pieces of a reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from accord.coder import json_repair
from accord.coder.history import Call, ModelSaid, Part, Text, Thought
from accord.coder.models.base import (
    CallArguments,
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

    from accord.coder.models.snapshot import Price


PATCH_START = "*** Begin Patch"
CONTEXT_EXCEEDED = "model_context_window_exceeded"
"""The stop reason of Anthropic and Z.ai for a reply that ended because the context window was full."""


class TruncatedStream(Exception):
    """The stream ended before the reply was complete."""


class EventTranslator:
    """Translates the events of one reply."""

    def __init__(self, model: str, price: Price | None = None) -> None:
        self._model = model
        self._price = price
        self._ids: dict[int, str] = {}
        """The id of each tool call, by its index in the reply."""
        self._ready: set[int] = set()
        self._is_cut_off = False
        self.started: bool = False
        """Whether anything has arrived."""

    def translate(self, event: ModelResponseStreamEvent) -> Iterator[Piece]:
        """Translate an event."""
        from pydantic_ai.messages import (
            PartDeltaEvent,
            PartEndEvent,
            PartStartEvent,
            TextPartDelta,
            ThinkingPartDelta,
            ToolCallPartDelta,
        )

        self.started = True
        match event:
            case PartStartEvent(index=index, part=part):
                yield from self._begins(index, part)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                yield SaidPiece(text=text)
            case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text)) if text:
                yield ThoughtPiece(text=text)
            case PartDeltaEvent(index=index, delta=ToolCallPartDelta(args_delta=str(text))) if text:
                if index in self._ids:
                    yield CallArguments(id=self._ids[index], text=text)
            case PartEndEvent(index=index, part=part) if _whole(part):
                yield from self._is_ready(index, part)

    def finish(self, response: ModelResponse) -> Iterator[Piece]:
        """Return the last pieces at the end of the stream. Raises `TruncatedStream` if the reply is incomplete."""
        details = response.provider_details or {}
        finish = response.finish_reason
        # A library may make up a finish reason if none came. Only refusals are reported in another way.
        if not details.get("finish_reason") and finish != "content_filter":
            raise TruncatedStream
        if finish == "error":
            raise ModelError("the model ended its response with an error; try again", retry=True)
        if details.get("finish_reason") == CONTEXT_EXCEEDED:
            raise ModelError("the conversation filled the model's context window", kind="context")
        self._is_cut_off = finish == "length"
        parts: list[Part] = []
        for index, part in enumerate(response.parts):
            if (ours := self._part(index, part)) is None:
                continue
            parts.append(ours)
            if isinstance(ours, Call):
                yield from self._is_ready(index, part)
        said = ModelSaid(parts=parts, model=self._model)
        reason = _reason(finish, said)
        if reason == "refusal" and not said.text and (words := _refusal_text(details)):
            said.parts.append(Text(text=words))
            yield SaidPiece(text=words)
        yield Ended(message=said, reason=reason, spent=measure(response, self._model, self._price))

    def _begins(self, index: int, part: ModelResponsePart) -> Iterator[Piece]:
        from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

        match part:
            case TextPart(content=text) if text:
                yield SaidPiece(text=text)
            case ThinkingPart(content=text) if text:
                yield ThoughtPiece(text=text)
            case ToolCallPart(tool_name=name, args=args) if index not in self._ids:
                yield CallBegins(id=self._id(index, part), name=name)
                if isinstance(args, str) and args:
                    yield CallArguments(id=self._ids[index], text=args)

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
        """Return a unique id for a tool call: some servers send the same id twice, or none."""
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
                arguments, fault = decode_arguments(args, can_repair=not self._is_cut_off)
                extra = _extra(part, raw=args if fault else None)
                return Call(id=self._id(index, part), name=name, arguments=arguments, extra=extra, fault=fault)
        return None  # a built-in tool of the provider, which we never request


def _whole(part: Any) -> bool:
    """Return whether a part is a tool call with complete arguments: several calls may stream concurrently."""
    from pydantic_ai.messages import ToolCallPart

    return (
        isinstance(part, ToolCallPart) and bool(part.args) and decode_arguments(part.args, can_repair=False)[1] is None
    )


def decode_arguments(args: str | dict[str, Any] | None, *, can_repair: bool) -> tuple[dict[str, Any], str | None]:
    """Parse the arguments of a tool call; return them and the problem with them, if any.

    Arguments that may be incomplete are not repaired: the rest could change their meaning."""
    if isinstance(args, dict):
        return args, None
    if args is None or not args.strip():
        return {}, None
    if can_repair and args.lstrip().startswith(PATCH_START):  # some GPT models write it without JSON
        return {"patch": args}, None
    decode = json_repair.decode if can_repair else msgspec.json.decode
    try:
        arguments = decode(args)
        if isinstance(arguments, str):  # encoded twice
            arguments = decode(arguments)
    except (msgspec.DecodeError, ValueError) as error:
        return {}, f"the arguments aren't valid JSON ({error}): {_short(args)}"
    if arguments is None or arguments == []:  # a call without arguments
        return {}, None
    if not isinstance(arguments, dict):
        return {}, f"the arguments aren't a JSON object: {_short(args)}"
    return arguments, None


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"


def _extra(part: Any, **more: Any) -> dict[str, Any] | None:
    """Return the data that the provider needs back with a part."""
    extra = {"id": part.id, "details": _plain(part.provider_details), **more}
    return {name: value for name, value in extra.items() if value} or None


def _plain(details: dict[str, Any] | None) -> dict[str, Any]:
    """Return the details that can be stored as JSON."""
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


def _refusal_text(details: dict[str, Any]) -> str:
    for name in ("refusal", "block_reason_message"):
        if isinstance(words := details.get(name), str) and words:
            return words
    return ""


def measure(response: ModelResponse, model: str, price: Price | None = None) -> Spent:
    """Return the token usage of a reply. `price` is used if the library doesn't know one."""
    usage = response.usage
    return Spent(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached_read=usage.cache_read_tokens,
        cached_write=usage.cache_write_tokens,
        thought=usage.output_reasoning_tokens,
        cost=_cost(response, model, price),
        saved=_count_savings(response, price),
    )


def _cost(response: ModelResponse, model: str, price: Price | None) -> float | None:
    if response.usage.cost is not None:
        return float(response.usage.cost)
    # A provider may use another name for the model in its response.
    for name in dict.fromkeys((response.model_name, model.partition(":")[2])):
        try:
            return float(replace(response, model_name=name).cost().total_price)
        except (LookupError, ValueError, AssertionError):  # unknown price, or no usage reported
            continue
    return _estimate(response, price) if price is not None and response.usage.input_tokens else None


def _count_savings(response: ModelResponse, price: Price | None) -> float | None:
    """Return the cost that the cache saved, compared with the price of the same tokens without it."""
    if price is None or not response.usage.input_tokens:
        return None
    usage = response.usage
    saved = 0.0
    if price.cached_read is not None:
        saved += usage.cache_read_tokens * (price.input - price.cached_read)
    if price.cached_write is not None:
        saved -= usage.cache_write_tokens * (price.cached_write - price.input)
    return saved / 1_000_000


def _estimate(response: ModelResponse, price: Price) -> float:
    usage = response.usage
    read, write = usage.cache_read_tokens, usage.cache_write_tokens
    cost = (usage.input_tokens - read - write) * price.input + usage.output_tokens * price.output
    cost += read * (price.input if price.cached_read is None else price.cached_read)
    cost += write * (price.input if price.cached_write is None else price.cached_write)
    return cost / 1_000_000
