"""Replies that need no tool: help, small talk and summaries."""

from __future__ import annotations

from accord.coder.offline import requests as r
from accord.coder.offline.help import LOGIN
from accord.coder.offline.replies import CAPABILITIES
from accord.coder.offline.script import Script, Situation
from accord.coder.offline.summary import summarize

TALK = {
    "hello": "Hi! This is the demo without a language model, so I only understand simple requests. Try "
    "`what is this project?`, or say `help`.",
    "thanks": "You're welcome.",
    "who": "I'm Accord's coding agent, running without a language model: same tools, but I only understand simple "
    f"requests. Say `help` to see them, or set up a model with `{LOGIN}`.",
    "stop": "Nothing is running.",
    "undo": "Type `/undo` to undo the file changes of the last turn.",
    "leave": "Type `/quit` or press Ctrl-C twice to leave. Your session is saved.",
    "yes": "There is nothing to confirm. Say `help` to see what I understand.",
}


def answer(step: r.Step, situation: Situation) -> Script[str]:
    yield from ()
    match step:
        case r.Help():
            return CAPABILITIES
        case r.Talk(about=about):
            return TALK[about]
        case r.Summarize():
            return summarize(situation.before)
        case r.Continue():
            return "There is nothing to continue."
        case _:
            raise AssertionError(step)
