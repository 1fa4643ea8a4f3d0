"""Elicitation: questions to the user, as a form to fill in or a page to visit."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import ElicitationId
from accord.schema.common.numbers import Int64
from accord.schema.shape import UNSET, Message, Opt, Strict

ElicitationSchemaType = Literal["object"]


class ElicitationFormCapabilities(Message):
    """Declares that the client can show forms."""


class ElicitationUrlCapabilities(Message):
    """Declares that the client can send the user to a web page."""


class ElicitationCapabilities(Message):
    """Lists the kinds of questions that the client can show to the user."""

    form: Opt[ElicitationFormCapabilities] = UNSET
    url: Opt[ElicitationUrlCapabilities] = UNSET


class EnumOption(Message):
    """One value in a list of choices, with its display name."""

    const: str
    title: str
    description: Opt[str] = UNSET


class BooleanPropertySchema(Message, tag_field="type", tag="boolean"):
    """A boolean field of a form."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    default: Opt[bool] = UNSET


class IntegerPropertySchema(Message, tag_field="type", tag="integer"):
    """An integer field of a form."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    minimum: Strict[Opt[Int64]] = UNSET
    maximum: Strict[Opt[Int64]] = UNSET
    default: Opt[Int64] = UNSET


class NumberPropertySchema(Message, tag_field="type", tag="number"):
    """A number field of a form."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    minimum: Strict[Opt[float]] = UNSET
    maximum: Strict[Opt[float]] = UNSET
    default: Opt[float] = UNSET


class CompleteElicitationNotification(Message):
    """Reports that the user has finished with a web page."""

    elicitation_id: ElicitationId
