"""The lines of subagents in a conversation whose history is told again."""

from __future__ import annotations

import pytest
from chatting import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.content import TextContent
from accord.model.session import Subagent
from accord.transcript.message import Message
from accord.transcript.transcript import Transcript
from accord.tui.children import add_line, add_lines
from accord.tui.conversation.subagent import Delegated
from accord.tui.opening import put_above


def order(transcript: Transcript) -> list[str]:
    """What stands in a transcript, from top to bottom."""
    return [
        item.child.session_id if isinstance(item, Delegated) else item.text if isinstance(item, Message) else "?"
        for item in transcript.timeline
    ]


def say(transcript: Transcript, text: str) -> None:
    transcript.add_message("agent", [TextContent(text)])


def test_each_line_stands_where_its_subagent_was_first_told_of() -> None:
    transcript = Transcript()
    transcript.patch_subagent("first")
    say(transcript, "hello")
    transcript.patch_subagent("second", state="running")
    transcript.patch_subagent("third")
    say(transcript, "well")
    transcript.patch_subagent("second", state="idle")
    add_lines(transcript)
    assert order(transcript) == ["first", "hello", "second", "third", "well"]
    add_lines(transcript)
    assert order(transcript) == ["first", "hello", "second", "third", "well"]


def test_a_line_is_there_though_what_stood_above_it_was_taken_back() -> None:
    transcript = Transcript()
    say(transcript, "hello")
    transcript.patch_subagent("child")
    del transcript.timeline[0]
    say(transcript, "well")
    add_lines(transcript)
    assert order(transcript) == ["well", "child"]


def test_what_an_earlier_session_told_goes_on_where_it_stands_and_what_is_new_stands_below() -> None:
    earlier = Transcript()
    say(earlier, "hello")
    earlier.patch_subagent("known", state="running")
    add_line(earlier, earlier.subagents["known"])
    say(earlier, "well")

    transcript = Transcript()
    transcript.patch_subagent("known", state="idle")
    transcript.patch_subagent("new")
    put_above(transcript, earlier)
    add_lines(transcript)
    add_line(transcript, transcript.subagents["known"])
    assert order(transcript) == ["hello", "known", "well", "new"]
    line = transcript.timeline[1]
    assert isinstance(line, Delegated)
    assert line.child is transcript.subagents["known"]


class Historian(Agent):
    """Opens sessions in which it had help."""

    unstable = True

    async def load_session(self, session: Session) -> None:
        await session.user_said("find it")
        await session.say("I let others look.")
        session.child(Subagent(session_id="child", title="A search", state="running"))
        await session.user_said("and?")
        await session.subagent(Subagent(session_id="child", title="A search", state="idle"))
        await session.say("They found it.")

    async def prompt(self, turn: Turn) -> None:
        await turn.session.subagent(Subagent(session_id="child", title="A search", state="running"))
        await turn.say("They look again.")


def said(chat: Chat) -> list[str]:
    lines = [line.partition("│")[0].strip(" ▌") for line in chat.lines]
    return [line for line in lines if line][: lines.count("They found it.") * 5]


@pytest.mark.parametrize("version", [1, 2])
async def test_the_subagents_of_a_session_that_is_loaded_stand_in_its_history(opened: Opened, version: int) -> None:
    async with opened(Historian(), first=("old", "load"), versions=[version]) as chat:
        await chat.until("They found it.")
        history = ["find it", "I let others look.", "✓ ⑂ A search  subagent, done", "and?", "They found it."]
        assert said(chat) == history
        await chat.send("again")
        await chat.until("They look again.")
        await chat.until("◐ ⑂ A search  subagent, running")
        assert sum("⑂ A search" in line for line in chat.lines) == 1
