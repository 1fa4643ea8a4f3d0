"""Check the methods that authors define for Accord to call, when their class is created."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from types import FunctionType
from typing import Any

from accord.errors import UsageError


def handlers_of(base: type) -> dict[str, FunctionType]:
    """Return the methods of a base class that Accord calls, by name."""
    return {name: value for name, value in vars(base).items() if inspect.iscoroutinefunction(value)}


def check_is_async(name: str, function: Any) -> None:
    """Raise `UsageError` if a function is certain not to return an awaitable."""
    if not isinstance(function, FunctionType) or inspect.iscoroutinefunction(function):
        return
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise UsageError(f"{name} contains “yield”; send text with “await turn.say(…)” instead")
    if not _may_return_awaitable(function):
        raise UsageError(f"{name} must be defined with “async def”")


def _may_return_awaitable(function: FunctionType) -> bool:
    """Return whether a plain function says that it returns an awaitable, or wraps another function."""
    annotation = str(inspect.get_annotations(function).get("return", ""))
    return "__wrapped__" in vars(function) or "Awaitable" in annotation or "Coroutine" in annotation


def check_handler(cls: type, name: str, value: Any, base: FunctionType) -> None:
    """Check a method that overrides the handler `base`."""
    label = f"{cls.__name__}.{name}"
    check_is_async(label, value)
    wanted = inspect.signature(base).parameters.values()
    positional = [each.name for each in wanted if each.kind is each.POSITIONAL_OR_KEYWORD]
    keywords = [each.name for each in wanted if each.kind is each.KEYWORD_ONLY]
    check_parameters(label, value, positional, keywords)


def check_parameters(label: str, function: Any, positional: Sequence[str], keywords: Sequence[str] = ()) -> None:
    """Raise `UsageError` unless a method can be called with these arguments."""
    if not isinstance(function, FunctionType) or "__wrapped__" in vars(function):
        return  # a decorator, a mock or a partial function: its parameters aren't known here
    given = inspect.signature(function)
    try:
        given.bind(*positional, **dict.fromkeys(keywords))
    except TypeError:
        expected = ", ".join([*positional, *(["*", *keywords] if keywords else [])])
        raise UsageError(
            f"{label} has the parameters ({', '.join(given.parameters)}); it is called with ({expected})"
        ) from None


def find_typo(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that differs by one letter: missing, added, replaced, or swapped with the next.

    Not by `difflib`: importing and calling it takes longer than all other checks of a class together."""
    return next((word for word in known if _is_typo(name, word)), None)


def _is_typo(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])
