"""The overview of all sessions, and what the terminal client publishes for it."""

from __future__ import annotations

from support.tui_driver import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.status.attention_list import AttentionList
from accord.status.entry import SessionStatus
from accord.status.publisher import Publisher
from accord.tui.screens.overview import OverviewScreen
from accord.tui.screens.picker import Picked


class Asking(Agent):
    async def prompt(self, turn: Turn) -> None:
        async with turn.tool("Run make test", kind="execute") as tool:
            if not await tool.permit():
                await tool.fail("no")
        await turn.say("ended")


def read_published(chat: Chat) -> list[SessionStatus]:
    chat.app.overview.publish()
    return AttentionList().read()


async def test_a_permission_request_is_published_with_its_question(opened: Opened) -> None:
    async with opened(Asking()) as chat:
        await chat.ready()
        assert [each.state for each in read_published(chat)] == ["idle"]
        await chat.send("test it")
        await chat.until("Permission needed")
        (status,) = read_published(chat)
        assert (status.state, status.why, status.cwd) == ("waiting", "Run make test", str(chat.app.host.cwd))
        await chat.until("number or")
        await chat.press("n")
        await chat.until("ended")
    assert [each for each in AttentionList().read() if each.state in ("waiting", "running")] == []


async def test_a_turn_that_ended_while_the_user_was_away_stays_in_the_list(opened: Opened) -> None:
    async with opened(Talking()) as chat:
        await chat.ready()
        chat.app.attention.set_focus(False)
        await chat.send("hello")
        await chat.until("You said")
        await chat.until(lambda: read_published(chat)[0].state == "finished")
        chat.app.attention.set_focus(True)
        assert read_published(chat)[0].state == "idle"
        chat.app.attention.set_focus(False)
        await chat.send("again")
        await chat.until(lambda: read_published(chat)[0].state == "finished")
    assert [each.state for each in AttentionList().read()] == ["finished"]


class Talking(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say("You said something")


async def test_the_overview_lists_the_sessions_of_other_clients(opened: Opened) -> None:
    other = Publisher()
    waiting = SessionStatus(id="other", agent="codex", cwd="/far", state="waiting", title="Deploy", why="Run deploy")
    other.publish([waiting])
    async with opened(Talking()) as chat:
        await chat.ready()
        await chat.send("hello")
        await chat.until("You said")
        await chat.app.run_action("status")
        await chat.until("Waiting for you")
        assert "Deploy  Run deploy" in chat.text
        await chat.press("enter")
        await chat.until(lambda: chat.is_notified("cd /far && accord chat codex --session other"))
    other.close()


async def test_choosing_a_session_of_this_client_shows_its_tab(opened: Opened) -> None:
    async with opened(Talking()) as chat:
        await chat.ready()
        first = chat.tab
        await chat.app.action_new_session()
        await chat.ready()
        await chat.until(lambda: len(read_published(chat)) == 2)
        await chat.app.run_action("status")
        await chat.until("All sessions")
        screen = chat.app.screen
        assert isinstance(screen, OverviewScreen)
        await chat.until(lambda: len(screen._known) == 2)
        screen.dismiss(Picked(next(id for id in screen._known if id.endswith(f"\0{first.controller.id}"))))
        await chat.until(lambda: chat.tab is first)
