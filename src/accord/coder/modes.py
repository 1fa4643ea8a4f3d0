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

GUIDANCE = {
    ASK.id: "The user is asked before each change and each command. Make the requested changes; "
    "don't ask for permission in text as well.",
    CODE.id: "You may edit the project's files without asking. Commands and deletions still need permission.",
    ARCHITECT.id: "Only a plan is wanted. You can read and search, but tools that make changes are unavailable. "
    "Publish a plan with set_plan. When it is complete, call switch_mode to ask whether it should be carried out.",
}


def offers(mode: str, tool: Tool[Any]) -> bool:
    """Return whether a tool is available in a mode."""
    return mode != ARCHITECT.id or not tool.changes


def allows(mode: str, action: Action, decision: Decision) -> bool:
    """Return whether the mode allows an action that no rule covers. Rules that ask, and protected files, apply in every
    mode."""
    return mode == CODE.id and decision.by == "default" and action.kind == "write" and action.unclear is None
