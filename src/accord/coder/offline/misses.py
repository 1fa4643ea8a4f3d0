"""Replies to requests that aren't understood: one line, with a request that works."""

from __future__ import annotations

import re

from accord.coder.offline.help import LOGIN, find_file, find_nearest
from accord.coder.offline.requests import Step, Unclear, Unknown

ASKS_TO_FIX = re.compile(r"(?:fix|debug|solve|repair)\b", re.IGNORECASE)
NEEDS_MODEL = re.compile(
    r"(?:fix|debug|solve|repair|improve|optimi[sz]e|refactor|clean up|simplify|implement|design|write|add|generate"
    r"|document|translate|port|convert|migrate|upgrade|update|change|make|review|analy[sz]e|why|how)\b",
    re.IGNORECASE,
)
"""Requests that only a language model could carry out."""
NO_MODEL = (
    f"This is the demo without a language model. To set one up, run `{LOGIN}` or set `ANTHROPIC_API_KEY`, "
    "`OPENAI_API_KEY` or `GEMINI_API_KEY`."
)


def suggest(step: Step) -> str | None:
    """Return a similar request that works, if there is one. Requests about text in quotation marks are left
    out, because the text may be anything."""
    if isinstance(step, Unclear):
        return step.suggestion
    if not isinstance(step, Unknown):
        return None
    if NEEDS_MODEL.match(step.text):
        file = find_file(step.text)
        return (
            f"explain {file}" if file else "run the tests" if ASKS_TO_FIX.match(step.text) else "what is this project?"
        )
    return find_nearest(step.text)


def explain_miss(step: Unknown | Unclear, place: str = "", *, is_first: bool = True) -> str:
    """Explain that a request isn't understood, and suggest one that is. The first reply of a session also says how
    to set up a model."""
    if isinstance(step, Unclear):
        return (f"In {place}: " if place else "") + step.words
    suggestion = suggest(step)
    if NEEDS_MODEL.match(step.text):
        what = f"{place[:1].upper()}{place[1:]} takes a language model." if place else "That takes a language model."
        hint = (
            f" Try `{suggestion}` instead (or just say `yes`)." if suggestion else " Say `help` to see what I can do."
        )
    else:
        what = f"I don't understand {place}." if place else "I didn't get that."
        hint = (
            f" Try `{suggestion}` (or just say `yes`), or `help`."
            if suggestion
            else " Say `help` to see what I can do."
        )
    if place:  # yes would stand for one step of several
        hint = f" Try `{suggestion}`, or `help`." if suggestion else " Say `help` to see what I can do."
    return what + hint + (f"\n\n{NO_MODEL}" if is_first else "")
