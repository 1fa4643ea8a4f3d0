"""Making a history fit where there is less room: what is long is cut in its middle, then what is old is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from accord.model.content import Audio, Image, Resource, TextContent

PICTURE = 6_000
LITTLE = 40
LONGEST = 16_000
SHORTEST = 250
"""Between how many characters a text is cut, before whole messages are left out."""


def size(value: Any) -> int:
    """How many characters something has, more or less. A picture counts for what it is to a model, not by its data."""
    match value:
        case list() | tuple():
            return sum(map(size, value))
        case UserSaid(content=pieces):
            return size(pieces)
        case ToolsSaid(results=results):
            return size(results)
        case Result(text=text, images=images):
            return len(text) + size(images) + LITTLE
        case Resource(resource=resource):
            return len(resource.text or "") + (PICTURE if resource.blob else 0) + LITTLE
        case Image() | Audio():
            return PICTURE
    return len(str(value))


def fitted(messages: Sequence[Message], room: int) -> list[Message]:
    """The messages in at most `room` characters, more or less; as they are if they fit.

    What is cut is cut for good, so it is told without what only its provider understands: thoughts, seals, pictures."""
    whole = list(messages)
    if size(whole) <= room:
        return whole
    longest = LONGEST
    cut = [_cut(message, longest) for message in whole]
    while size(cut) > room and longest > SHORTEST:
        longest //= 2
        cut = [_cut(message, longest) for message in whole]
    while size(cut) > room and (following := _next_start(cut)):
        cut = cut[following:]
    return cut


def _next_start(messages: Sequence[Message]) -> int:
    """Where a history can begin instead: at something the user said later. 0 when there is no such place."""
    return next((index for index, message in enumerate(messages) if index and isinstance(message, UserSaid)), 0)


def _cut(message: Message, longest: int) -> Message:
    match message:
        case UserSaid(content=content):
            return UserSaid(content=[_content(piece, longest) for piece in content])
        case ModelSaid(parts=parts, model=model):
            return ModelSaid(
                parts=[_part(part, longest) for part in parts if not isinstance(part, Thought)], model=model
            )
        case ToolsSaid(results=results):
            return ToolsSaid(results=[_result(result, longest) for result in results])
        case Summary(text=text):
            return Summary(text=_middle(text, LONGEST))


def _content(piece: KnownContent, longest: int) -> KnownContent:
    match piece:
        case TextContent(text=text):
            return TextContent(_middle(text, longest))
        case Resource(resource=resource):
            return TextContent(_middle(f"[{resource.uri}]\n{resource.text or ''}", longest))
        case Image(mime_type=kind) | Audio(mime_type=kind):
            return TextContent(f"[{kind}, left out]")
    return piece


def _part(part: Part, longest: int) -> Part:
    if isinstance(part, Call):
        return Call(id=part.id, name=part.name, arguments=_value(part.arguments, longest), fault=part.fault)
    return Text(text=_middle(part.text, longest))


def _value(value: Any, longest: int) -> Any:
    match value:
        case str():
            return _middle(value, longest)
        case dict():
            return {key: _value(item, longest) for key, item in value.items()}
        case list():
            return [_value(item, longest) for item in value[: max(longest // 100, 1)]]
    return value


def _result(result: Result, longest: int) -> Result:
    return Result(id=result.id, name=result.name, text=_middle(result.text, longest), failed=result.failed)


def _middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
