"""Methods of the protocol: name, the side that serves it, and the types of params and result."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

import msgspec

P = TypeVar("P")
R = TypeVar("R")

Side = Literal["agent", "client", "proxy"]


class Method(msgspec.Struct, Generic[P, R], frozen=True, kw_only=True, gc=False):
    """A method in a version's method table. A notification has no result."""

    name: str
    served_by: Side
    params: type[P]
    result: type[R] | None = None
    unstable: bool = False
    """Whether it is part of the unstable schema, and used only if enabled."""

    @property
    def is_notification(self) -> bool:
        return self.result is None

    def __repr__(self) -> str:
        return f"<{self.name}>"


def by_name(*methods: Method[Any, Any]) -> dict[str, Method[Any, Any]]:
    """Return methods by name. Requests and notifications have separate tables, because a few names are in both."""
    return {method.name: method for method in methods}
