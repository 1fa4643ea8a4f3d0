"""Elicitation: questions to the user, as a form to fill in or a page to visit, and the answers."""

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
    """A text field of a form, or a choice of one text."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    min_length: Strict[Opt[Uint32]] = UNSET
    max_length: Strict[Opt[Uint32]] = UNSET
    pattern: Strict[Opt[str]] = UNSET
    format: Strict[Opt[Word[StringFormat]]] = UNSET  # a hint: unknown values are harmless
    default: Opt[str] = UNSET
    enum: Strict[Opt[list[str]]] = UNSET
    one_of: Strict[Opt[list[EnumOption]]] = UNSET


class StringMultiSelectItems(Message, tag_field="type", tag="string"):
    """A list of texts to choose from."""

    enum: list[str]


class TitledMultiSelectItems(Message):
    """A list of texts to choose from, with their display names."""

    any_of: list[EnumOption]


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
    Union[
        StringPropertySchema,
        NumberPropertySchema,
        IntegerPropertySchema,
        BooleanPropertySchema,
        MultiSelectPropertySchema,
    ]
]


class ElicitationSchema(Message):
    """The fields of a form, and which of them are required."""

    type: ElicitationSchemaType = "object"
    title: Opt[str] = UNSET
    properties: Strict[dict[str, ElicitationPropertySchema]] = {}
    required: Strict[Opt[list[str]]] = UNSET
    description: Opt[str] = UNSET


class ElicitationSessionScope(Message):
    """The session that the question belongs to, and possibly the tool call."""

    session_id: SessionId
    tool_call_id: Opt[ToolCallId] = UNSET


class ElicitationRequestScope(Message):
    """The pending request of the client that the question belongs to, such as a login; used outside of sessions."""

    request_id: RequestId


class AnyElicitation(Message):
    """The common fields of elicitations: the message, and the session or the request that it belongs to."""

    message: str
    session_id: Strict[SessionId | UnsetType] = UNSET
    tool_call_id: Opt[ToolCallId] = UNSET
    request_id: Strict[Union[RequestId, UnsetType]] = UNSET

    def __post_init__(self) -> None:
        if (self.session_id is UNSET) == (self.request_id is UNSET):
            raise ValueError("must name either a sessionId or a requestId")

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
    url: str


CreateElicitationRequest = Annotated[Open[Union[ElicitationFormMode, ElicitationUrlMode]], AtLeast(AnyElicitation)]

ElicitationContentValue = Union[str, Int64, float, bool, list[str]]


class ElicitationAcceptAction(Message, tag_field="action", tag="accept"):
    """The user accepted; `content` has the values of the form."""

    content: Strict[Opt[dict[str, ElicitationContentValue]]] = UNSET


class ElicitationDeclineAction(Message, tag_field="action", tag="decline"):
    """The user declined."""


class ElicitationCancelAction(Message, tag_field="action", tag="cancel"):
    """The user dismissed the form."""


CreateElicitationResponse = Open[Union[ElicitationAcceptAction, ElicitationDeclineAction, ElicitationCancelAction]]
