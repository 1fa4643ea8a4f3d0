"""Session config options: mode, model and others."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from accord.schema.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from accord.schema.common.ids import SessionConfigGroupId, SessionConfigId, SessionConfigValueId, SessionId
from accord.schema.shape import UNSET, AtLeast, Either, Emptied, Filtered, Message, Missing, Open, Opt


class SessionConfigSelectGroup(Message):
    """A group of values under one heading."""

    OLDER: ClassVar[dict[str, str]] = {"group": "groupId"}

    group_id: SessionConfigGroupId
    name: str
    options: Annotated[Emptied[Filtered[SessionConfigSelectOption]], msgspec.Meta(min_length=1)]


SessionConfigSelectOptions = Either[
    Annotated[list[SessionConfigSelectOption], msgspec.Meta(min_length=1)],
    Annotated[list[SessionConfigSelectGroup], msgspec.Meta(min_length=1)],
]


class AnyConfigOption(Message):
    """The common fields of options: the id, and display fields."""

    OLDER: ClassVar[dict[str, str]] = {"id": "configId"}

    config_id: SessionConfigId
    name: str
    description: Opt[str] = UNSET
    category: Opt[SessionConfigOptionCategory] = UNSET


class SessionConfigSelect(AnyConfigOption, tag_field="type", tag="select"):
    """An option with one value from a list."""

    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions


class SessionConfigBoolean(AnyConfigOption, tag_field="type", tag="boolean"):
    """A boolean option."""

    current_value: bool


SessionConfigOption = Annotated[Open[SessionConfigSelect | SessionConfigBoolean], AtLeast(AnyConfigOption)]


class ConfigOptionUpdate(Message, tag_field="sessionUpdate", tag="config_option_update"):
    """Replaces all options and their values."""

    config_options: Filtered[SessionConfigOption]


class AnyConfigChoice(Message):
    """The common fields of requests that set an option."""

    session_id: SessionId
    config_id: SessionConfigId
    value: Any


class SetSessionConfigId(AnyConfigChoice, tag_field="type", tag="id"):
    """Sets an option to a value from its list."""

    value: SessionConfigValueId


class SetSessionConfigBoolean(AnyConfigChoice, tag_field="type", tag="boolean"):
    """Sets a boolean option."""

    value: bool


def _type_of_value(request: dict[str, Any]) -> str | None:
    """Derive the type, which older drafts left out, from the value: a boolean or a string."""
    match request.get("value"):
        case bool():
            return "boolean"
        case str():
            return "id"
        case _:
            return None


SetSessionConfigOptionRequest = Annotated[
    Open[SetSessionConfigId | SetSessionConfigBoolean], Missing(_type_of_value), AtLeast(AnyConfigChoice)
]


class SetSessionConfigOptionResponse(Message):
    """All options after the change."""

    config_options: Filtered[SessionConfigOption]
