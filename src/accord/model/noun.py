"""The base of the neutral nouns."""

from __future__ import annotations

from typing import Any

import msgspec


class Noun(msgspec.Struct, kw_only=True, gc=False):
    """Plain data with named fields. Fields are keyword-only; new ones never change a signature."""


Meta = dict[str, Any]
