"""Content of messages: text, images, audio, links and embedded resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Union

import msgspec

from accord.errors import InvalidValue
from accord.model.list_like import ListLike
from accord.model.values import count, number, short, text
from accord.schema.constructor import construct

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


Audience = Union[Literal["assistant", "user"], str]
_AUDIENCE = ("assistant", "user")
ICON_SCHEMES = ("https:", "data:")
"""The allowed prefixes of icon URLs."""


class _ContentType(msgspec.StructMeta):
    """Explains wrong calls of the constructor."""

    if not TYPE_CHECKING:  # type checkers would take its signature for the constructor's
        __call__ = construct


class _Content(msgspec.Struct, tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """One content block. The wire format is the same in both versions."""


class Annotations(msgspec.Struct, metaclass=_ContentType, rename="camel", omit_defaults=True, kw_only=True, gc=False):
    """The audience of a content block, its importance (0 to 1), and when it last changed (ISO 8601)."""

    audience: list[Audience] | None = None
    priority: float | None = None
    last_modified: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Icon(msgspec.Struct, metaclass=_ContentType, rename="camel", omit_defaults=True, kw_only=True, gc=False):
    """An icon of a resource link, in one size or for one theme."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    """Sizes such as `48x48`, or `any`."""
    theme: Union[Literal["light", "dark"], str, None] = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class TextContent(_Content, tag="text"):
    """Text, in Markdown by convention."""

    text: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Image(_Content, metaclass=_ContentType, tag="image"):
    """An image. `data` is base64; `Image.read(path)` reads a file."""

    data: str
    mime_type: str
    uri: str | None = None
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @classmethod
    def read(cls, path: str | Path) -> Image:
        """Read an image file. The MIME type follows from its name."""
        return cls(data=_base64(path), mime_type=_mime_type(path, "image/png"))


class Audio(_Content, metaclass=_ContentType, tag="audio"):
    """Audio. `data` is base64; `Audio.read(path)` reads a file."""

    data: str
    mime_type: str
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @classmethod
    def read(cls, path: str | Path) -> Audio:
        """Read an audio file. The MIME type follows from its name."""
        return cls(data=_base64(path), mime_type=_mime_type(path, "audio/wav"))


class ResourceLink(_Content, metaclass=_ContentType, tag="resource_link"):
    """A link to a resource that the receiver may be able to read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None
    """Icons to show with the link (version 2)."""
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ResourceContents(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """The contents of a resource: `text`, or `blob` in base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Resource(_Content, metaclass=_ContentType, tag="resource"):
    """An embedded resource, such as the contents of a file."""

    resource: ResourceContents
    annotations: Annotations | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")

    @classmethod
    def of(cls, uri: str, text: str, mime_type: str | None = None) -> Resource:
        """Embed the contents of a text file."""
        return cls(resource=ResourceContents(uri=uri, text=text, mime_type=mime_type))


class UnknownContent(msgspec.Struct, gc=False):
    """Content of an unknown kind, unchanged."""

    type: str
    data: dict[str, Any]


Content = Union[TextContent, Image, Audio, ResourceLink, Resource, UnknownContent]
ContentLike = Union[str, Content]
"""Values accepted as content. A string is text."""
ContentsLike = Union[ContentLike, ListLike[ContentLike]]
"""One content block, or several."""


def uri_of(piece: object) -> str | None:
    """Return the URI of an image, a link or an embedded resource, if it has one."""
    if isinstance(piece, Resource):
        return piece.resource.uri
    return piece.uri if isinstance(piece, ResourceLink | Image) else None


def as_content(value: Any, argument: str = "content") -> Content:
    """Convert a string to text content; anything else must be content. Raises `InvalidValue` if it can't be sent."""
    content: Content = TextContent(value) if isinstance(value, str) else _check(argument, value)
    return content


def as_contents(value: Any, argument: str = "content") -> list[Content]:
    """Convert a string, one content block, or several into a list."""
    if isinstance(value, (list, tuple)):
        return [as_content(item, f"{argument}[{index}]") for index, item in enumerate(value)]
    return [as_content(value, argument)]


def _check(argument: str, piece: Any) -> Any:
    """Check that a content block can be sent."""
    if isinstance(piece, UnknownContent):
        return piece
    if not isinstance(piece, (TextContent, Image, Audio, ResourceLink, Resource)):
        raise InvalidValue(
            f"{argument} is {short(piece)}; it must be a string or content such as accord.Image",
            argument=argument,
        )
    if piece.annotations is not None:
        _annotations(f"{argument}.annotations", piece.annotations)
    if isinstance(piece, TextContent):
        text(f"{argument}.text", piece.text)
    elif isinstance(piece, ResourceLink):
        if piece.size is not None:
            count(f"{argument}.size", piece.size)
        for index, icon in enumerate(piece.icons or ()):
            _icon(f"{argument}.icons[{index}]", icon)
    elif isinstance(piece, Resource) and piece.resource.text is None and piece.resource.blob is None:
        where = f"{argument}.resource"
        raise InvalidValue(f"{where} has neither text nor blob", argument=where)
    return piece


def _icon(where: str, icon: Any) -> None:
    if not isinstance(icon, Icon):
        raise InvalidValue(f"{where} is {short(icon)}; it must be accord.Icon(src=…)", argument=where)
    if not text(f"{where}.src", icon.src).startswith(ICON_SCHEMES):
        raise InvalidValue(
            f"{where}.src is {short(icon.src)}; it must be an https: or data: URL", argument=f"{where}.src"
        )


def _annotations(argument: str, notes: Any) -> None:
    if not isinstance(notes, Annotations):
        raise InvalidValue(
            f"{argument} is {short(notes)}; it must be accord.Annotations(audience=…, priority=…)", argument=argument
        )
    audience = notes.audience
    if audience is not None and not (isinstance(audience, list) and all(each in _AUDIENCE for each in audience)):
        where = f"{argument}.audience"
        raise InvalidValue(
            f"{where} is {short(audience)}; it may contain only {' and '.join(_AUDIENCE)}", argument=where
        )
    if notes.priority is not None:
        number(f"{argument}.priority", notes.priority, 0, 1)
    if notes.last_modified is not None:
        text(f"{argument}.last_modified", notes.last_modified)


def text_of(contents: list[Content]) -> str:
    """Join the text blocks of some content."""
    return "".join(piece.text for piece in contents if isinstance(piece, TextContent))


def prompt_text(contents: Sequence[Content]) -> str:
    """Join the text blocks of a prompt. Each block is a paragraph, unless white space shows that a sentence continues.

    Editors put links inside a sentence ("read ", link, " please"), or several messages into one prompt."""
    text = ""
    for piece in contents:
        if isinstance(piece, TextContent):
            text += gap(text, piece.text) + piece.text
    return text


def gap(before: str, after: str) -> str:
    """Return the separator between two text blocks of a prompt."""
    return "\n\n" if before.strip() and after and not before[-1].isspace() and not after[0].isspace() else ""


def _base64(path: str | Path) -> str:
    from binascii import b2a_base64

    with open(path, "rb") as file:
        return b2a_base64(file.read(), newline=False).decode()


def _mime_type(path: str | Path, otherwise: str) -> str:
    import mimetypes

    return mimetypes.guess_type(str(path))[0] or otherwise
