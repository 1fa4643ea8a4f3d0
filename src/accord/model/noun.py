"""The base of the neutral nouns."""

from __future__ import annotations

from typing import Any

import msgspec

from accord.schema.shape import MessageType


class Noun(msgspec.Struct, metaclass=MessageType, gc=False):
    """Plain data with named fields. Fields are keyword-only; new ones never change a signature."""


Meta = dict[str, Any]
