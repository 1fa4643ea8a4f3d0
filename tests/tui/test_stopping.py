"""Stopping one thing alone: tool calls, commands and subagents; what goes on in the background; what is in the log."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from chatting import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.session import Subagent
from accord.showcase.showcase import Showcase
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent


async def selected(chat: Chat, title: str) -> None:
    """Selects the tool call, or the subagent, of this title."""
    await chat.until(title)
    await chat.press("tab")
    await chat.until(lambda: chat.pane.conversation.has_focus)
    for _ in range(20):
        if any(title in line and line.lstrip().startswith("▐") for line in chat.lines):
            return
        await chat.press("up")
    raise AssertionError(f"{title} cannot be selected:\n{chat.text}")


def noted(chat: Chat) -> list[str]:
    """What the user is told in passing, from now on."""
    told: list[str] = []
    chat.app.notify = lambda words, **how: told.append(words)  # type: ignore[method-assign, assignment]
    return told


@pytest.mark.req("V2-CANCEL-19", "V2-CANCEL-23")
async def test_x_stops_a_tool_call_that_offers_it_and_the_turn_goes_on(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2]) as chat:
        await chat.send("/v2-cancel")
        await selected(chat, "Count to a million")
        await chat.until("x stops it")
        await chat.press("x")
        await chat.until("The tool call was cancelled; the turn goes on.")
        await chat.until("⊘ ❯ Count to a million")
        await chat.gone("x stops it")


async def test_a_call_that_offers_nothing_is_left_alone_and_no_hint_is_shown(opened: Opened) -> None:
    sent: list[str] = []

    class Busy(Agent):
        async def prompt(self, turn: Turn) -> None:
            async with turn.tool("Think hard", kind="think"):
                await asyncio.Event().wait()

        async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
            sent.append(tool_call_id)

    async with opened(Busy(), versions=[2]) as chat:
        told = noted(chat)
        await chat.send("go")
        await selected(chat, "Think hard")
        assert "x stops" not in chat.text
        await chat.press("x")
        await chat.until(lambda: told)
        assert told == ["This cannot be stopped alone; esc stops the whole turn."]
        assert not sent


@pytest.mark.req("V2-CANCEL-21", "V2-STATE-12")
async def test_work_in_the_background_is_seen_and_stopped_while_the_session_is_idle(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2]) as chat:
        await chat.send("/v2-background 600")
        await chat.until("This turn ends")
        await chat.until("● ready  1 in background")
        await chat.until("still here (1)")
        await chat.until("At work (alt+a)")
        await chat.press("alt+a")
        await chat.until("showcase --watch")
        await chat.until("command, running, in the background")
        await chat.press("f8")
        await chat.until("The terminal was stopped.")
        await chat.gone("1 in background")


async def test_a_command_that_goes_on_is_stopped_at_its_finished_tool_call(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2], size=(80, 30)) as chat:
        await chat.send("/v2-background 600")
        await chat.until("1 in background")
        await selected(chat, "Start something that goes on")
        await chat.until("x stops this command")
        await chat.press("x")
        await chat.until("The terminal was stopped.")


async def test_enter_in_the_list_goes_to_the_tool_call(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2], size=(80, 30)) as chat:
        await chat.send("/v2-background 600")
        await chat.until("1 in background")
        await chat.press("alt+a")
        await chat.until("showcase --watch")
        await chat.press("enter")
        await chat.until("x stops this command")
        assert chat.pane.conversation.has_focus
        await chat.press("x")
        await chat.until("The terminal was stopped.")


@pytest.mark.req("V2-STATE-12")
async def test_work_of_an_unknown_kind_is_counted_and_a_subagent_listed_once(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        session = turn.session
        session.child(Subagent(session_id="child", title="Finder", state="running"))
        listed = [{"type": "subagent", "sessionId": "child"}, {"type": "_cloud/job", "job": 7}]
        await session.update(2, {"sessionUpdate": "state_update", "state": "running", "background": listed})
        await asyncio.Event().wait()

    async with opened(Delegating([delegate]), versions=[2]) as chat:
        told = noted(chat)
        await chat.send("go")
        await chat.until("2 in background (alt+a)")
        await chat.press("alt+a")
        await chat.until("type to search")
        rows = [line for line in chat.lines if "in the background" in line]
        assert len(rows) == 2
        assert "Finder" in rows[0] and "cloud/job" in rows[1]
        await chat.press("down", "f8")
        await chat.until(lambda: told)
        assert told == ["cloud/job cannot be stopped alone."]


async def test_nothing_at_work_is_told(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        told = noted(chat)
        await chat.press("alt+a")
        await chat.until(lambda: told)
        assert told == ["Nothing goes on beside this conversation."]


# -- commands that we run


WAITS = "import time; print('waiting', flush=True); time.sleep(600)"


def running(script: str, ended: list[object]) -> ScriptedAgent:
    async def run(turn: Turn) -> None:
        async with (
            turn.tool("Run it", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-I", "-S", "-c", script]) as terminal,
        ):
            await tool.show(terminal)
            ended.append(await terminal.wait())
        await turn.say("it has ended")

    return ScriptedAgent([run])


async def allowed(chat: Chat) -> None:
    """Sends a prompt, and allows the command that follows."""
    await chat.send("go")
    await chat.until("number or")
    await chat.press("y")


async def test_x_ends_a_command_that_we_run_and_the_agent_hears_how(opened: Opened) -> None:
    ended: list[object] = []
    async with opened(running(WAITS, ended)) as chat:
        await allowed(chat)
        await chat.until("waiting")
        await selected(chat, "Run it")
        await chat.until("x stops this command")
        await chat.press("x")
        await chat.until("it has ended")
        assert getattr(ended[0], "signal", None) == "SIGTERM"


async def test_what_a_command_prints_is_drawn_as_it_comes_and_not_when_a_second_has_passed(
    opened: Opened, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.frame.Frame._tick", lambda frame: None)  # whatever is seen now was told
    script = (
        "import pathlib, time\n"
        "for number in range(1, 4):\n"
        "    print('step', number, flush=True)\n"
        "    while not pathlib.Path(f'go{number}').exists(): time.sleep(0.01)\n"
    )
    async with opened(running(script, [])) as chat:
        await allowed(chat)
        for number in range(1, 4):
            await chat.until(f"step {number}")
            (folders / f"go{number}").touch()
        await chat.until("it has ended")


async def test_much_output_is_counted_though_only_its_end_is_drawn(opened: Opened) -> None:
    script = "for number in range(100_000): print('line', number)\nimport time; print(flush=True); time.sleep(600)"
    async with opened(running(script, [])) as chat:
        await allowed(chat)
        await chat.until("line 99999")
        await chat.press("tab", "enter")
        await chat.until(lambda: chat.pane.conversation.layout_of.block(1).size > 300)
        lines = [line.text for line in chat.pane.conversation.layout_of.lines(1)]
        assert any("⋯ 99600 lines before" in line for line in lines)
        await chat.press("escape", "escape")  # to the prompt, and there it stops the turn
        await chat.until("Cancelled")


# -- subagents


async def test_a_subagent_has_a_line_and_its_conversation_opens_in_a_tab(opened: Opened) -> None:
    async with opened(Showcase(), versions=[2]) as chat:
        await chat.send("/subagent 600")
        await selected(chat, "A search")
        await chat.until("subagent, running")
        await chat.until("enter shows what it says · x stops the subagent")
        await chat.press("enter")
        await chat.until(lambda: len(chat.app.panes) == 2)
        await chat.until("I look for it.")
        assert chat.pane.talk.title == "A search"
        assert chat.pane.talk.state == "running"
        await chat.until("Search everywhere")
        assert "/ lists the agent's commands" not in chat.text  # it takes no prompts
        await chat.press("f7")
        await chat.press("tab", "x")
        await chat.until("The child was cancelled.")
        await chat.until("subagent, done")
        await chat.press("f8")
        await chat.until("That was that.")
        assert chat.pane.talk.state == "idle"


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
        told = noted(chat)
        await chat.send("/subagent 600")
        await chat.until("A search")
        await chat.press("alt+a")
        await chat.until("subagent, running")
        await chat.press("enter")
        await chat.until("I look for it.")
        await chat.send("do something else")
        await chat.until(lambda: told)
        assert told == ["This is a subagent's session: it takes no prompts from you."]
        assert chat.pane.editor.text == "do something else"
        chat.pane.editor.set_text("")
        await chat.press("escape")
        await chat.until("That was that.")
        await chat.press("f9")
        await chat.until("The child was cancelled.")
        assert len(chat.app.panes) == 1


async def test_a_subagent_that_cannot_be_stopped_is_not_and_says_so(opened: Opened) -> None:
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
        told = noted(chat)
        await chat.send("go")
        await selected(chat, "Stubborn")
        await chat.until("enter shows what it says")
        assert "x stops" not in chat.text
        await chat.press("enter")
        await chat.until("I go on.")
        await chat.press("escape")
        await chat.until(lambda: told)
        assert "cannot be cancelled on its own" in told[0]
        over.set()
        await chat.press("f7")
        await chat.until("subagent, refusal")


async def test_a_subagent_of_which_nothing_was_heard_is_not_opened_and_why_is_told(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        turn.session.child(Subagent(session_id="child", title="Silent", state="running"))
        await turn.say("it works")

    async with opened(Delegating([delegate])) as chat:
        told = noted(chat)
        await chat.send("go")
        await selected(chat, "Silent")
        await chat.press("enter")
        await chat.until(lambda: told)
        assert told == ["It has said nothing yet, and this agent does not load sessions."]
        assert len(chat.app.panes) == 1


async def test_what_a_subagent_said_before_is_loaded_where_its_agent_kept_it(opened: Opened) -> None:
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
        await chat.until(lambda: len(chat.app.panes) == 2 and chat.pane.talk.session is not None)
        await chat.press("f7", "f9")
        await chat.until(lambda: len(chat.app.panes) == 1)
        await chat.send("go")
        await selected(chat, "Early bird")
        assert "I was there before you." not in chat.text
        await chat.press("enter")
        await chat.until("I was there before you.")
        assert chat.pane.talk.title == "Early bird"
        await chat.until("a subagent")


def letter(id: str, sender: str, recipient: str, words: str) -> dict[str, object]:
    return {
        "sessionUpdate": "session_message",
        "messageId": id,
        "senderSessionId": sender,
        "recipientSessionId": recipient,
        "content": [{"type": "text", "text": words}],
    }


@pytest.mark.req("V1-SUBAG-08")
async def test_what_an_agent_and_its_subagent_write_to_each_other_is_shown(opened: Opened) -> None:
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


async def test_what_a_subagent_asks_is_asked_where_its_work_is_shown_and_it_ends_with_its_agent(opened: Opened) -> None:
    class Delegating(ScriptedAgent):
        unstable = True

        async def prompt(self, turn: Turn) -> None:
            child = turn.session.child(Subagent(session_id="child", title="Finder", state="running"))
            await child.say("I look for it.")

    async with opened(Delegating) as chat:
        told = noted(chat)
        first, link = chat.pane, chat.pane.talk.link
        await chat.press("ctrl+t")
        await chat.until(lambda: chat.pane is not first and chat.pane.talk.session is not None)
        second = chat.pane
        await chat.send("go")
        await selected(chat, "Finder")
        assert chat.app.pane_of(link, "child") is second
        await chat.press("enter")
        await chat.until("I look for it.")
        third = chat.pane
        assert chat.app.pane_of(link, "child") is third
        assert link.agent is not None
        await link.agent.connection.transport.close()
        await chat.until(lambda: third.talk.state == "gone")
        await chat.press("ctrl+r")
        await chat.until(lambda: any("A subagent ends with" in words for words in told))
        assert "I look for it." in chat.text
        await chat.until(lambda: second.talk.state == "idle")
        await chat.press("f9")
        await chat.until(lambda: len(chat.app.panes) == 2)


# -- what is not known here


async def test_updates_that_nobody_knows_are_counted_and_the_log_shows_which(opened: Opened) -> None:
    async def strange(turn: Turn) -> None:
        for number in (1, 2):
            await turn.session.update(1, {"sessionUpdate": "_strange/thing", "number": number})
        await turn.say("still here")

    async with opened(ScriptedAgent([strange])) as chat:
        await chat.send("go")
        await chat.until("2 updates not known here")
        await chat.press("ctrl+l")
        await chat.until("Log of memory: everything")
        await chat.press("f9")
        await chat.until("updates that are not known here")
        await chat.until(lambda: len([line for line in chat.lines if "? " in line and "_strange/thing" in line]) == 2)
        assert not any("←" in line for line in chat.lines)


async def test_in_a_narrow_window_the_status_line_counts_unknown_updates(opened: Opened) -> None:
    async def strange(turn: Turn) -> None:
        await turn.session.update(1, {"sessionUpdate": "_strange/thing"})
        await turn.say("still here")

    async with opened(ScriptedAgent([strange]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("1 update not known")


async def test_many_subagents_leave_room_in_the_side_panel_and_those_at_work_come_first(opened: Opened) -> None:
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
