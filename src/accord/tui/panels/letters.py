"""The letters that answer a question: each means the same with every agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.policy.choices import Choice, Question

LETTERS = {
    "y": ("allow_once", "once"),
    "s": ("allow_always", "session"),
    "a": ("allow_always", "forever"),
    "n": ("reject_once", "once"),
}
"""The kind of an answer, and how long it holds."""


def meant(question: Question, letter: str) -> Choice | None:
    """The answer that a letter gives."""
    return next((each for each in question.choices if (each.kind, each.scope) == LETTERS[letter]), None)
