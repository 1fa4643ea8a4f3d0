"""Steps, carried out one after the other: with a plan that is kept true, and no step after one that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.coder.history import Result
from accord.coder.models.offline.forms import no_model
from accord.coder.models.offline.memory import URGENT
from accord.coder.models.offline.requests import Step, Unclear, Unknown
from accord.coder.models.offline.script import Ask, Script, Situation, Stopped, Want
from accord.coder.models.offline.scripts.plans import entries
from accord.coder.models.offline.scripts.table import script
from accord.coder.models.offline.titles import title


class Progress:
    """How far a request is: the step that is being carried out, or their number when all are done."""

    index = 0


def conduct(steps: Sequence[Step], situation: Situation, progress: Progress) -> Script[str]:
    """Carries out steps. Ends with the last words of the turn."""
    refused = _not_understood(steps)
    if refused:
        progress.index = len(steps)
        return refused
    planned = len(steps) > 1 and "set_plan" in situation.tools
    words: list[str] = []
    stopped = False
    for progress.index, step in enumerate(steps):
        begun = planned
        run = script(step, situation)
        results: list[Result] | None = None
        try:
            while True:
                ask = run.send(results) if results is not None else next(run)
                plan = [_plan(steps, progress.index, situation)] if begun else []
                results = yield Ask(_joined([*words, ask.said]), [*plan, *ask.wants])
                results, words, begun = results[len(plan) :], [], False
        except StopIteration as end:
            words.append(str(end.value))
        except Stopped as end:
            words.append(end.words)
            stopped = True
            break
    if not stopped:
        progress.index = len(steps)
    if planned:
        # The plan is true at the end as well: what was not done is still to be done.
        yield Ask(_joined(words), [_plan(steps, progress.index, situation, active=False)])
        words = []
    return _joined([*words, *_closing(steps, progress.index, stopped)])


def _not_understood(steps: Sequence[Step]) -> str:
    """Nothing is begun unless all of it is understood."""
    for number, step in enumerate(steps, 1):
        place = f"step {number} of {len(steps)}, “{title(step)}”" if len(steps) > 1 else ""
        nothing = "\n\nNothing was done." if len(steps) > 1 else ""
        if isinstance(step, Unknown):
            return no_model(step.text, place) + nothing
        if isinstance(step, Unclear):
            return (f"About {place}: " if place else "") + step.words + nothing
    return ""


def _plan(steps: Sequence[Step], index: int, situation: Situation, *, active: bool = True) -> Want:
    """The plan while a step is carried out: the request's steps, and after them what else is to be remembered."""
    now: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        status = "completed" if number < index else "in_progress" if number == index and active else "pending"
        now.append({"content": title(step), "status": status, "priority": URGENT})
    return Want("set_plan", {"steps": (now + entries(situation.todos))[:100]})


def _closing(steps: Sequence[Step], index: int, stopped: bool) -> list[str]:
    if len(steps) == 1:
        return []
    if not stopped:
        return ["Both steps are done." if len(steps) == 2 else f"All {len(steps)} steps are done."]
    left = "; ".join(title(step) for step in steps[index + 1 :])
    done = f"{index} of {len(steps)} steps were done."
    return [done + (f" Not done: {left}." if left else "")]


def _joined(words: Sequence[str]) -> str:
    return "\n\n".join(word for word in words if word)
