"""Convert MCP content: complete for the user, truncated text and images for the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import msgspec

from accord.coder.tools.text import cut, cut_start
from accord.model.content import Audio, Content, Image, Resource, ResourceLink, TextContent, UnknownContent
from accord.model.record import Record

MAX_TEXT = 60_000
"""The most characters of a result that the model gets."""
MAX_IMAGES = 8

_Known = Union[TextContent, Image, Audio, ResourceLink, Resource]


class ForModel(Record):
    """A result for the model."""

    text: str
    images: list[Image] = []


def content_of(block: dict[str, Any]) -> Content:
    """Convert a block. It stays raw data if our types don't know one of its fields, or version 1 doesn't (icons)."""
    try:
        piece: Content = msgspec.convert(block, _Known)
    except msgspec.ValidationError:
        return UnknownContent(type=str(block.get("type", "")), data=block)
    has_icons = isinstance(piece, ResourceLink) and piece.icons is not None
    is_same = not has_icons and msgspec.to_builtins(piece) == block
    return piece if is_same else UnknownContent(type=block["type"], data=block)


def contents_of(blocks: Any) -> list[Content]:
    """Convert the blocks of a result."""
    return [content_of(block) for block in blocks or () if isinstance(block, dict)]


def resource_blocks(contents: Any) -> list[dict[str, Any]]:
    """Return the contents of a resource as content blocks."""
    return [{"type": "resource", "resource": each} for each in contents or () if isinstance(each, dict)]


def for_model(blocks: Iterable[Any], structured: Any = None, *, most: int = MAX_TEXT) -> ForModel:
    """Convert blocks for the model: their text, truncated, and the images."""
    images: list[Image] = []
    texts = [_describe(block, images) for block in blocks if isinstance(block, dict)]
    if structured is not None and not any(text.strip() for text in texts):
        texts.append(msgspec.json.encode(structured).decode())
    return ForModel(text=truncate("\n".join(texts), most), images=images)


def truncate(text: str, most: int = MAX_TEXT) -> str:
    """Omit the middle of a long text: its end often has the result."""
    if len(text) <= most:
        return text
    head, tail = cut(text, most * 3 // 4), cut_start(text, most // 4)
    return f"{head}\n… ({len(text) - len(head) - len(tail)} of {len(text)} characters omitted) …\n{tail}"


def _describe(block: dict[str, Any], images: list[Image]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image", "data": str(data), "mimeType": str(mime_type)}:
            return _image(data, mime_type, images)
        case {"type": "audio", "data": str(data), "mimeType": str(mime_type)}:
            return f"[audio, {mime_type}, {_size(data)}, shown to the user]"
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            about = "".join(f", {block[key]}" for key in ("mimeType", "description") if block.get(key))
            return f"[resource: {name}, {uri}{about}]"
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"[resource {uri}]\n{text}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob), "mimeType": str(mime_type)}} if (
            mime_type.startswith("image/")
        ):
            return f"[resource {uri}]\n{_image(blob, mime_type, images)}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob)}}:
            return f"[resource {uri}, {_size(blob)} of binary data, shown to the user]"
    return f"[content of type {block.get('type')!r}, shown to the user]"


def _image(data: str, mime_type: str, images: list[Image]) -> str:
    if len(images) >= MAX_IMAGES:
        return f"[another image, {mime_type}, {_size(data)}, shown to the user]"
    images.append(Image(data=data, mime_type=mime_type))
    return f"[image {len(images)}, {mime_type}]"


def _size(data: str) -> str:
    return f"{len(data) * 3 // 4} bytes"
