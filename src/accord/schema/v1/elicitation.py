"""Asking the user something: a form to fill in, or a page to visit; and the answer."""

from __future__ import annotations

from typing import Annotated, Literal, Union

from accord.schema.common.elicitation import (
    BooleanPropertySchema,
    ElicitationSchemaType,
    EnumOption,
    IntegerPropertySchema,
    NumberPropertySchema,
)
from accord.schema.common.ids import ElicitationId, SessionId, ToolCallId
from accord.schema.common.numbers import Int64, Uint32, Uint64
from accord.schema.shape import UNSET, AtLeast, Either, Filtered, Message, Open, Opt, Strict, UnsetType, Word
from accord.schema.v1.envelope import RequestId

StringFormat = Literal["email", "uri", "date", "date-time"]


class StringPropertySchema(Message, tag_field="type", tag="string"):
    """A field of a form that takes text, or one of several texts."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    min_length: Strict[Opt[Uint32]] = UNSET
    max_length: Strict[Opt[Uint32]] = UNSET
    pattern: Strict[Opt[str]] = UNSET
    format: Strict[Opt[Word[StringFormat]]] = UNSET  # a hint: one that nobody knows does no harm
    default: Opt[str] = UNSET
    enum: Strict[Opt[list[str]]] = UNSET
    one_of: Strict[Opt[list[EnumOption]]] = UNSET


class StringMultiSelectItems(Message, tag_field="type", tag="string"):
    """Texts to choose from."""

    enum: list[str]


class TitledMultiSelectItems(Message):
    """Texts to choose from, with their names for people."""

    any_of: list[EnumOption]


MultiSelectItems = Either[Open[StringMultiSelectItems], TitledMultiSelectItems]


class MultiSelectPropertySchema(Message, tag_field="type", tag="array"):
    """A field of a form that takes several of a list."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    min_items: Strict[Opt[Uint64]] = UNSET
    max_items: Strict[Opt[Uint64]] = UNSET
    items: MultiSelectItems
    default: Opt[Filtered[str]] = UNSET


ElicitationPropertySchema = Open[
    Union[
        StringPropertySchema,
        NumberPropertySchema,
        IntegerPropertySchema,
        BooleanPropertySchema,
        MultiSelectPropertySchema,
    ]
]


class ElicitationSchema(Message):
    """The fields of a form, and which of them must be filled in."""

    type: ElicitationSchemaType = "object"
    title: Opt[str] = UNSET
    properties: Strict[dict[str, ElicitationPropertySchema]] = {}
    required: Strict[Opt[list[str]]] = UNSET
    description: Opt[str] = UNSET


class AnyElicitation(Message):
    """What every question to the user says: its text, and either the session or the request it belongs to."""

    message: str
    session_id: Strict[SessionId | UnsetType] = UNSET
    tool_call_id: Opt[ToolCallId] = UNSET
    request_id: Strict[Union[RequestId, UnsetType]] = UNSET

    def __post_init__(self) -> None:
        if (self.session_id is UNSET) == (self.request_id is UNSET):
            raise ValueError("must name either a sessionId or a requestId")


class ElicitationFormMode(AnyElicitation, tag_field="mode", tag="form"):
    """Asks the user to fill in a form."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(AnyElicitation, tag_field="mode", tag="url"):
    """Asks the user to visit a web page."""

    elicitation_id: ElicitationId
    url: str


CreateElicitationRequest = Annotated[Open[Union[ElicitationFormMode, ElicitationUrlMode]], AtLeast(AnyElicitation)]

ElicitationContentValue = Union[str, Int64, float, bool, list[str]]


class ElicitationAcceptAction(Message, tag_field="action", tag="accept"):
    """The user agreed; `content` holds what was filled in."""

    content: Strict[Opt[dict[str, ElicitationContentValue]]] = UNSET


class ElicitationDeclineAction(Message, tag_field="action", tag="decline"):
    """The user said no."""


class ElicitationCancelAction(Message, tag_field="action", tag="cancel"):
    """The user went away without deciding."""


CreateElicitationResponse = Open[Union[ElicitationAcceptAction, ElicitationDeclineAction, ElicitationCancelAction]]
