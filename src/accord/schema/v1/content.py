"""Content blocks of prompts, messages and tool calls."""

from __future__ import annotations

from typing import Annotated, Literal, Union

import msgspec

from accord.schema.shape import UNSET, Either, Filtered, Message, Open, Opt

Role = Literal["assistant", "user"]

# The schema allows negative sizes, which are meaningless; they are read as absent.
Size = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]


class Annotations(Message):
    """The audience, priority and last change of a content block."""

    audience: Opt[Filtered[Role]] = UNSET
    last_modified: Opt[str] = UNSET
    priority: Opt[float] = UNSET


class TextContent(Message, tag_field="type", tag="text"):
    """Text, usually Markdown."""

    annotations: Opt[Annotations] = UNSET
    text: str


class ImageContent(Message, tag_field="type", tag="image"):
    """An image, in base64."""

    annotations: Opt[Annotations] = UNSET
    data: str
    mime_type: str
    uri: Opt[str] = UNSET


class AudioContent(Message, tag_field="type", tag="audio"):
    """Audio, in base64."""

    annotations: Opt[Annotations] = UNSET
    data: str
    mime_type: str


class ResourceLink(Message, tag_field="type", tag="resource_link"):
    """A link to a resource that the reader may fetch itself."""

    annotations: Opt[Annotations] = UNSET
    description: Opt[str] = UNSET
    mime_type: Opt[str] = UNSET
    name: str
    size: Opt[Size] = UNSET
    title: Opt[str] = UNSET
    uri: str


class TextResourceContents(Message):
    """The text of a resource."""

    mime_type: Opt[str] = UNSET
    text: str
    uri: str


class BlobResourceContents(Message):
    """The bytes of a resource, in base64."""

    blob: str
    mime_type: Opt[str] = UNSET
    uri: str


EmbeddedResourceResource = Either[TextResourceContents, BlobResourceContents]


class EmbeddedResource(Message, tag_field="type", tag="resource"):
    """A resource with its contents, so that the reader need not fetch it."""

    annotations: Opt[Annotations] = UNSET
    resource: EmbeddedResourceResource


# Closed in the schema; open here, so that content of an unknown type still reaches the user.
ContentBlock = Open[Union[TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource]]
