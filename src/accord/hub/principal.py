"""Authenticated identities of the hub's users, and their rights."""

from __future__ import annotations

from typing import Literal, NamedTuple

Role = Literal["driver", "watcher", "admin"]


class Principal(NamedTuple):
    """An authenticated user or program. The server decides who it is; nothing that a client sends changes it."""

    name: str
    role: Role = "driver"

    @property
    def can_drive(self) -> bool:
        """Whether it may send prompts, answer requests and change sessions."""
        return self.role != "watcher"


def lower_role(first: Role, second: Role) -> Role:
    """Return the role with fewer rights."""
    order: tuple[Role, ...] = ("watcher", "driver", "admin")
    return order[min(order.index(first), order.index(second))]
