"""Replies that need no tool: help, small talk, summaries and unclear requests."""

from __future__ import annotations

from accord.coder.offline import requests as r
from accord.coder.offline.help import LOGIN, explain_no_model
from accord.coder.offline.replies import CAPABILITIES
from accord.coder.offline.script import Script, Situation
from accord.coder.offline.summary import summarize

TALK = {
    "hello": "Hello. No language model is configured, so I only understand a fixed set of requests. Say `help` "
    "to see them, or try `what is in this project`.",
    "thanks": "You're welcome.",
    "who": "I'm Accord without a language model: the same agent with the same tools, but I only understand a fixed set "
    f"of requests. Say `help` to see them, or configure a language model with `{LOGIN}`.",
    "stop": "Nothing is running. The previous request is left as it is.",
}


def answer(step: r.Step, situation: Situation) -> Script[str]:
    yield from ()
    match step:
        case r.Help():
            return CAPABILITIES
        case r.Talk(about=about):
            return TALK[about]
        case r.Summarise():
            return summarize(situation.before)
        case r.Continue():
            return "There is nothing to continue."
        case r.Unclear(words=words):
            return words
        case r.Unknown(text=text):
            return explain_no_model(text)
        case _:
            raise AssertionError(step)
