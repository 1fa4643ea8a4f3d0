"""Tool calls that only change the plan."""

from __future__ import annotations

from typing import Any

from accord.model.tool import ToolCall

_PLAN_TOOLS = frozenset({"set_plan", "update_plan", "todowrite", "todo_write", "write_todos", "add_todo"})
_PLAN_FIELDS = ("steps", "todos", "plan", "entries", "items")


def is_plan_update(call: ToolCall) -> bool:
    """Return whether a call only changes the plan, which has its own place on the screen."""
    if call.kind not in ("think", "other") or call.status == "failed" or call.diffs:
        return False
    if (call.name or "").lower() in _PLAN_TOOLS:
        return True
    given = call.raw_input if isinstance(call.raw_input, dict) else {}
    steps: list[Any] = next((given[each] for each in _PLAN_FIELDS if isinstance(given.get(each), list)), [])
    return bool(steps) and all(isinstance(step, dict) and "status" in step for step in steps)
