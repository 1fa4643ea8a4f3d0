"""Session config options, and the request that sets one."""

from __future__ import annotations

from typing import ClassVar, Union

from accord.schema.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from accord.schema.common.ids import SessionConfigGroupId, SessionConfigId, SessionConfigValueId, SessionId
from accord.schema.shape import UNSET, Either, Emptied, Filtered, Former, Message, Opt


class BooleanConfigOptionCapabilities(Message):
    """Declares that the client can show boolean options."""


class SessionConfigOptionsCapabilities(Message):
    """Lists the kinds of options that the client can show besides lists."""

    boolean: Opt[BooleanConfigOptionCapabilities] = UNSET


class SessionConfigSelectGroup(Message):
    """Values under one heading."""

    OLDER: ClassVar[dict[str, str]] = {"groupId": "group"}

    group: SessionConfigGroupId
    name: str
    options: Emptied[Filtered[SessionConfigSelectOption]]


SessionConfigSelectOptions = Either[list[SessionConfigSelectOption], list[SessionConfigSelectGroup]]


class SessionConfigSelect(Message, tag_field="type", tag="select"):
    """An option with one value from a list, which may be grouped."""

    OLDER: ClassVar[dict[str, str]] = {"configId": "id"}

    id: SessionConfigId
    name: str
    description: Opt[str] = UNSET
    category: Opt[SessionConfigOptionCategory] = UNSET
    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions


class SessionConfigBoolean(Message, tag_field="type", tag="boolean"):
    """A boolean option."""

    OLDER: ClassVar[dict[str, str]] = {"configId": "id"}

    id: SessionConfigId
    name: str
    description: Opt[str] = UNSET
    category: Opt[SessionConfigOptionCategory] = UNSET
    current_value: bool


SessionConfigOption = Union[SessionConfigSelect, SessionConfigBoolean]


class SetSessionConfigBoolean(Message, tag_field="type", tag="boolean"):
    """Sets a boolean option."""

    session_id: SessionId
    config_id: SessionConfigId
    value: bool


class SetSessionConfigId(Message):
    """Sets an option to a value from its list."""

    session_id: SessionId
    config_id: SessionConfigId
    value: SessionConfigValueId
    type: Former[str] = UNSET
    """Used only to distinguish a string from an invalid boolean; never stored."""

    def __post_init__(self) -> None:
        if self.type == "boolean":
            raise ValueError("value is a string; with the type boolean it must be true or false")
        self.type = UNSET


# A string is the id of a value, regardless of `type`. This is the usual case, so it is tried first.
SetSessionConfigOptionRequest = Either[SetSessionConfigId, SetSessionConfigBoolean]


class SetSessionConfigOptionResponse(Message):
    """All options after the change."""

    config_options: Emptied[Filtered[SessionConfigOption]]


class ConfigOptionUpdate(Message, tag_field="sessionUpdate", tag="config_option_update"):
    """Reports all options with their current values."""

    config_options: Emptied[Filtered[SessionConfigOption]]
