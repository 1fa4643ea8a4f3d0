"""What is answered in words alone."""

from __future__ import annotations

from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import CAPABILITIES
from accord.coder.models.offline.forms import LOGIN, no_model
from accord.coder.models.offline.script import Script, Situation
from accord.coder.models.offline.summary import summary_of

TALK = {
    "hello": "Hello. I work without a language model, by a fixed grammar. Say `help` to see what I understand, "
    "for example `what is in this project`.",
    "thanks": "You are welcome.",
    "who": "I am Accord without a language model: the same agent with the same tools, but I understand only requests "
    f"of a fixed grammar. Say `help` to see them, or configure a language model with `{LOGIN}`.",
    "stop": "There is nothing running that I could stop. What was asked for before is left as it is.",
}


def answer(step: r.Step, situation: Situation) -> Script[str]:
    yield from ()
    match step:
        case r.Help():
            return CAPABILITIES
        case r.Talk(about=about):
            return TALK[about]
        case r.Summarise():
            return summary_of(situation.before)
        case r.Continue():
            return "There is nothing left to go on with."
        case r.Unclear(words=words):
            return words
        case r.Unknown(text=text):
            return no_model(text)
        case _:
            raise AssertionError(step)
