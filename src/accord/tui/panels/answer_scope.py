"""Duration of a remembered permission answer: the choices, their labels, and the answer sent to the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from accord.terminal_text import one_line

if TYPE_CHECKING:
    from accord.policy.question import Choice, Question
    from accord.policy.rule import Scope


class Length(NamedTuple):
    """A duration for which an answer is valid."""

    words: str
    scope: Scope
    seconds: float | None = None


LENGTHS = (
    Length("always", "forever"),
    Length("for an hour", "forever", 3600.0),
    Length("for a day", "forever", 86400.0),
    Length("for this session", "session"),
)
_NOT_REMEMBERED = "Accord won't remember this; the agent may ask again"
_ONCE = {"allow_always": "allow_once", "reject_always": "reject_once"}


def is_remembered(choice: Choice) -> bool:
    """Return whether an answer is remembered at all."""
    return bool(choice.rules) and choice.scope != "once"


def can_be_shorter(question: Question | None) -> bool:
    """Return whether one of the answers is permanent but could be limited."""
    return question is not None and any(_once(question, each) is not None for each in question.choices)


def _once(question: Question, choice: Choice) -> Choice | None:
    """Return the one-time answer to send to the agent instead of a permanent one, if the agent offers it."""
    return question.choice(_ONCE.get(choice.kind, "")) if is_remembered(choice) and choice.scope == "forever" else None


def choose_length(question: Question, choice: Choice, wanted: Length) -> Length:
    """Return the wanted duration, or permanent if the agent offers nothing else."""
    return wanted if choice.scope != "forever" or _once(question, choice) is not None else LENGTHS[0]


def length_of(choice: Choice, wanted: Length) -> Length:
    """Return the duration of an answer; one for the session can't be extended."""
    return wanted if choice.scope == "forever" else LENGTHS[-1]


def limit_answer(question: Question, choice: Choice, wanted: Length) -> Choice:
    """Return the answer for the policy. For a limited duration, the agent gets the one-time answer, because it would
    remember the permanent one forever. It asks again, and the policy answers for as long as the user wanted."""
    once = _once(question, choice)
    if once is None or wanted == LENGTHS[0]:
        return choice
    from msgspec import structs

    return structs.replace(once, scope=wanted.scope, rules=choice.rules, ttl=wanted.seconds)


def describe_rules(choice: Choice, wanted: Length, *, is_labeled: bool = False) -> str:
    """Return the rules that an answer is remembered as, for its line. `is_labeled` leaves out what the label of an
    answer for the session says."""
    from accord.policy.rule import format_conditions

    if not is_remembered(choice):
        return ""
    rules = "; ".join(one_line(format_conditions(rule), 2_000) for rule in choice.rules)
    length = length_of(choice, wanted)
    is_said = length == LENGTHS[0] or (is_labeled and choice.scope == "session")
    return f"  remembers{'' if is_said else f' {length.words}'}: {rules}"


def describe_effect(choice: Choice, wanted: Length) -> str:
    """Return the rules, duration and location of a remembered answer; empty for a one-time answer."""
    if not is_remembered(choice):
        return _NOT_REMEMBERED if choice.kind in _ONCE else ""
    return f"{describe_rules(choice, wanted).strip()} · {describe_storage(choice, wanted)}"


def describe_storage(choice: Choice, wanted: Length) -> str:
    """Say where an answer is saved, and for which project."""
    from accord.config.directories import remembered_file
    from accord.tui.text import shorten_home

    length = length_of(choice, wanted)
    if length.scope == "session":
        return "not saved on disk"
    return f"in this project, saved in {shorten_home(remembered_file())}"
