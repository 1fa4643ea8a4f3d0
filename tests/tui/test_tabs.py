"""Opening and closing tabs while agents are slow."""

from __future__ import annotations

import asyncio

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.tabs import find_visible


class SlowToClose(Agent):
    """An agent that closes a session once released."""

    def __init__(self) -> None:
        super().__init__()
        self.may_close = asyncio.Event()

    async def prompt(self, turn: Turn) -> None:
        await turn.say("yes")

    async def close_session(self, session: Session) -> None:
        await self.may_close.wait()


async def test_closing_both_tabs_at_once_keeps_one_open(opened: Opened) -> None:
    agent = SlowToClose()
    async with opened(agent, versions=[2]) as chat:
        for _ in range(2):
            await chat.app.action_new_session()
            await chat.ready()
        for _ in range(4):
            chat.app.action_close_tab()
            await chat.pilot.pause()
        agent.may_close.set()
        await chat.until(lambda: len(chat.app.query("Tab")) == 1)
        assert chat.tab.display
        await chat.send("are you there?")
        await chat.until("yes")


async def test_an_event_for_all_tabs_may_arrive_before_a_tab_is_mounted(opened: Opened) -> None:
    async with opened(ScriptedAgent([])) as chat:
        app, process = chat.app, chat.tab.controller.process
        app.preferences.follow = True
        making = asyncio.ensure_future(app.tabs.add(process))
        while not making.done():
            process.progress = "half"
            app.saved.save_drafts()
            app.questions.process_changed(process)
            app.apply_preferences()
            for tab in app.tabs:
                assert tab.transcript_view.images is not None
            await asyncio.sleep(0)
        assert await making in app.tabs


async def test_closing_a_tab_moves_another_sessions_request_to_its_own_tab(opened: Opened) -> None:
    class Asks(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say(f"allowed: {bool(await turn.permit('Do it', kind='edit'))}")

    async with opened(Asks(), versions=[2]) as chat:
        await chat.app.action_new_session()
        await chat.ready()
        agent = chat.tab.controller.process.agent
        assert agent is not None
        hidden = await agent.new_session()
        turn = hidden.prompt("go")
        await chat.until(lambda: any(tab.controller.permissions for tab in chat.app.tabs))
        (asking,) = (tab for tab in chat.app.tabs if tab.controller.permissions)
        (other,) = (tab for tab in chat.app.tabs if tab is not asking)
        chat.app.tabs.show(asking)
        chat.app.action_close_tab()
        await chat.until("Close the tab?")
        await chat.press("down", "enter")
        await chat.until(lambda: other.controller.permissions)
        await chat.until("number or")
        await chat.press("y")
        await turn
        assert hidden.transcript.text == "allowed: True"


async def test_closing_a_tab_cancels_its_own_permission_request(opened: Opened) -> None:
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
        await chat.until(lambda: len(chat.app.tabs) == 1)
        assert not chat.tab.controller.permissions
        assert True not in answers


# -- more tabs than there is room for


class AsksInTime(Agent):
    """An agent that asks for permission once released."""

    def __init__(self) -> None:
        super().__init__()
        self.may_ask = asyncio.Event()

    async def prompt(self, turn: Turn) -> None:
        await self.may_ask.wait()
        await turn.permit("Do it", kind="edit")


async def with_tabs(chat: Chat, count: int) -> None:
    while len(chat.app.tabs) < count:
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
def test_the_tabs_around_the_active_one_are_visible(active: int, first: int, expected: tuple[int, int]) -> None:
    assert find_visible([13] * 12, active, first, 80) == expected


def test_all_tabs_are_visible_if_there_is_room() -> None:
    assert find_visible([13] * 6, 5, 3, 78) == (0, 6)


def test_a_tab_wider_than_the_bar_is_still_visible() -> None:
    assert find_visible([13, 50, 13], 1, 0, 20) == (1, 2)


def bar_of(chat: Chat) -> str:
    """Return the line with the tabs."""
    return chat.lines[chat.app.tabs.bar.region.y]


async def test_the_tab_bar_scrolls_to_the_active_tab(opened: Opened) -> None:
    async with opened(ScriptedAgent([]), size=(80, 24)) as chat:
        await with_tabs(chat, 12)
        await chat.until(lambda: " 12 " in bar_of(chat))
        assert bar_of(chat).startswith("‹7 ")
        await chat.press("f8")
        await chat.until(lambda: bar_of(chat).startswith(" 1 "))
        assert bar_of(chat).endswith("7 ›")


async def test_a_request_in_a_hidden_tab_is_marked_at_the_end_of_the_bar_and_reached_by_a_key(opened: Opened) -> None:
    agent = AsksInTime()
    async with opened(agent, size=(80, 24)) as chat:
        await with_tabs(chat, 12)
        await chat.send("go")
        await chat.press("f8")
        agent.may_ask.set()
        await chat.until("? tab 12 waits (alt+t)")
        await chat.until(lambda: bar_of(chat).endswith("7?›"))
        await chat.press("alt+t")
        await chat.until("Permission needed")
        assert chat.tab is chat.app.tabs[11]
        assert "alt+t" not in chat.text
        await chat.press("f8")
        await chat.pilot.click(chat.app.tabs.bar, offset=(78, 0))
        await chat.until(lambda: chat.tab is chat.app.tabs[11])
