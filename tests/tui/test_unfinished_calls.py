"""Tool calls without a result: how they are shown once nothing can be working on them any more."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.session import Subagent
from accord.testing import ScriptedAgent
from accord.transcript.timing import Span
from accord.tui.theme import TextStyles
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.blocks.tool import ToolBlock


def dig(version: int, **fields: Any) -> dict[str, Any]:
    """Return a tool call update in the format of a protocol version."""
    kind = "tool_call_update" if version == 2 or "title" not in fields else "tool_call"
    return {"sessionUpdate": kind, "toolCallId": "dig", **fields}


class Careless(ScriptedAgent):
    """An agent that starts a tool call and never ends it; a test can end it instead."""

    unstable = True

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self.turns = 0

    async def prompt(self, turn: Turn) -> None:
        self.session = turn.session
        self.turns += 1
        if self.turns == 1:
            for version in (1, 2):
                await turn.session.update(version, dig(version, title="Dig", status="in_progress"))
        await turn.say(f"turn {self.turns} is over")

    async def tell(self, version: int, **fields: Any) -> None:
        assert self.session is not None
        await self.session.update(version, dig(version, **fields))


def line(chat: Chat, title: str = "Dig") -> str:
    """Return the line of a tool call, without the side panel."""
    found = next((each for each in chat.lines if f" {title}" in each), "")
    return found.partition("│")[0].strip()


def is_left(chat: Chat) -> bool:
    return line(chat).startswith("▸ ◇ • Dig") and line(chat).endswith("no result")


@pytest.mark.parametrize("version", [1, 2])
async def test_an_unfinished_call_is_not_shown_as_running_after_its_turn(opened: Opened, version: int) -> None:
    async with opened(Careless(), versions=[version]) as chat:
        await chat.send("go")
        await chat.until("turn 1 is over")
        await chat.until("● ready")
        await chat.until(lambda: is_left(chat))
        span = chat.tab.controller.spans["dig"]
        assert span.abandoned is not None
        assert span.seconds(span.abandoned + 1000) == span.seconds(span.abandoned)  # the clock stands
        assert not chat.tab.transcript_view.timeline_layout.blocks.get(1).ticks
        transcript = chat.tab.controller.transcript
        assert transcript is not None
        assert transcript.tool_calls["dig"].status == "in_progress"  # the transcript is unchanged


@pytest.mark.parametrize("version", [1, 2])
async def test_a_late_result_is_accepted(opened: Opened, version: int) -> None:
    agent = Careless()
    async with opened(agent, versions=[version]) as chat:
        await chat.send("go")
        await chat.until(lambda: is_left(chat))
        await agent.tell(version, status="completed")
        await chat.until("✓ • Dig")
        assert "no result" not in chat.text
        assert chat.tab.controller.spans["dig"].ended is not None


@pytest.mark.parametrize("version", [1, 2])
async def test_a_call_reported_as_running_stays_so_until_the_next_turn_ends(opened: Opened, version: int) -> None:
    agent = Careless()
    async with opened(agent, versions=[version]) as chat:
        await chat.send("go")
        await chat.until(lambda: is_left(chat))
        await agent.tell(version, status="in_progress")
        await chat.until("◐ • Dig")
        assert chat.tab.transcript_view.timeline_layout.blocks.get(1).ticks
        await chat.send("again")
        await chat.until("turn 2 is over")
        await chat.until(lambda: is_left(chat))


async def test_an_unfinished_call_of_an_earlier_turn_stays_unfinished_during_the_next_turn(opened: Opened) -> None:
    over = asyncio.Event()

    class Slow(Careless):
        async def prompt(self, turn: Turn) -> None:
            await super().prompt(turn)
            if self.turns == 2:
                await over.wait()

    async with opened(Slow()) as chat:
        await chat.send("go")
        await chat.until(lambda: is_left(chat))
        await chat.send("again")
        await chat.until("working")
        await chat.until("turn 2 is over")
        assert is_left(chat)
        over.set()


@pytest.mark.req("V2-STATE-09", "V2-TOOL-10")
async def test_a_call_listed_as_background_work_continues(opened: Opened) -> None:
    agent = Careless()
    listed = {
        "sessionUpdate": "state_update",
        "state": "idle",
        "background": [{"type": "tool_call", "toolCallId": "dig"}],
    }

    async with opened(agent, versions=[2]) as chat:
        await chat.send("go")
        await chat.until(lambda: is_left(chat))
        assert agent.session is not None
        await agent.session.update(2, listed)
        await chat.until("◐ • Dig")
        await chat.until("1 in background")
        assert chat.tab.controller.spans["dig"].abandoned is None
        await agent.session.update(2, {**listed, "background": []})
        await chat.until(lambda: is_left(chat))


async def test_a_call_continues_while_its_command_runs(opened: Opened, folders: Path) -> None:
    wait = (
        "import pathlib, time\nprint('digging', flush=True)\nwhile not pathlib.Path('end').exists(): time.sleep(0.01)"
    )
    kept: list[Any] = []

    async def run(turn: Turn) -> None:
        terminal = await turn.terminals.create(sys.executable, ["-I", "-S", "-c", wait])
        kept.append(terminal)
        shown = [{"type": "terminal", "terminalId": terminal.id}]
        await turn.session.update(1, dig(1, title="Dig", status="in_progress", content=shown))

    async with opened(ScriptedAgent([run])) as chat:
        await chat.send("go")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("● ready")
        await chat.until("digging")
        assert line(chat).startswith("▸ ◐ • Dig")
        await chat.until("1 in background (alt+a)")  # although an agent of version 1 can't list it
        (folders / "end").touch()
        await chat.until(lambda: is_left(chat))
        await chat.gone("in background")


async def test_no_call_is_running_after_the_agent_exited(opened: Opened) -> None:
    class Leaving(Careless):
        async def prompt(self, turn: Turn) -> None:
            await super().prompt(turn)
            turn.session.child(Subagent(session_id="child", title="Mole", state="running"))
            listed = [{"type": "tool_call", "toolCallId": "dig"}, {"type": "subagent", "sessionId": "child"}]
            await turn.session.update(2, {"sessionUpdate": "state_update", "state": "running", "background": listed})
            await asyncio.Event().wait()

    async with opened(Leaving, versions=[2]) as chat:
        await chat.send("go")
        await chat.until("2 in background")
        agent = chat.tab.controller.process.agent
        assert agent is not None
        await agent.connection.transport.close()
        await chat.until("The agent has exited")
        await chat.until(lambda: is_left(chat))
        await chat.until("◇ ↳ Mole  subagent, no result")
        assert "in background" not in chat.text
        await chat.press("ctrl+r")  # its messages are above the new session
        await chat.until("New session")
        assert is_left(chat)
        await chat.until("◇ ↳ Mole  subagent, no result")


class Historian(ScriptedAgent):
    """An agent whose session history has an unfinished call."""

    async def load_session(self, session: Session) -> None:
        await session.user_said("dig")
        for version in (1, 2):
            await session.update(version, dig(version, title="Dig", status="in_progress"))
        await session.say("I dug.")


@pytest.mark.parametrize("version", [1, 2])
async def test_an_unfinished_call_of_a_replayed_history_has_no_result(opened: Opened, version: int) -> None:
    async with opened(Historian(), first=("old", "load"), versions=[version]) as chat:
        await chat.until("I dug.")
        assert is_left(chat)


async def test_a_subagents_unfinished_call_has_no_result_when_the_subagent_ends(opened: Opened) -> None:
    over = asyncio.Event()

    class Delegating(ScriptedAgent):
        unstable = True

    async def delegate(turn: Turn) -> None:
        child = turn.session.child(Subagent(session_id="child", title="Mole", state="running"))
        await child.update(1, dig(1, title="Dig", status="in_progress"))
        await over.wait()
        await turn.session.subagent(Subagent(session_id="child", state="idle"))
        await asyncio.Event().wait()

    async with opened(Delegating([delegate])) as chat:
        await chat.send("go")
        await chat.until("subagent, running")
        chat.tab.work.open_subagent("child")
        await chat.until("◐ • Dig")
        over.set()
        await chat.until(lambda: is_left(chat))


async def test_an_unanswered_call_has_no_result_when_the_turn_ends(opened: Opened) -> None:
    over = asyncio.Event()

    class Hasty(Careless):
        async def prompt(self, turn: Turn) -> None:
            asking = asyncio.ensure_future(turn.tool("Dig", id="dig").permit())
            await over.wait()
            asking.cancel()
            await turn.session.update(1, dig(1, status="in_progress"))

    async with opened(Hasty()) as chat:
        await chat.send("go")
        await chat.until("waiting for you")
        over.set()
        await chat.until("● ready")
        await chat.until(lambda: is_left(chat))


# -- how it is drawn


def draw_line(text_styles: TextStyles, *, names_speakers: bool = False, is_open: bool | None = None) -> list[str]:
    from accord.model.tool import ToolCall

    call = ToolCall(id="dig", title="Dig", status="in_progress")
    spans = {"dig": Span(0.0, abandoned=7.0)}
    context = BlockContext(
        text_styles, 60, spans=spans, now=lambda: 5000.0, is_unfinished=lambda item: True, names_speakers=names_speakers
    )
    return [re.sub(" +", " ", each.text).strip() for each in ToolBlock(call, context, is_open).lines]


def test_a_call_without_a_result_shows_a_mark_a_label_and_its_duration(text_styles: TextStyles) -> None:
    assert draw_line(text_styles) == ["▸ ◇ • Dig 7.0s, no result"]
    assert draw_line(text_styles, is_open=True)[1] == "│ other, no result"


def test_screen_readers_get_the_label_of_a_call_without_a_result(text_styles: TextStyles) -> None:
    assert draw_line(text_styles, names_speakers=True) == ["Tool, no result: Dig 7.0s"]
