"""Asking the user something: a form to fill in, or a page to visit."""

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
    """Lists the ways in which the client can ask the user something."""

    form: Opt[ElicitationFormCapabilities] = UNSET
    url: Opt[ElicitationUrlCapabilities] = UNSET


class EnumOption(Message):
    """One value of a list to choose from, with its name for people."""

    const: str
    title: str
    description: Opt[str] = UNSET


class BooleanPropertySchema(Message, tag_field="type", tag="boolean"):
    """A field of a form that is yes or no."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    default: Opt[bool] = UNSET


class IntegerPropertySchema(Message, tag_field="type", tag="integer"):
    """A field of a form that takes a whole number."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    minimum: Strict[Opt[Int64]] = UNSET
    maximum: Strict[Opt[Int64]] = UNSET
    default: Opt[Int64] = UNSET


class NumberPropertySchema(Message, tag_field="type", tag="number"):
    """A field of a form that takes a number."""

    title: Opt[str] = UNSET
    description: Opt[str] = UNSET
    minimum: Strict[Opt[float]] = UNSET
    maximum: Strict[Opt[float]] = UNSET
    default: Opt[float] = UNSET


class CompleteElicitationNotification(Message):
    """Tells that what the user was sent to a web page for is done."""

    elicitation_id: ElicitationId
