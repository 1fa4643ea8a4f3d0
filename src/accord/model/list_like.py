"""The type of a sequence that isn't a string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class ListLike(Protocol[T_co]):
    """A list, a tuple or another sequence, but not a string.

    A string is a `Sequence[str]`, so type checkers would accept `plan("one")`. Its `__contains__` takes only strings,
    which distinguishes it here."""

    def __contains__(self, value: object, /) -> bool: ...
    def __getitem__(self, index: int, /) -> T_co: ...
    def __iter__(self) -> Iterator[T_co]: ...
    def __len__(self) -> int: ...
