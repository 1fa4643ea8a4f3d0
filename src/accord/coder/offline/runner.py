"""Run the steps of a request in order, keep the plan up to date, and stop at the first step that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.coder.history import Result
from accord.coder.offline import requests as r
from accord.coder.offline.actions import about, agents_md, commands, edits, files, plans, review, talk
from accord.coder.offline.actions.plans import entries
from accord.coder.offline.context import URGENT, had_miss
from accord.coder.offline.misses import explain_miss
from accord.coder.offline.requests import Step, Unclear, Unknown, describe_step
from accord.coder.offline.script import ModelReply, PlannedCall, Script, Situation, Stopped


class Progress:
    """The index of the current step, or the number of steps when all are done."""

    index = 0


def run_steps(steps: Sequence[Step], situation: Situation, progress: Progress) -> Script[str]:
    """Run the steps, and return the last text of the turn."""
    refused = _refuse(steps, situation)
    if refused:
        progress.index = len(steps)
        return refused
    planned = len(steps) > 1 and "set_plan" in situation.tools
    words: list[str] = []
    stopped = False
    for progress.index, step in enumerate(steps):
        starts = planned
        run = script_for(step, situation)
        results: list[Result] | None = None
        try:
            while True:
                reply = run.send(results) if results is not None else next(run)
                plan = [_plan(steps, progress.index, situation)] if starts else []
                results = yield ModelReply(_join([*words, reply.text]), [*plan, *reply.calls])
                results, words, starts = results[len(plan) :], [], False
        except StopIteration as end:
            words.append(str(end.value))
        except Stopped as end:
            words.append(end.words)
            stopped = True
            break
    if not stopped:
        progress.index = len(steps)
    if planned:
        # Publish the final plan; unfinished steps are still pending.
        yield ModelReply(_join(words), [_plan(steps, progress.index, situation, active=False)])
        words = []
    return _join([*words, *_close(steps, progress.index, stopped)])


def _refuse(steps: Sequence[Step], situation: Situation) -> str:
    """Return the refusal if a step isn't understood, so that nothing is done unless everything is."""
    for number, step in enumerate(steps, 1):
        if isinstance(step, (Unknown, Unclear)):
            place = f"step {number} of {len(steps)}, “{describe_step(step)}”" if len(steps) > 1 else ""
            nothing = "\n\nNothing was done." if len(steps) > 1 else ""
            return explain_miss(step, place, is_first=not had_miss(situation.before)) + nothing
    return ""


def _plan(steps: Sequence[Step], index: int, situation: Situation, *, active: bool = True) -> PlannedCall:
    """Return the plan during a step: the steps of the request, then the other todos."""
    now: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        status = "completed" if number < index else "in_progress" if number == index and active else "pending"
        now.append({"content": describe_step(step), "status": status, "priority": URGENT})
    return PlannedCall("set_plan", {"steps": (now + entries(situation.todos))[:100]})


def _close(steps: Sequence[Step], index: int, stopped: bool) -> list[str]:
    if len(steps) == 1:
        return []
    if not stopped:
        return ["Both steps are done." if len(steps) == 2 else f"All {len(steps)} steps are done."]
    left = "; ".join(describe_step(step) for step in steps[index + 1 :])
    done = f"{index} of {len(steps)} steps are done."
    return [done + (f" Not done: {left}." if left else "")]


def _join(words: Sequence[str]) -> str:
    return "\n\n".join(word for word in words if word)


def script_for(step: r.Step, situation: Situation) -> Script[str]:
    """Return the script that carries out a step; it returns the reply to show."""
    match step:
        case r.ListFiles():
            return files.list_files(step, situation)
        case r.ReadFiles():
            return files.read_files(step, situation)
        case r.FindFiles():
            return files.find_files(step, situation)
        case r.Outline():
            return files.outline(step, situation)
        case r.Search():
            return files.search(step, situation)
        case r.FindSymbol():
            return files.find_symbol(step, situation)
        case r.ShowChanges():
            return review.show_changes(step, situation)
        case r.Review():
            return review.review(step, situation)
        case r.Replace():
            return edits.replace(step, situation)
        case r.WriteFile():
            return edits.write(step, situation)
        case r.Append():
            return edits.append(step, situation)
        case r.MoveFile():
            return edits.move(step, situation)
        case r.DeleteFiles():
            return edits.delete(step, situation)
        case r.Run():
            return commands.run(step, situation)
        case r.RunFile():
            return commands.run_file(step, situation)
        case r.RunTask():
            return commands.run_task(step, situation)
        case r.Fetch():
            return commands.fetch(step, situation)
        case r.SwitchMode():
            return commands.switch_mode(step, situation)
        case r.MakePlan():
            return plans.make(step, situation)
        case r.AddTodo():
            return plans.add(step, situation)
        case r.ShowTodos():
            return plans.show(step, situation)
        case r.MarkTodo():
            return plans.mark(step, situation)
        case r.ExplainProject():
            return about.explain_project(step, situation)
        case r.ExplainFile():
            return about.explain_file(step, situation)
        case r.ExplainName():
            return about.explain_name(step, situation)
        case r.CountFiles():
            return about.count_files(step, situation)
        case r.CountLines():
            return about.count_lines(step, situation)
        case r.DescribeProject():
            return agents_md.describe(step, situation)
        case _:
            return talk.answer(step, situation)
