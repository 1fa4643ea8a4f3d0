"""set_plan and add_todo: what is to be done, where the user sees it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.text import counted, one_line
from accord.model.noun import Noun
from accord.model.session import PlanEntry

MAX_STEPS = 100


class Step(Noun):
    """One step of the plan."""

    content: Annotated[str, Meta(min_length=1, description="What is to be done, in one short line.")]
    status: Annotated[
        Literal["pending", "in_progress", "completed"],
        Meta(description="How far it is. One step at a time is in_progress."),
    ] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"


class SetPlanArgs(Noun):
    """The plan."""

    steps: Annotated[list[Step], Meta(max_length=MAX_STEPS, description="All steps, finished ones included, in order.")]


class SetPlan(Tool[SetPlanArgs]):
    name = "set_plan"
    description = (
        "Publishes the plan that the user sees: all its steps with their status, each time anew; what is left out is "
        "gone. Use it for work of three steps or more: set it at the start, set a step in_progress when you begin it "
        "and completed as soon as it is done. An empty list takes the plan away."
    )
    kind = "think"
    arguments = SetPlanArgs

    def title(self, args: SetPlanArgs) -> str:
        done = sum(step.status == "completed" for step in args.steps)
        return f"Plan: {done} of {counted(len(args.steps), 'step')} done" if args.steps else "Clear the plan"

    async def run(self, args: SetPlanArgs, work: Work) -> Outcome:
        entries = [PlanEntry(content=step.content, status=step.status, priority=step.priority) for step in args.steps]
        if entries == work.desk.plan:
            return Outcome(text="The plan was like this already.")
        await work.desk.set_plan(entries)
        return Outcome(text=_told(entries))


class AddTodoArgs(Noun):
    """A step more."""

    content: Annotated[str, Meta(min_length=1, description="What is to be done, in one short line.")]


class AddTodo(Tool[AddTodoArgs]):
    name = "add_todo"
    description = (
        "Adds one pending step to the end of the plan and leaves the others as they are. For several at once, or to "
        "change their status, use set_plan."
    )
    kind = "think"
    arguments = AddTodoArgs

    def title(self, args: AddTodoArgs) -> str:
        return f"To do: {one_line(args.content)}"

    async def run(self, args: AddTodoArgs, work: Work) -> Outcome:
        if any(entry.content == args.content and entry.status != "completed" for entry in work.desk.plan):
            return Outcome(text="This is in the plan already.")
        if len(work.desk.plan) >= MAX_STEPS:
            raise ToolFault(f"the plan has {MAX_STEPS} steps, which is the most; set a shorter one with set_plan")
        entries = [*work.desk.plan, PlanEntry(content=args.content)]
        await work.desk.set_plan(entries)
        return Outcome(text=_told(entries))


def _told(entries: list[PlanEntry]) -> str:
    if not entries:
        return "The plan was taken away."
    return "The plan is now:\n" + as_text(entries)


def as_text(entries: list[PlanEntry]) -> str:
    """A plan as a list that people and models read."""
    marks = {"completed": "x", "in_progress": ">", "cancelled": "-"}
    return "\n".join(f"- [{marks.get(entry.status, ' ')}] {entry.content}" for entry in entries)
