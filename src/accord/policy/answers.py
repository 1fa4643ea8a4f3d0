"""Turning a decision into the answer to a permission request, in the agent's own options."""

from __future__ import annotations

from accord.model.requests import PermissionOption, PermissionRequest
from accord.policy.decision import Decision


def answer_to(request: PermissionRequest, decision: Decision) -> PermissionOption | None:
    """The option to answer with; None for `cancelled`, which is no approval.

    What a person chose is answered as chosen, as long as it says the same as the decision. Otherwise an option for this
    once is taken: the policy remembers by itself, and an agent that is told "always" would stop asking. Options of a
    kind that is not known are never chosen by a rule. An allow without an option that allows approves nothing."""
    chosen = next((option for option in request.options if option.id == decision.option), None)
    if chosen is not None and (decision.allowed or not chosen.allows):
        return chosen
    if decision.effect == "allow":
        return request.allow()
    return request.reject() if decision.effect == "deny" else None
