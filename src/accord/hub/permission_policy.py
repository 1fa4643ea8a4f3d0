"""Permission policies: which principals may answer a permission request, and how many of them must."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from accord.errors import ConfigError
from accord.hub.principal import Principal


class PermissionPolicy(ABC):
    """Decides about the answers to one kind of request. Votes belong to principals, never to ids sent by clients."""

    @abstractmethod
    def may_answer(self, principal: Principal, originator: str | None) -> bool:
        """Return whether a principal that drives the session may answer. `originator` sent the running prompt."""

    def decide(self, votes: Mapping[str, str]) -> str | None:
        """Return the chosen option, given each principal's vote so far; None while it is undecided."""
        return next(iter(votes.values()), None)


class FirstAnswer(PermissionPolicy):
    """The first answer of any driver counts."""

    def may_answer(self, principal: Principal, originator: str | None) -> bool:
        return True


class OriginatorOnly(PermissionPolicy):
    """Only the principal whose prompt caused the request may answer; anyone if no prompt is running."""

    def may_answer(self, principal: Principal, originator: str | None) -> bool:
        return originator is None or principal.name == originator


class Quorum(PermissionPolicy):
    """An option is chosen when this many principals have chosen it."""

    def __init__(self, votes: int) -> None:
        self.votes = votes

    def may_answer(self, principal: Principal, originator: str | None) -> bool:
        return True

    def decide(self, votes: Mapping[str, str]) -> str | None:
        chosen = list(votes.values())
        return next((option for option in dict.fromkeys(chosen) if chosen.count(option) >= self.votes), None)


class RoleOnly(PermissionPolicy):
    """Only principals with this role may answer."""

    def __init__(self, role: str) -> None:
        self.role = role

    def may_answer(self, principal: Principal, originator: str | None) -> bool:
        return principal.role == self.role


def parse_policy(text: str) -> PermissionPolicy:
    """Parse `first`, `originator`, `quorum:N` or `role:ROLE`. Raises `ConfigError`."""
    name, _, argument = text.partition(":")
    if text == "first":
        return FirstAnswer()
    if text == "originator":
        return OriginatorOnly()
    if name == "quorum" and argument.isdecimal() and int(argument) > 0:
        return Quorum(int(argument))
    if name == "role" and argument in ("driver", "admin"):
        return RoleOnly(argument)
    raise ConfigError(f"permission policy {text!r}: expected first, originator, quorum:N, role:driver or role:admin")
