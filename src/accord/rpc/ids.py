"""Request ids: a string, a 64-bit integer, or null."""

from __future__ import annotations

from typing import Annotated, Union

import msgspec

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
RequestId = Union[int, str, None]

_id = msgspec.json.Decoder(Union[Int64, str, None])


class WrittenId(int):
    """An integer id in another notation, such as `1.0` or `1e3`. The response repeats that notation."""

    text: bytes

    def __new__(cls, value: int, text: bytes) -> WrittenId:
        self = super().__new__(cls, value)
        self.text = text
        return self


def read_id(text: bytes | msgspec.Raw) -> RequestId:
    """Read an id from JSON. Raises `ValueError` if it isn't one."""
    try:
        id: RequestId = _id.decode(text)
        return id
    except ValueError:
        value = whole(bytes(text))
        if value is None or not -(2**63) <= value < 2**63:
            raise
        return WrittenId(value, bytes(text))


def whole(text: bytes) -> int | None:
    """Return the integer value of a JSON number, or None. In JSON Schema, `1.0` and `1e3` are integers."""
    from decimal import Decimal, InvalidOperation  # imported here because hardly any peer needs it

    try:
        number = Decimal(text.decode())
    except (InvalidOperation, UnicodeDecodeError):
        return None
    if not number.is_finite() or number.adjusted() > 20 or number != number.to_integral_value():
        return None
    return int(number)
