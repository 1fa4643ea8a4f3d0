"""What a message is made of: text, pictures, sound, links and embedded files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

import msgspec

if TYPE_CHECKING:
    from pathlib import Path


class _Content(msgspec.Struct, tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """One piece of content. Written on the wire as it stands here, in both versions."""


class TextContent(_Content, tag="text"):
    """A piece of text, in Markdown unless said otherwise."""

    text: str
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Image(_Content, tag="image"):
    """A picture. `data` is base64; `Image.read(path)` makes one from a file."""

    data: str
    mime_type: str
    uri: str | None = None
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @classmethod
    def read(cls, path: str | Path) -> Image:
        """The picture in a file, its type taken from the name."""
        return cls(data=_base64(path), mime_type=_mime_type(path, "image/png"))


class Audio(_Content, tag="audio"):
    """A sound. `data` is base64; `Audio.read(path)` makes one from a file."""

    data: str
    mime_type: str
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @classmethod
    def read(cls, path: str | Path) -> Audio:
        """The sound in a file, its type taken from the name."""
        return cls(data=_base64(path), mime_type=_mime_type(path, "audio/wav"))


class Link(_Content, tag="resource_link"):
    """Points at something the receiver may be able to read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ResourceContents(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """What is in a resource: `text`, or `blob` in base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Resource(_Content, tag="resource"):
    """Carries a file's contents along."""

    resource: ResourceContents
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @classmethod
    def of(cls, uri: str, text: str, mime_type: str | None = None) -> Resource:
        """A text file's contents."""
        return cls(resource=ResourceContents(uri=uri, text=text, mime_type=mime_type))


class UnknownContent(msgspec.Struct, gc=False):
    """Content of a kind that is not known here, kept whole."""

    type: str
    data: dict[str, Any]


Content = Union[TextContent, Image, Audio, Link, Resource, UnknownContent]


def as_content(value: Any) -> Content:
    """Text for a string; anything else must be content already."""
    return TextContent(value) if isinstance(value, str) else value


def as_contents(value: Any) -> list[Content]:
    """A list of content from a string, one piece, or several."""
    if isinstance(value, (list, tuple)):
        return [as_content(item) for item in value]
    return [as_content(value)]


def text_of(contents: list[Content]) -> str:
    """The text pieces of some content, joined."""
    return "".join(piece.text for piece in contents if isinstance(piece, TextContent))


def _base64(path: str | Path) -> str:
    from binascii import b2a_base64

    with open(path, "rb") as file:
        return b2a_base64(file.read(), newline=False).decode()


def _mime_type(path: str | Path, otherwise: str) -> str:
    import mimetypes

    return mimetypes.guess_type(str(path))[0] or otherwise
