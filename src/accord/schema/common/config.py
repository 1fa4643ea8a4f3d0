"""Session config options."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import SessionConfigValueId
from accord.schema.shape import UNSET, Message, Opt, Word

SessionConfigOptionCategory = Word[Literal["mode", "model", "model_config", "thought_level"]]


class SessionConfigSelectOption(Message):
    """One value in a list of choices."""

    value: SessionConfigValueId
    name: str
    description: Opt[str] = UNSET
