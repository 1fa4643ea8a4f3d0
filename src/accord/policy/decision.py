"""Decisions about actions, and the corresponding answers to permission requests."""

from __future__ import annotations

from typing import Literal

import msgspec

from accord.model.requests import PermissionOption, PermissionRequest
from accord.policy.rule import Effect, Rule

By = Literal["rule", "default", "protection", "grant", "person", "deadline", "nobody"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for an action. `ask` means that the user hasn't been asked yet."""

    effect: Effect
    why: str
    """The reason, in one line for the user."""
    by: By
    rule: Rule | None = None
    source: str = ""
    """The source of the rule."""
    option: str | None = None
    """The id of the option in the permission request that the user chose."""
    would_allow: tuple[Rule, ...] = ()
    """The narrowest rules that would allow it, if it was denied because no user could be asked."""
    save_error: str = ""
    """Why a choice couldn't be saved as a remembered rule, and holds only for the session."""

    @property
    def allowed(self) -> bool:
        return self.effect == "allow"


def select_option(request: PermissionRequest, decision: Decision) -> PermissionOption | None:
    """Select the option to answer a permission request with. None means `cancelled`, which doesn't approve anything.

    The user's choice is used if it agrees with the decision. Otherwise this selects a one-time option: the policy
    itself remembers rules, and an agent that gets "always" would stop asking. A rule never selects options of an
    unknown kind. If no option allows the action, the request isn't approved."""
    chosen = next((option for option in request.options if option.id == decision.option), None)
    if chosen is not None and (decision.allowed or not chosen.allows):
        return chosen
    if decision.effect == "allow":
        return request.allow()
    return request.reject() if decision.effect == "deny" else None
