"""set_plan and add_todo: the plan that the user sees."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.text import count_of, one_line
from accord.model.record import Record
from accord.model.session import PlanEntry

MAX_STEPS = 100


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

    def title(self, args: SetPlanArgs) -> str:
        done = sum(step.status == "completed" for step in args.steps)
        return f"Plan: {done} of {count_of(len(args.steps), 'step')} done" if args.steps else "Clear the plan"

    async def run(self, args: SetPlanArgs, ctx: ToolContext) -> Outcome:
        entries = [PlanEntry(content=step.content, status=step.status, priority=step.priority) for step in args.steps]
        if entries == ctx.state.plan:
            return Outcome(text="The plan is unchanged.")
        await ctx.state.set_plan(entries)
        return Outcome(text=_describe(entries))


class AddTodoArgs(Record):
    """The new step."""

    content: Annotated[str, Meta(min_length=1, description="The step, in one short line.")]


class AddTodo(Tool[AddTodoArgs]):
    name = "add_todo"
    description = (
        "Adds one pending step to the end of the plan. To add several steps or change their status, use set_plan."
    )
    kind: str = "think"
    arguments = AddTodoArgs

    def title(self, args: AddTodoArgs) -> str:
        return f"To do: {one_line(args.content)}"

    async def run(self, args: AddTodoArgs, ctx: ToolContext) -> Outcome:
        if any(entry.content == args.content and entry.status != "completed" for entry in ctx.state.plan):
            return Outcome(text="This step is already in the plan.")
        if len(ctx.state.plan) >= MAX_STEPS:
            raise ToolError(f"the plan already has {MAX_STEPS} steps, the maximum; set a shorter one with set_plan")
        entries = [*ctx.state.plan, PlanEntry(content=args.content)]
        await ctx.state.set_plan(entries)
        return Outcome(text=_describe(entries))


def _describe(entries: list[PlanEntry]) -> str:
    if not entries:
        return "The plan was removed."
    return "The plan is now:\n" + as_text(entries)


def as_text(entries: list[PlanEntry]) -> str:
    """The plan as a Markdown checklist."""
    marks = {"completed": "x", "in_progress": ">", "cancelled": "-"}
    return "\n".join(f"- [{marks.get(entry.status, ' ')}] {entry.content}" for entry in entries)
