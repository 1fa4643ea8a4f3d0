"""Tabs that come and go while agents take their time."""

from __future__ import annotations

import asyncio

import pytest
from chatting import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.tabs import seen


class SlowToClose(Agent):
    """Closes a session when it is told that it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_close = asyncio.Event()

    async def prompt(self, turn: Turn) -> None:
        await turn.say("yes")

    async def close_session(self, session: Session) -> None:
        await self.may_close.wait()


async def test_of_two_tabs_that_are_closed_at_once_one_stays(opened: Opened) -> None:
    agent = SlowToClose()
    async with opened(agent, versions=[2]) as chat:
        for _ in range(2):
            await chat.app.action_new_session()
            await chat.ready()
        for _ in range(4):
            chat.app.action_close_tab()
            await chat.pilot.pause()
        agent.may_close.set()
        await chat.until(lambda: len(chat.app.query("Pane")) == 1)
        assert chat.pane.display
        await chat.send("are you there?")
        await chat.until("yes")


async def test_what_happens_to_all_tabs_may_happen_while_one_is_made(opened: Opened) -> None:
    async with opened(ScriptedAgent([])) as chat:
        app, link = chat.app, chat.pane.talk.link
        app.preferences.follow = True
        making = asyncio.ensure_future(app.add_pane(link))
        while not making.done():
            link.progress = "half"
            app.keep_drafts()
            app.link_changed(link)
            app.take_settings()
            for pane in app.panes:
                assert pane.conversation.pictures is not None
            await asyncio.sleep(0)
        assert await making in app.panes


async def test_a_question_that_was_shown_in_another_sessions_tab_is_handed_on_when_that_closes(opened: Opened) -> None:
    class Asks(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say(f"allowed: {bool(await turn.permit('Do it', kind='edit'))}")

    async with opened(Asks(), versions=[2]) as chat:
        await chat.app.action_new_session()
        await chat.ready()
        agent = chat.pane.talk.link.agent
        assert agent is not None
        hidden = await agent.new_session()
        turn = hidden.prompt("go")
        await chat.until(lambda: any(pane.talk.asked for pane in chat.app.panes))
        (asking,) = (pane for pane in chat.app.panes if pane.talk.asked)
        (other,) = (pane for pane in chat.app.panes if pane is not asking)
        chat.app.show_pane(asking)
        chat.app.action_close_tab()
        await chat.until("Close the tab?")
        await chat.press("down", "enter")
        await chat.until(lambda: other.talk.asked)
        await chat.until("number or")
        await chat.press("y")
        await turn
        assert hidden.transcript.text == "allowed: True"


async def test_a_question_of_the_tab_itself_is_cancelled_when_that_closes(opened: Opened) -> None:
    answers: list[bool] = []

    class Asks(Agent):
        async def prompt(self, turn: Turn) -> None:
            answers.append(bool(await turn.permit("Do it", kind="edit")))

    async with opened(Asks()) as chat:
        await chat.app.action_new_session()
        await chat.ready()
        await chat.send("go")
        await chat.until("number or")
        chat.app.action_close_tab()
        await chat.until("Close the tab?")
        await chat.press("down", "enter")
        await chat.until(lambda: len(chat.app.panes) == 1)
        assert not chat.pane.talk.asked
        assert True not in answers


# -- more tabs than there is room for


class AsksInTime(Agent):
    """Asks as soon as it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_ask = asyncio.Event()

    async def prompt(self, turn: Turn) -> None:
        await self.may_ask.wait()
        await turn.permit("Do it", kind="edit")


async def with_tabs(chat: Chat, count: int) -> None:
    while len(chat.app.panes) < count:
        await chat.app.action_new_session()
        await chat.ready()


@pytest.mark.parametrize(
    ("active", "first", "expected"),
    [
        (0, 0, (0, 5)),
        (4, 0, (0, 5)),
        (5, 0, (1, 6)),  # no further than it must
        (4, 3, (3, 8)),  # one that is seen stays where it is
        (2, 3, (2, 7)),
        (11, 0, (7, 12)),
        (11, 11, (7, 12)),  # no room is wasted at the end
    ],
)
def test_the_tabs_around_the_active_one_are_seen(active: int, first: int, expected: tuple[int, int]) -> None:
    assert seen([13] * 12, active, first, 80) == expected


def test_all_tabs_are_seen_where_there_is_room() -> None:
    assert seen([13] * 6, 5, 3, 78) == (0, 6)


def test_a_tab_that_is_too_wide_is_seen_all_the_same() -> None:
    assert seen([13, 50, 13], 1, 0, 20) == (1, 2)


async def test_the_line_of_tabs_goes_to_the_tab_on_the_screen(opened: Opened) -> None:
    async with opened(ScriptedAgent([]), size=(80, 24)) as chat:
        await with_tabs(chat, 12)
        await chat.until(lambda: " 12 " in chat.lines[0])
        assert chat.lines[0].startswith("‹7 ")
        await chat.press("f8")
        await chat.until(lambda: chat.lines[0].startswith(" 1 "))
        assert chat.lines[0].endswith("7 ›")


async def test_a_question_beyond_the_end_of_the_line_is_marked_and_gone_to_by_a_key(opened: Opened) -> None:
    agent = AsksInTime()
    async with opened(agent, size=(80, 24)) as chat:
        await with_tabs(chat, 12)
        await chat.send("go")
        await chat.press("f8")
        agent.may_ask.set()
        await chat.until("? tab 12 waits (alt+t)")
        await chat.until(lambda: chat.lines[0].endswith("7?›"))
        await chat.press("alt+t")
        await chat.until("Permission needed")
        assert chat.pane is chat.app.panes[11]
        assert "alt+t" not in chat.text
        await chat.press("f8")
        await chat.pilot.click(chat.app.tabs, offset=(78, 0))
        await chat.until(lambda: chat.pane is chat.app.panes[11])
