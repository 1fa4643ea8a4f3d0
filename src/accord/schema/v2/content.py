"""Content blocks: text, images, audio, files."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from accord.schema.common.numbers import Uint64
from accord.schema.shape import UNSET, Either, Filtered, Message, Open, Opt, Word
from accord.schema.v2.values import Base64, MediaType, Uri

Role = Word[Literal["assistant", "user"]]
IconTheme = Word[Literal["light", "dark"]]


class Annotations(Message):
    """The audience, priority (0 to 1) and time of the last change of a content block."""

    audience: Opt[Filtered[Role]] = UNSET
    last_modified: Opt[str] = UNSET
    priority: Opt[Annotated[float, msgspec.Meta(ge=0, le=1)]] = UNSET


class TextContent(Message, tag_field="type", tag="text"):
    """Text, displayed as Markdown."""

    text: str
    annotations: Opt[Annotations] = UNSET


class ImageContent(Message, tag_field="type", tag="image"):
    """An image, in base64."""

    data: Base64
    mime_type: MediaType
    uri: Opt[Uri] = UNSET
    annotations: Opt[Annotations] = UNSET


class AudioContent(Message, tag_field="type", tag="audio"):
    """Audio, in base64."""

    data: Base64
    mime_type: MediaType
    annotations: Opt[Annotations] = UNSET


class Icon(Message):
    """An icon, in one size or theme."""

    src: Uri
    mime_type: Opt[MediaType] = UNSET
    sizes: Opt[Filtered[str]] = UNSET
    theme: Opt[IconTheme] = UNSET


class ResourceLink(Message, tag_field="type", tag="resource_link"):
    """A link to a resource that the receiver may be able to read."""

    name: str
    uri: Uri
    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    icons: Opt[Filtered[Icon]] = UNSET
    mime_type: Opt[MediaType] = UNSET
    size: Opt[Uint64] = UNSET
    annotations: Opt[Annotations] = UNSET


class TextResourceContents(Message):
    """The text of a resource."""

    text: str
    uri: Uri
    mime_type: Opt[MediaType] = UNSET


class BlobResourceContents(Message):
    """The bytes of a resource."""

    blob: Base64
    uri: Uri
    mime_type: Opt[MediaType] = UNSET


EmbeddedResourceResource = Either[TextResourceContents, BlobResourceContents]


class EmbeddedResource(Message, tag_field="type", tag="resource"):
    """A resource with its contents, so that the reader need not fetch it."""

    resource: EmbeddedResourceResource
    annotations: Opt[Annotations] = UNSET


ContentBlock = Open[TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource]
