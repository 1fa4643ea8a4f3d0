"""What identifies a request: a string, an integer of 64 bits, or null."""

from __future__ import annotations

from typing import Annotated, Union

import msgspec

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
RequestId = Union[int, str, None]
