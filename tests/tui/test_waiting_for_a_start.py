"""Agents that take long to start, or hang: it is said for how long, which keys help, and they help at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from chatting import PATIENCE, Chat, Launched, Memory

from accord import Agent, AgentSession, Turn
from accord.testing import ScriptedAgent
from accord.transports.memory import pair
from accord.tui.app import AccordApp

STEPS = ["initialize", "session/new"]


class Deaf(Agent):
    """Never has a session ready."""

    async def new_session(self, session: AgentSession) -> None:
        await asyncio.Event().wait()

    async def prompt(self, turn: Turn) -> None:
        return


class Silent(Launched):
    """Says nothing at all."""

    def __init__(self, killed: list[str]) -> None:
        super().__init__("silent", ScriptedAgent([]))
        self.killed = killed

        async def start() -> Any:
            ours, self.theirs = pair()
            return ours

        self.target: Any = start

    def kill(self) -> None:
        self.killed.append(self.name)


class Hanging(Memory):
    """Starts an agent that hangs at a step."""

    def __init__(self, cwd: Path, step: str) -> None:
        super().__init__(cwd, Deaf(), frozenset([1]))
        self.step = step
        self.killed: list[str] = []

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        if self.step == "initialize":
            return Silent(self.killed)
        launched = super().launch(target, on_stderr, progress)
        launched.kill = lambda: self.killed.append(launched.name)
        return launched


@asynccontextmanager
async def hung(folders: Path, step: str) -> AsyncIterator[tuple[Chat, Hanging]]:
    outside = Hanging(folders, step)
    app = AccordApp(outside)  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.until(lambda: chat.pane.talk.state == ("starting" if step == "initialize" else "opening"))
        yield chat, outside


@pytest.mark.parametrize("step", STEPS)
async def test_a_start_that_takes_long_says_for_how_long_and_which_keys_help(
    folders: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.beginning.SLOW", 0.5)
    async with hung(folders, step) as (chat, _):
        assert "esc ends it" not in chat.lines[-1]
        await chat.send("a prompt that waits")
        await chat.until("esc ends it · ctrl+l what it printed")
        await chat.until("has not answered" if step == "initialize" else "has not opened a session")
        await chat.until(lambda: "1. a prompt that waits" in chat.text)
        await chat.until(lambda: any(f"{seconds}s" in chat.lines[-1] for seconds in range(1, 60)))


@pytest.mark.parametrize("key", ["escape", "f12"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_start_is_ended_at_once_and_what_waits_for_it_stays(
    folders: Path, step: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.pane.HASTY", 0.0)
    async with hung(folders, step) as (chat, outside):
        await chat.send("a prompt that waits")
        await chat.press(key)
        await chat.until("You ended it before")
        await chat.until("ctrl+r")
        assert outside.killed
        assert [prompt.text for prompt in chat.pane.talk.queue] == ["a prompt that waits"]
        monkeypatch.setattr("accord.tui.beginning.SLOW", 0.5)
        await chat.press("ctrl+r")
        await chat.gone("You ended it before")
        await chat.until("Starting ")
        await chat.until("esc ends it · ctrl+l what it printed")


async def test_escape_in_the_first_moment_ends_no_start(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.tui.pane.HASTY", PATIENCE)
    async with hung(folders, "initialize") as (chat, outside):
        await chat.press("escape")
        assert chat.pane.talk.state == "starting" and not outside.killed


class Stuck(Memory):
    """An installation that does not even ask whether it should go on."""

    def __init__(self, cwd: Path) -> None:
        super().__init__(cwd, ScriptedAgent([]), frozenset([1]))
        self.may_go_on = threading.Event()

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        progress("installing slow 1.0", 0, 0)
        assert self.may_go_on.wait(PATIENCE)
        return super().launch(target, on_stderr, progress)


async def test_an_installation_that_hangs_is_left_at_once(folders: Path) -> None:
    outside = Stuck(folders)
    app = AccordApp(outside, "slow")  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.until("slow is installed first: installing slow 1.0")
        await chat.press("escape")
        await chat.until("You ended it before it was installed.")
        assert not outside.may_go_on.is_set()
    outside.may_go_on.set()


async def test_an_agent_that_was_chosen_on_the_start_page_is_named_at_once(folders: Path) -> None:
    outside = Stuck(folders)
    app = AccordApp(outside, is_undecided=True)  # type: ignore[arg-type]
    try:
        async with app.run_test(size=(100, 30)) as pilot:
            chat = Chat(app, pilot)
            await chat.until("enter chooses")
            await chat.type("some agent")
            await chat.press("enter")
            await chat.until("some agent is installed first: installing slow 1.0")
            assert "No agent was chosen yet" not in chat.text and "no agent yet" not in chat.text
    finally:
        outside.may_go_on.set()


async def test_escape_in_the_conversation_goes_back_to_the_prompt_and_the_turn_goes_on(folders: Path) -> None:
    class Busy(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say("I am at it.")
            await asyncio.Event().wait()

    app = AccordApp(Memory(folders, Busy(), frozenset([1])))  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.send("work")
        await chat.until("I am at it.")
        await chat.press("tab")
        await chat.until(lambda: chat.pane.conversation.has_focus)
        await chat.until("esc twice stops")
        await chat.press("escape")
        await chat.until(lambda: chat.pane.editor.has_focus)
        assert chat.pane.talk.state == "running" and not chat.pane.talk.is_cancelling
        await chat.press("escape")
        await chat.until("Cancelled")
