"""Explain wrong calls of the constructors that authors call: msgspec's own errors don't name the class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from accord.errors import UsageError
from accord.schema.shape import MessageType

unchecked: Callable[..., Any] = msgspec.StructMeta.__call__
"""Create an object of a class, given first, without the explanation of wrong calls below, which takes 0.2 µs.

For objects that the library itself creates for every update, from fields that were decoded."""


def construct(cls: Any, *args: Any, **fields: Any) -> Any:
    """Create an object. As `__call__` of a metaclass it costs about 0.2 µs, so classes of hot paths don't have it."""
    try:
        return unchecked(cls, *args, **fields)
    except TypeError:
        problem = _find_problem(cls, args, fields)
        if problem is None:
            raise
        raise UsageError(problem) from None


def _find_problem(cls: Any, args: tuple[Any, ...], fields: dict[str, Any]) -> str | None:
    """Return what is wrong with a call, or None if its arguments are complete."""
    names, name = cls.__struct_fields__, cls.__name__
    optional = len(cls.__struct_defaults__)
    required = [
        field
        for index, field in enumerate(names)
        if index < len(names) - optional or cls.__struct_defaults__[index - len(names)] is msgspec.NODEFAULT
    ]
    unknown = next((field for field in fields if field not in names), None)
    if unknown is not None:
        from difflib import get_close_matches  # only errors need it

        close = get_close_matches(unknown, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"{name} has no argument {unknown!r}; it takes {', '.join(names)}{hint}"
    if args and isinstance(cls, MessageType):
        example = ", ".join(f"{field}=…" for field in required or names[:1])
        return f"{name} takes keyword arguments only: {name}({example})"
    if len(args) > len(names):
        return f"{name} takes {', '.join(names)}; it got {len(args)} values"
    missing = [field for field in required[len(args) :] if field not in fields]
    return f"{name} needs {' and '.join(missing)}: {name}({', '.join(f'{f}=…' for f in required)})" if missing else None


class ConstructorType(MessageType):
    """The metaclass of records that authors create: it explains wrong calls of the constructor."""

    if not TYPE_CHECKING:  # type checkers would take its signature for the constructor's
        __call__ = construct
