"""Subagents: their line in the transcript, their tab, and their permission requests."""

from __future__ import annotations

import asyncio

import pytest
from support.tui_driver import Opened, collect_notifications, select_item

from accord.agent.turn import Turn
from accord.model.session import Subagent
from accord.showcase.agent import Showcase
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent


async def test_a_subagent_has_a_line_and_its_conversation_opens_in_a_tab(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2]) as chat:
        await chat.send("/subagent 600")
        await select_item(chat, "A search")
        await chat.until("subagent, running")
        await chat.until("enter opens its session · x stop the subagent")
        await chat.press("enter")
        await chat.until(lambda: len(chat.app.tabs) == 2)
        await chat.until("Searching for it.")
        assert chat.tab.controller.title == "A search"
        assert chat.tab.controller.state == "running"
        await chat.until("Search everywhere")
        assert "/ commands" not in chat.text  # it takes no prompts
        await chat.press("f7")
        await chat.press("tab", "x")
        await chat.until("The child was cancelled.")
        await chat.until("subagent, done")
        await chat.press("f8")
        await chat.until("The search is complete.")
        assert chat.tab.controller.state == "idle"


@pytest.mark.parametrize(("version", "how"), [(1, "done"), (2, "cancelled")])  # version 1 tells no reasons
async def test_a_subagent_ends_with_the_turn_that_is_stopped(opened: Opened, version: int, how: str) -> None:
    async with opened(Showcase(), versions=[version]) as chat:
        await chat.send("/subagent 600")
        await chat.until("subagent, running")
        await chat.press("escape")
        await chat.until(f"subagent, {how}")
        await chat.until("● ready")


@pytest.mark.req("V1-SUBAG-03", "V1-SUBAG-04", "V2-SUBAG-03")
@pytest.mark.parametrize("version", [1, 2])
async def test_a_subagent_is_watched_takes_no_prompts_and_is_stopped_in_its_tab(opened: Opened, version: int) -> None:
    async with opened(Showcase(), versions=[version]) as chat:
        told = collect_notifications(chat)
        await chat.send("/subagent 600")
        await chat.until("A search")
        await chat.press("alt+a")
        await chat.until("subagent, running")
        await chat.press("enter")
        await chat.until("Searching for it.")
        await chat.send("do something else")
        await chat.until(lambda: told)
        assert told == ["This is a subagent's session: it takes no prompts from you."]
        assert chat.tab.editor.text == "do something else"
        chat.tab.editor.set_text("")
        await chat.press("escape")
        await chat.until("The search is complete.")
        await chat.press("f9")
        await chat.until("The child was cancelled.")
        assert len(chat.app.tabs) == 1


