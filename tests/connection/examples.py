"""The smallest value of any protocol type: required fields alone, the first of several choices."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect


def example(wanted: Any) -> Any:
    """A value that is read back as itself."""
    return _example(inspect.type_info(wanted))


def _example(info: Any) -> Any:
    match info:
        case inspect.Metadata(type=inner) | inspect.CustomType(cls=inner):
            return _example(inner)
        case inspect.StructType(cls=cls, fields=fields):
            values = {field.name: _example(field.type) for field in fields if field.required}
            try:
                return cls(**values)
            except ValueError:  # an elicitation belongs to a session or to a request
                return cls(session_id="s", **values)
        case inspect.UnionType(types=types):
            return _example(next((each for each in types if isinstance(each, inspect.StructType)), types[0]))
        case inspect.ListType(item_type=item, min_length=least):
            return [_example(item) for _ in range(least or 0)]
        case inspect.DictType():
            return {}
        case inspect.StrType(min_length=least):
            return "x" * (least or 1)
        case inspect.IntType(ge=least):
            return max(least or 0, 1)
        case inspect.FloatType():
            return 1.5
        case inspect.BoolType():
            return True
        case inspect.NoneType():
            return None
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.AnyType():
            return {}
        case inspect.RawType():
            return msgspec.Raw(b"{}")
        case _:
            raise TypeError(f"there is no example of {info}")
