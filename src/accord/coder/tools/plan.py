"""set_plan: the plan that the user sees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from accord.coder.tools.argument_errors import HIDDEN
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.text import count_of, one_line
from accord.model.record import Record
from accord.model.session import PlanEntry

MAX_STEPS = 100
_CHECKED = re.compile(r"^\s*(?:[-*+•]|\d+[.)])?\s*\[([ xX>~-])\]\s*(\S.*)", re.MULTILINE)


class Step(Record):
    """One step of the plan."""

    content: Annotated[
        str,
        Meta(
            min_length=1,
            description="The step, in one short line.",
            extra={"aliases": "step title task description text name active_form"},
        ),
    ]
    status: Annotated[
        Literal["pending", "in_progress", "completed"],
        Meta(description="The step's status. Only one step at a time is in_progress."),
    ] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"


class SetPlanArgs(Record):
    """The plan."""

    steps: Annotated[list[Step], Meta(max_length=MAX_STEPS, description="All steps in order, including finished ones.")]
    append: Annotated[bool, Meta(extra_json_schema={HIDDEN: True})] = False
    """Whether to add the steps to the plan, as tools such as `add_todo` do."""


class SetPlan(Tool[SetPlanArgs]):
    name = "set_plan"
    description = (
        "Publishes the plan that the user sees. Replaces the whole plan: pass every step with its status each time. "
        "Use it for work of three steps or more: set it at the start, mark a step in_progress when you start it and "
        "completed as soon as it is done. An empty list removes the plan."
    )
    kind: str = "think"
    arguments = SetPlanArgs
    aliases = "plan update_plan todo_write todo todos write_todos update_todos update_todo_list create_plan"
    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = {"add_todo": {"append": True}, "todo_add": {"append": True}}

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Translate a checklist, whose marks say what is done."""
        return {
            name: [_read_item(line) for line in value.splitlines() if line.strip()]
            if isinstance(value, str) and _CHECKED.search(value)
            else value
            for name, value in arguments.items()
        }

    def title(self, args: SetPlanArgs) -> str:
        if args.append and args.steps:
            return f"To do: {one_line(args.steps[0].content)}"
        done = sum(step.status == "completed" for step in args.steps)
        return f"Plan: {done} of {count_of(len(args.steps), 'step')} done" if args.steps else "Clear the plan"

    async def run(self, args: SetPlanArgs, ctx: ToolContext) -> Outcome:
        entries = [PlanEntry(content=step.content, status=step.status, priority=step.priority) for step in args.steps]
        if args.append:
            entries = _join(ctx.state.plan, entries)
        if entries == ctx.state.plan:
            return Outcome(text="The plan is unchanged.")
        await ctx.state.set_plan(entries)
        return Outcome(text=_describe(entries))


def _read_item(line: str) -> dict[str, str] | str:
    """Parse a line of a checklist into the arguments of a step."""
    item = _CHECKED.match(line)
    if item is None:
        return line
    status = {"x": "completed", ">": "in_progress", "-": "in_progress", "~": "in_progress"}.get(item[1].lower())
    return {"content": item[2].strip(), "status": status or "pending"}


def _join(plan: list[PlanEntry], added: list[PlanEntry]) -> list[PlanEntry]:
    """Add steps to the plan, except for pending ones that it already has."""
    to_do = {entry.content for entry in plan if entry.status != "completed"}
    joined = [*plan, *(entry for entry in added if entry.content not in to_do)]
    if len(joined) > MAX_STEPS:
        raise ToolError(f"the plan would have more than {MAX_STEPS} steps, the maximum; set a shorter one")
    return joined


def _describe(entries: list[PlanEntry]) -> str:
    if not entries:
        return "The plan was removed."
    return "The plan is now:\n" + as_text(entries)


def as_text(entries: list[PlanEntry]) -> str:
    """Render the plan as a Markdown checklist."""
    marks = {"completed": "x", "in_progress": ">", "cancelled": "-"}
    return "\n".join(f"- [{marks.get(entry.status, ' ')}] {entry.content}" for entry in entries)
