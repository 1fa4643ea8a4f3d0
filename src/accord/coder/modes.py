"""The agent's modes: what it may do without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.model.session import Mode

if TYPE_CHECKING:
    from accord.coder.tools.base import Tool
    from accord.policy.action import Action
    from accord.policy.decision import Decision

ASK = Mode(id="ask", name="Ask", description="Asks before every change and command.")
CODE = Mode(
    id="code", name="Code", description="Edits files without asking. Asks before deleting files and running commands."
)
ARCHITECT = Mode(id="architect", name="Architect", description="Reads and plans. Doesn't change or run anything.")
MODES = (ASK, CODE, ARCHITECT)

PLAN_ONLY = (
    "Architect mode is on: only a plan is wanted. Read and search, but change nothing: tools that make changes are "
    "refused. Publish the plan with set_plan. When it is complete, call switch_mode to ask whether it should be "
    "carried out."
)
PLAN_IS_OVER = "Architect mode is off: tools that make changes can be used again."


def reminder(mode: str, announced: str) -> str:
    """Return the reminder that announces a mode to the model, after `announced`; empty if none is necessary.

    The other modes only differ in when the user is asked, which the model doesn't decide."""
    if (mode == ARCHITECT.id) is (announced == ARCHITECT.id):
        return ""
    return PLAN_ONLY if mode == ARCHITECT.id else PLAN_IS_OVER


def offers(mode: str, tool: Tool[Any]) -> bool:
    """Return whether a tool is available in a mode."""
    return mode != ARCHITECT.id or not tool.changes


def uses_sandbox(mode: str, setting: str) -> bool:
    """Return whether commands run in a sandbox instead of asking, by the mode and the setting of the sandbox."""
    return (mode == CODE.id and setting != "off") or (mode == ASK.id and setting == "on")


def allows(mode: str, action: Action, decision: Decision) -> bool:
    """Return whether the mode allows an action that no rule covers. Rules that ask, and protected files, apply in every
    mode."""
    return mode == CODE.id and decision.by == "default" and action.kind == "write" and action.unclear is None