async def test_stopping_a_subagent_that_cannot_be_stopped_shows_a_message(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    over = asyncio.Event()

    async def delegate(turn: Turn) -> None:
        child = turn.session.child(Subagent(session_id="child", title="Stubborn", state="running"))
        await child.say("I go on.")
        await over.wait()
        await turn.session.subagent(Subagent(session_id="child", state="idle", stop_reason="refusal"))
        await turn.say("so it is")

    async with opened(Delegating([delegate]), versions=[2]) as chat:
        told = collect_notifications(chat)
        await chat.send("go")
        await select_item(chat, "Stubborn")
        await chat.until("enter opens its session")
        assert "x stop" not in chat.text
        await chat.press("enter")
        await chat.until("I go on.")
        await chat.press("escape")
        await chat.until(lambda: told)
        assert "cannot be cancelled on its own" in told[0]
        over.set()
        await chat.press("f7")
        await chat.until("subagent, refusal")


async def test_a_subagent_without_messages_is_not_opened_and_a_notice_explains_why(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        turn.session.child(Subagent(session_id="child", title="Silent", state="running"))
        await turn.say("it works")

    async with opened(Delegating([delegate])) as chat:
        told = collect_notifications(chat)
        await chat.send("go")
        await select_item(chat, "Silent")
        await chat.press("enter")
        await chat.until(lambda: told)
        assert told == ["It has no messages yet, and this agent can't load sessions."]
        assert len(chat.app.tabs) == 1


async def test_earlier_messages_of_a_subagent_are_loaded_if_its_agent_saved_them(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

        def __init__(self) -> None:
            super().__init__()
            self.store = MemoryStore()
            self.first = ""

        async def prompt(self, turn: Turn) -> None:
            if not self.first:
                self.first = turn.session.id
                await turn.say("I was there before you.")
            else:
                turn.session.child(Subagent(session_id=self.first, title="Early bird", state="idle"))
                await turn.say("look at it")

    async with opened(Delegating()) as chat:
        await chat.send("go")
        await chat.until("I was there before you.")
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2 and chat.tab.controller.session is not None)
        await chat.press("f7", "f9")
        await chat.until(lambda: len(chat.app.tabs) == 1)
        await chat.send("go")
        await select_item(chat, "Early bird")
        assert "I was there before you." not in chat.text
        await chat.press("enter")
        await chat.until("I was there before you.")
        assert chat.tab.controller.title == "Early bird"
        await chat.until("of this session")


def letter(id: str, sender: str, recipient: str, words: str) -> dict[str, object]:
    return {
        "sessionUpdate": "session_message",
        "messageId": id,
        "senderSessionId": sender,
        "recipientSessionId": recipient,
        "content": [{"type": "text", "text": words}],
    }


@pytest.mark.req("V1-SUBAG-08")
async def test_messages_between_an_agent_and_its_subagent_are_shown(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        session = turn.session
        session.child(Subagent(session_id="child", title="Finder", state="running"))
        await session.update(1, letter("a", session.id, "child", "Find the key"))
        await session.update(1, letter("b", "child", session.id, "It is not there"))
        await session.update(1, letter("b", "child", session.id, "It is under the mat"))
        await turn.say("found")

    async with opened(Delegating([delegate])) as chat:
        await chat.send("go")
        await chat.until("→ Find the key")
        await chat.until("← It is under the mat")
        assert "It is not there" not in chat.text


async def test_a_subagents_request_is_shown_in_its_tab_and_ends_with_its_agent(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

        async def prompt(self, turn: Turn) -> None:
            child = turn.session.child(Subagent(session_id="child", title="Finder", state="running"))
            await child.say("Searching for it.")

    async with opened(Delegating) as chat:
        told = collect_notifications(chat)
        first, process = chat.tab, chat.tab.controller.process
        await chat.press("ctrl+t")
        await chat.until(lambda: chat.tab is not first and chat.tab.controller.session is not None)
        second = chat.tab
        await chat.send("go")
        await select_item(chat, "Finder")
        assert chat.app.tabs.find(process, "child") is second
        await chat.press("enter")
        await chat.until("Searching for it.")
        third = chat.tab
        assert chat.app.tabs.find(process, "child") is third
        assert process.agent is not None
        await process.agent.connection.transport.close()
        await chat.until(lambda: third.controller.state == "gone")
        await chat.press("ctrl+r")
        await chat.until(lambda: any("A subagent ends with" in words for words in told))
        assert "Searching for it." in chat.text
        await chat.until(lambda: second.controller.state == "idle")
        await chat.press("f9")
        await chat.until(lambda: len(chat.app.tabs) == 2)


async def test_many_subagents_leave_room_in_the_side_panel_and_running_ones_come_first(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        for number in range(20):
            state = "running" if number == 3 else "idle"
            turn.session.child(Subagent(session_id=f"child{number}", title=f"Helper {number}", state=state))
        await turn.say("delegated")

    async with opened(Delegating([delegate]), size=(120, 60)) as chat:
        await chat.send("go")
        await chat.until("and 12 more")
        listed = [line.rpartition("│")[2].strip() for line in chat.lines if "Helper" in line.rpartition("│")[2]]
        assert listed[0] == "◐ Helper 3  running"
        assert listed[1] == "✓ Helper 19  done"
