"""What was decided about an action, and why."""

from __future__ import annotations

from typing import Literal

import msgspec

from accord.policy.rule import Effect, Rule

By = Literal["rule", "default", "protection", "grant", "person", "deadline", "nobody"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome. `ask` only when nobody has been asked yet."""

    effect: Effect
    why: str
    """One line for people."""
    by: By
    rule: Rule | None = None
    source: str = ""
    """Where the rule comes from."""
    option: str | None = None
    """The option of the permission request that a person chose."""
    unkept: str = ""
    """Why a choice that was to hold for good holds only for the session."""

    @property
    def allowed(self) -> bool:
        return self.effect == "allow"
