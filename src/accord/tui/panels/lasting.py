"""For how long an answer is remembered: what the user can choose, how it is said, and what the policy is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.policy.choices import Choice, Question
    from accord.policy.rule import Scope


class Length(NamedTuple):
    """A stretch of time for which an answer holds."""

    words: str
    scope: Scope
    seconds: float | None = None


LENGTHS = (
    Length("for ever", "forever"),
    Length("for an hour", "forever", 3600.0),
    Length("for a day", "forever", 86400.0),
    Length("for this session", "session"),
)
_NOTHING = "nothing is remembered here, and it will be asked again unless the agent remembers it itself"
_ONCE = {"allow_always": "allow_once", "reject_always": "reject_once"}


def lasts(choice: Choice) -> bool:
    """Whether something of this answer is remembered, so that it matters for how long."""
    return bool(choice.rules) and choice.scope != "once"


def can_be_shorter(question: Question | None) -> bool:
    """Whether one of the answers holds for ever, unless the user wants it shorter."""
    return question is not None and any(_once(question, each) is not None for each in question.choices)


def _once(question: Question, choice: Choice) -> Choice | None:
    """What an agent is told in place of an answer for ever: that it is for this once, if it offered that."""
    return question.choice(_ONCE.get(choice.kind, "")) if lasts(choice) and choice.scope == "forever" else None


def possible(question: Question, choice: Choice, wanted: Length) -> Length:
    """As long as the user wants it; or for ever, where the agent could only be told that."""
    return wanted if choice.scope != "forever" or _once(question, choice) is not None else LENGTHS[0]


def length_of(choice: Choice, wanted: Length) -> Length:
    """How long an answer holds; one that is for the session alone cannot be made longer."""
    return wanted if choice.scope == "forever" else LENGTHS[-1]


def limited(question: Question, choice: Choice, wanted: Length) -> Choice:
    """The answer as the policy gets it. Where it does not hold for ever, the agent is told that it is for this once:
    it would remember it without end. It asks again, and the policy answers for as long as the user wanted. One that
    did not offer that is told what it offered, which is for ever here too."""
    once = _once(question, choice)
    if once is None or wanted == LENGTHS[0]:
        return choice
    from msgspec import structs

    return structs.replace(once, scope=wanted.scope, rules=choice.rules, ttl=wanted.seconds)


def what_is_remembered(choice: Choice, wanted: Length) -> str:
    """What an answer is remembered as, for its line."""
    from accord.policy.text import conditions

    if not lasts(choice):
        return ""
    rules = "; ".join(one_line(conditions(rule), 2_000) for rule in choice.rules)
    length = length_of(choice, wanted)
    return f"  remembers{'' if length == LENGTHS[0] else f' {length.words}'}: {rules}"


def what_becomes_of_it(choice: Choice, wanted: Length) -> str:
    """What an answer is remembered as, how long, and where; nothing for one that is for this once."""
    if not lasts(choice):
        return _NOTHING if choice.kind in _ONCE else ""
    return f"{what_is_remembered(choice, wanted).strip()} · {where_it_is_kept(choice, wanted)}"


def where_it_is_kept(choice: Choice, wanted: Length) -> str:
    """How long an answer is kept, and where."""
    from accord.config.folders import remembered_file

    length = length_of(choice, wanted)
    if length.scope == "session":
        return "kept until this session ends, in no file"
    path = str(remembered_file())
    home = os.path.expanduser("~")
    return (
        f"kept {length.words}, for this project: {f'~{path[len(home) :]}' if path.startswith(home + os.sep) else path}"
    )
