"""Integers of a fixed width."""

from __future__ import annotations

from typing import Annotated

import msgspec

Uint16 = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]
Uint32 = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
Uint64 = Annotated[int, msgspec.Meta(ge=0)]
"""Has no upper bound, because msgspec can't express one above 2⁶³ − 1."""
Int32 = Annotated[int, msgspec.Meta(ge=-0x8000_0000, le=0x7FFF_FFFF)]
Int64 = Annotated[int, msgspec.Meta(ge=-0x8000_0000_0000_0000, le=0x7FFF_FFFF_FFFF_FFFF)]

ProtocolVersion = Uint16
"""The version of the protocol, which is incremented only for incompatible changes."""
