"""Permission: every action of a tool passes here before it happens.

The rules decide first (`policy`), then the mode, then the user; what is to be remembered, the policy remembers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from accord.coder import modes
from accord.coder.tools.base import Tool, ToolFault, Work
from accord.model.requests import PermissionOption
from accord.policy.action import Action
from accord.policy.choices import Question
from accord.policy.decision import Decision

if TYPE_CHECKING:
    from accord.agent.permission import Permission
    from accord.coder.desk import Desk

AGENT = "accord"
"""By which name the user's rules know this agent."""

OFFERED = ("allow_once", "allow_session", "allow_always", "reject_once")
"""What the user can choose: editors show each as a button, and more than four are no help."""


class Refused(ToolFault):
    """A rule or the user said no."""


async def passes(tool: Tool[Any], args: Any, work: Work) -> None:
    """Returns when the call may go on; raises `Refused` otherwise."""
    desk = work.desk
    _fits_mode(tool, desk)
    settled: list[tuple[Action, Decision]] = []
    questions: list[Action] = []
    for action in [_known(action, tool, args, work) for action in tool.actions(args, work)]:
        decision = desk.policy.decide(action)
        if decision.effect == "deny":
            await desk.policy.answer(action)  # written down, like every decision
            raise Refused(f"not allowed: {decision.why}")
        if decision.effect == "allow" or modes.settles(desk.mode, action, decision):
            settled.append((action, decision))
        else:
            questions.append(action)
    if questions:
        places = _places(questions)
        async with desk.asking:  # one question at a time: its answer may settle the next one
            await _ask(tool, questions, work)
        if _places(questions) != places:
            raise Refused("a path leads elsewhere since it was asked about; look again")
        _fits_mode(tool, desk)
    for action, decision in settled:
        if decision.effect == "ask":
            desk.policy.note(action, Decision(effect="allow", by="default", why=f"{desk.mode} mode: {decision.why}"))
        elif decision.source != "built in":
            await desk.policy.answer(action)


def _fits_mode(tool: Tool[Any], desk: Desk) -> None:
    if not modes.offers(desk.mode, tool):
        raise Refused(f"{tool.name} changes something, and this session is in {desk.mode} mode: only a plan is wanted")


def _known(action: Action, tool: Tool[Any], args: Any, work: Work) -> Action:
    """An action by all the names that rules may know it by."""
    return structs.replace(
        action,
        tool_kind=action.tool_kind or tool.kind,
        title=action.title or tool.title(args),
        agent=AGENT,
        session=work.session.id,
        project=work.session.cwd,
    )


def _places(actions: Sequence[Action]) -> list[str]:
    """Where the paths of some actions lead just now."""
    return [os.path.realpath(path) for action in actions for path in (*action.paths, action.cwd or "/")]


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
    if action.kind == "command":
        return await work.shown.permit(options=options, command=action.line, cwd=action.cwd)
    return await work.shown.permit(options=options)
