"""The agent's modes: how much it may do before it asks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from accord.model.session import Mode

if TYPE_CHECKING:
    from accord.coder.tools.base import Tool
    from accord.policy.action import Action
    from accord.policy.decision import Decision

ASK = Mode(id="ask", name="Ask", description="Asks before every change and every command.")
CODE = Mode(id="code", name="Code", description="Edits files without asking; asks before deleting and before commands.")
ARCHITECT = Mode(id="architect", name="Architect", description="Reads and plans. Changes nothing, runs nothing.")
MODES = (ASK, CODE, ARCHITECT)

PROJECT_FILES = ("AGENTS.md", "CLAUDE.md")
"""Where a project says what it wants of agents; the first one there counts."""
_INSTRUCTIONS = {name.casefold() for name in PROJECT_FILES}

GUIDANCE = {
    ASK.id: "The user is asked before each change and each command. Make the changes that were asked for; "
    "do not ask for permission in words as well.",
    CODE.id: "You may edit files of the project without asking. Commands and deletions are still asked about.",
    ARCHITECT.id: "Only a plan is wanted. You can read and search, but tools that change something are not there. "
    "Publish a plan with set_plan. When it is complete, call switch_mode to ask whether it should be carried out.",
}


def offers(mode: str, tool: Tool[Any]) -> bool:
    """Whether a model is told of a tool in this mode."""
    return mode != ARCHITECT.id or not tool.changes


def settles(mode: str, action: Action, decision: Decision) -> bool:
    """Whether the mode allows what no rule speaks of. What a rule or a protection wants asked is asked in any mode, and
    so is a change of what the project tells agents: it would be the next session's instructions."""
    if mode != CODE.id or decision.by != "default" or action.kind != "write" or action.unclear is not None:
        return False
    return not any(os.path.basename(path).casefold() in _INSTRUCTIONS for path in action.paths)
