"""Asking the user something: a form to fill in, or a page to visit."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from accord.schema.common.elicitation import (
    BooleanPropertySchema,
    ElicitationSchemaType,
    EnumOption,
    IntegerPropertySchema,
    NumberPropertySchema,
)
from accord.schema.common.ids import ElicitationId, SessionId, ToolCallId
from accord.schema.common.numbers import Uint32, Uint64
from accord.schema.shape import UNSET, AtLeast, Either, Filtered, Message, Open, Opt, Strict, UnsetType, Word
from accord.schema.v2.envelope import RequestId
from accord.schema.v2.values import Pattern, Uri

StringFormat = Word[Literal["email", "uri", "date", "date-time"]]

ElicitationContentValue = Any
"""What the user put into one field: text, a number, yes or no, several texts, or what a custom field asks for."""


class StringPropertySchema(Message, tag_field="type", tag="string"):
    """A field of a form that takes text, or one of a list of values."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    min_length: Strict[Opt[Uint32]] = UNSET
    max_length: Strict[Opt[Uint32]] = UNSET
    pattern: Strict[Opt[Pattern]] = UNSET
    format: Strict[Opt[StringFormat]] = UNSET
    default: Opt[str] = UNSET
    enum: Strict[Opt[Annotated[list[str], msgspec.Meta(min_length=1)]]] = UNSET
    one_of: Strict[Opt[Annotated[list[EnumOption], msgspec.Meta(min_length=1)]]] = UNSET


class StringMultiSelectItems(Message, tag_field="type", tag="string"):
    """Values to choose from, shown as they are."""

    enum: Annotated[list[str], msgspec.Meta(min_length=1)]


class TitledMultiSelectItems(Message):
    """Values to choose from, each with its name for people."""

    any_of: Annotated[list[EnumOption], msgspec.Meta(min_length=1)]


MultiSelectItems = Either[Open[StringMultiSelectItems], TitledMultiSelectItems]


class MultiSelectPropertySchema(Message, tag_field="type", tag="array"):
    """A field of a form that takes several of a list of values."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    min_items: Strict[Opt[Uint64]] = UNSET
    max_items: Strict[Opt[Uint64]] = UNSET
    items: MultiSelectItems
    default: Opt[Filtered[str]] = UNSET


ElicitationPropertySchema = Open[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
]


class ElicitationSchema(Message):
    """Describes a form: its fields, and which of them must be filled in."""

    type: ElicitationSchemaType
    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    properties: dict[str, ElicitationPropertySchema]
    required: Strict[Opt[list[str]]] = UNSET


class AnyElicitation(Message):
    """What every question carries: its words, and what it belongs to, which is either a session or an open request."""

    message: str
    session_id: Strict[SessionId | UnsetType] = UNSET
    tool_call_id: Opt[ToolCallId] = UNSET
    request_id: Strict[RequestId | UnsetType] = UNSET

    def __post_init__(self) -> None:
        if (self.session_id is UNSET) == (self.request_id is UNSET):
            raise ValueError("needs exactly one of sessionId and requestId")


class ElicitationFormMode(AnyElicitation, tag_field="mode", tag="form"):
    """Asks the user to fill in a form."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(AnyElicitation, tag_field="mode", tag="url"):
    """Asks the user to visit a web page."""

    elicitation_id: ElicitationId
    url: Uri


CreateElicitationRequest = Annotated[Open[ElicitationFormMode | ElicitationUrlMode], AtLeast(AnyElicitation)]


class ElicitationAcceptAction(Message, tag_field="action", tag="accept"):
    """The user answered, with these values."""

    content: Strict[Opt[dict[str, ElicitationContentValue]]] = UNSET


class ElicitationDeclineAction(Message, tag_field="action", tag="decline"):
    """The user said no."""


class ElicitationCancelAction(Message, tag_field="action", tag="cancel"):
    """The user gave no answer."""


CreateElicitationResponse = Open[ElicitationAcceptAction | ElicitationDeclineAction | ElicitationCancelAction]
