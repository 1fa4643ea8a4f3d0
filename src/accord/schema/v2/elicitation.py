"""Elicitation: questions to the user, as a form to fill in or a page to visit."""

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
"""The value of a form field: text, a number, a boolean, several texts, or the value of a custom field."""


class StringPropertySchema(Message, tag_field="type", tag="string"):
    """A text field of a form, or a choice of one value from a list."""

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
    """A list of values to choose from, displayed unchanged."""

    enum: Annotated[list[str], msgspec.Meta(min_length=1)]


class TitledMultiSelectItems(Message):
    """A list of values to choose from, with their display names."""

    any_of: Annotated[list[EnumOption], msgspec.Meta(min_length=1)]


MultiSelectItems = Either[Open[StringMultiSelectItems], TitledMultiSelectItems]


class MultiSelectPropertySchema(Message, tag_field="type", tag="array"):
    """A multiple-choice field of a form."""

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
    """Describes a form: its fields, and which of them are required."""

    type: ElicitationSchemaType
    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    properties: dict[str, ElicitationPropertySchema]
    required: Strict[Opt[list[str]]] = UNSET


class ElicitationSessionScope(Message):
    """The session that the question belongs to, and possibly the tool call."""

    session_id: SessionId
    tool_call_id: Opt[ToolCallId] = UNSET


class ElicitationRequestScope(Message):
    """The pending request of the client that the question belongs to, such as a login; used outside of sessions."""

    request_id: RequestId


class AnyElicitation(Message):
    """The common fields of elicitations: the message, and the session or the pending request that it belongs to."""

    message: str
    session_id: Strict[SessionId | UnsetType] = UNSET
    tool_call_id: Opt[ToolCallId] = UNSET
    request_id: Strict[RequestId | UnsetType] = UNSET

    def __post_init__(self) -> None:
        if (self.session_id is UNSET) == (self.request_id is UNSET):
            raise ValueError("needs exactly one of sessionId and requestId")

    @property
    def scope(self) -> ElicitationSessionScope | ElicitationRequestScope:
        """The session or request that the question belongs to. On the wire, its fields are inlined."""
        if self.request_id is not UNSET:
            return ElicitationRequestScope(request_id=self.request_id)
        assert self.session_id is not UNSET  # checked by __post_init__
        return ElicitationSessionScope(session_id=self.session_id, tool_call_id=self.tool_call_id)


class ElicitationFormMode(AnyElicitation, tag_field="mode", tag="form"):
    """Asks the user to fill in a form."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(AnyElicitation, tag_field="mode", tag="url"):
    """Asks the user to visit a web page."""

    elicitation_id: ElicitationId
    url: Uri


CreateElicitationRequest = Annotated[Open[ElicitationFormMode | ElicitationUrlMode], AtLeast(AnyElicitation)]


class ElicitationAcceptAction(Message, tag_field="action", tag="accept"):
    """The user accepted; `content` has the values of the form."""

    content: Strict[Opt[dict[str, ElicitationContentValue]]] = UNSET


class ElicitationDeclineAction(Message, tag_field="action", tag="decline"):
    """The user declined."""


class ElicitationCancelAction(Message, tag_field="action", tag="cancel"):
    """The user dismissed the form."""


CreateElicitationResponse = Open[ElicitationAcceptAction | ElicitationDeclineAction | ElicitationCancelAction]
