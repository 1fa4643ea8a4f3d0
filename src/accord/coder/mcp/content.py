"""What servers give, as content of a session: the same blocks, every field as it came; and the same for a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import msgspec

from accord.model.content import Audio, Content, Image, Link, Resource, TextContent, UnknownContent
from accord.model.noun import Noun

MOST_TEXT = 60_000
"""How many characters of a result a model is told."""
MOST_IMAGES = 8

_Known = Union[TextContent, Image, Audio, Link, Resource]


class ForModel(Noun):
    """A result as a model is told of it."""

    text: str
    images: list[Image] = []


def content_of(block: dict[str, Any]) -> Content:
    """One block, whole. One that says more than our types know is kept as it is."""
    try:
        piece: Content = msgspec.convert(block, _Known)
    except msgspec.ValidationError:
        return UnknownContent(type=str(block.get("type", "")), data=block)
    return piece if msgspec.to_builtins(piece) == block else UnknownContent(type=block["type"], data=block)


def contents_of(blocks: Any) -> list[Content]:
    """The blocks of a result."""
    return [content_of(block) for block in blocks or () if isinstance(block, dict)]


def resource_blocks(contents: Any) -> list[dict[str, Any]]:
    """What was read of a resource, as blocks."""
    return [{"type": "resource", "resource": each} for each in contents or () if isinstance(each, dict)]


def for_model(blocks: Iterable[Any], structured: Any = None, *, most: int = MOST_TEXT) -> ForModel:
    """Some blocks as a model is told of them: their text, bounded, and the pictures."""
    images: list[Image] = []
    said = [_words(block, images) for block in blocks if isinstance(block, dict)]
    if structured is not None and not any(words.strip() for words in said):
        said.append(msgspec.json.encode(structured).decode())
    return ForModel(text=bounded("\n".join(said), most), images=images)


def bounded(text: str, most: int = MOST_TEXT) -> str:
    """A text with its middle left out when it is too long: the end often says how it went."""
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    return f"{text[:head]}\n… ({len(text) - head - tail} of {len(text)} characters left out) …\n{text[-tail:]}"


def _words(block: dict[str, Any], images: list[Image]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image", "data": str(data), "mimeType": str(mime_type)}:
            return _picture(data, mime_type, images)
        case {"type": "audio", "data": str(data), "mimeType": str(mime_type)}:
            return f"[a sound, {mime_type}, {_size(data)}, shown to the user]"
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            about = "".join(f", {block[key]}" for key in ("mimeType", "description") if block.get(key))
            return f"[a resource: {name}, {uri}{about}]"
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"[the resource {uri}]\n{text}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob), "mimeType": str(mime_type)}} if (
            mime_type.startswith("image/")
        ):
            return f"[the resource {uri}]\n{_picture(blob, mime_type, images)}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob)}}:
            return f"[the resource {uri}, {_size(blob)} that are no text, shown to the user]"
    return f"[content of type {block.get('type')!r}, shown to the user]"


def _picture(data: str, mime_type: str, images: list[Image]) -> str:
    if len(images) >= MOST_IMAGES:
        return f"[one more picture, {mime_type}, {_size(data)}, shown to the user]"
    images.append(Image(data=data, mime_type=mime_type))
    return f"[picture {len(images)}, {mime_type}]"


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4} bytes"
