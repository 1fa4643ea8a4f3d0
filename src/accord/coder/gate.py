"""Permission: every action of a tool passes here before it happens.

The rules decide first (`policy`), then the mode, then the user; what is to be remembered, the policy remembers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from accord.coder import modes
from accord.coder.tools.base import Tool, ToolFault, Work
from accord.model.requests import PermissionOption
from accord.policy.action import Action
from accord.policy.choices import Question

if TYPE_CHECKING:
    from accord.agent.permission import Permission

OFFERED = ("allow_once", "allow_session", "allow_always", "reject_once")
"""What the user can choose: editors show each as a button, and more than four are no help."""


class Refused(ToolFault):
    """A rule or the user said no."""


async def passes(tool: Tool[Any], args: Any, work: Work) -> None:
    """Returns when the call may go on; raises `Refused` otherwise."""
    desk = work.desk
    if not modes.offers(desk.mode, tool):
        raise Refused(f"{tool.name} changes something, and this session is in {desk.mode} mode: only a plan is wanted")
    actions = tool.actions(args, work)
    open_questions = []
    for action in actions:
        decision = desk.policy.decide(action)
        if decision.effect == "deny":
            await desk.policy.answer(action)  # written down, like every decision
            raise Refused(f"not allowed: {decision.why}")
        if decision.effect == "ask" and not modes.settles(desk.mode, action, decision):
            open_questions.append(action)
    await _ask(tool, open_questions, work)


async def _ask(tool: Tool[Any], actions: Sequence[Action], work: Work) -> None:
    """Asks once for all of a call's actions: it is one thing to the user."""
    answered = False

    async def ask(question: Question) -> str | bool | None:
        nonlocal answered
        if answered:
            return True
        permission = await _permit(tool, question, work)
        if permission.option is None:
            return None
        answered = bool(permission)
        return permission.option.id

    for action in actions:
        decision = await work.desk.policy.answer(action, ask=ask)
        if not decision.allowed:
            raise Refused(f"not allowed: {decision.why}" if decision.by == "rule" else "the user did not allow this")


async def _permit(tool: Tool[Any], question: Question, work: Work) -> Permission:
    options = [
        PermissionOption(id=each.id, name=each.name, kind=each.kind) for each in question.choices if each.id in OFFERED
    ]
    action = question.action
    return await work.shown.permit(options=options, command=action.line if action.kind == "command" else None)
