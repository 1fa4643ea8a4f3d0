"""Agents that start slowly or hang: the client shows for how long and which keys help."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import TIMEOUT_SECONDS, Chat, Launched, Memory, Opened

from accord import Agent, AgentSession, AuthMethod, AuthRequired, Turn
from accord.testing import ScriptedAgent
from accord.transports.memory import pair
from accord.tui.app import AccordApp

STEPS = ["initialize", "session/new"]


class Deaf(Agent):
    """An agent that never opens a session."""

    async def new_session(self, session: AgentSession) -> None:
        await asyncio.Event().wait()

    async def prompt(self, turn: Turn) -> None:
        return


class Silent(Launched):
    """An agent that never responds."""

    def __init__(self, killed: list[str]) -> None:
        super().__init__("silent", ScriptedAgent([]))
        self.killed = killed

        async def start() -> Any:
            ours, self.theirs = pair()
            return ours

        self.target: Any = start

    def leave(self) -> None:
        self.kill()

    def kill(self) -> None:
        self.killed.append(self.name)


class Hanging(Memory):
    """A host whose agent hangs at one step of the start."""

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
    host = Hanging(folders, step)
    app = AccordApp(host)  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.until(lambda: chat.tab.controller.state == ("starting" if step == "initialize" else "opening"))
        yield chat, host


@pytest.mark.parametrize("step", STEPS)
async def test_a_slow_start_shows_the_elapsed_time_and_the_keys_to_cancel_or_diagnose_it(
    folders: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.session.controller.SLOW_SECONDS", TIMEOUT_SECONDS)
    async with hung(folders, step) as (chat, _):
        assert "esc or f12 cancel" not in chat.text
        await chat.send("a prompt that waits")
        monkeypatch.setattr("accord.tui.session.controller.SLOW_SECONDS", 0.0)
        await chat.until("esc or f12 cancel · ctrl+l log")
        await chat.until("hasn't responded" if step == "initialize" else "hasn't opened a session")
        await chat.until(lambda: "1. a prompt that waits" in chat.text)
        await chat.until(lambda: re.search(r"◌ (starting|opening session) [\d.]+s", chat.text))


class Locked(ScriptedAgent):
    """An agent that opens sessions only after a login."""

    auth_methods = (AuthMethod(id="key", name="By a key"),)

    async def new_session(self, session: AgentSession) -> None:
        raise AuthRequired("log in first")


async def test_the_time_of_a_login_does_not_count_as_a_slow_start(opened: Opened) -> None:
    async with opened(Locked(), wait=False) as chat:
        await chat.until("By a key")
        controller = chat.tab.controller
        before = controller.seconds_waited
        controller.opener.began -= 60  # a minute passes, all of it while the user thinks
        controller.timing._waits[-1] = controller.timing._waits[-1][0] - 60, None
        assert controller.state == "opening" and controller.seconds_waited - before < 30


@pytest.mark.parametrize("key", ["escape", "f12"])
@pytest.mark.parametrize("step", STEPS)
async def test_cancelling_a_start_is_immediate_and_keeps_queued_prompts(
    folders: Path, step: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.tui.tab.prompt_keys.ESCAPE_SECONDS", 0.0)
    async with hung(folders, step) as (chat, host):
        await chat.send("a prompt that waits")
        await chat.press(key)
        await chat.until("You cancelled")
        await chat.until("ctrl+r")
        assert host.killed
        assert [prompt.text for prompt in chat.tab.controller.queue.waiting] == ["a prompt that waits"]
        monkeypatch.setattr("accord.tui.session.controller.SLOW_SECONDS", 0.0)
        await chat.press("ctrl+r")
        await chat.gone("You cancelled")
        await chat.until("Starting ")
        await chat.until("esc or f12 cancel · ctrl+l log")


async def test_escape_in_the_first_moment_ends_no_start(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.tui.tab.prompt_keys.ESCAPE_SECONDS", TIMEOUT_SECONDS)
    async with hung(folders, "initialize") as (chat, host):
        await chat.press("escape")
        assert chat.tab.controller.state == "starting" and not host.killed


class Stuck(Memory):
    """An installation that ignores cancellation."""

    def __init__(self, cwd: Path) -> None:
        super().__init__(cwd, ScriptedAgent([]), frozenset([1]))
        self.may_go_on = threading.Event()

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        progress("installing slow 1.0", 0, 0)
        assert self.may_go_on.wait(TIMEOUT_SECONDS)
        return super().launch(target, on_stderr, progress)


async def test_a_hanging_installation_is_abandoned_at_once(folders: Path) -> None:
    host = Stuck(folders)
    app = AccordApp(host, "slow")  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.until("slow isn't installed yet: installing slow 1.0")
        await chat.press("escape")
        await chat.until("You cancelled the installation.")
        assert not host.may_go_on.is_set()
    host.may_go_on.set()


async def test_an_agent_chosen_on_the_start_page_is_named_at_once(folders: Path) -> None:
    host = Stuck(folders)
    app = AccordApp(host, is_undecided=True)  # type: ignore[arg-type]
    try:
        async with app.run_test(size=(100, 30)) as pilot:
            chat = Chat(app, pilot)
            await chat.until("enter choose")
            await chat.type("some agent")
            await chat.press("enter")
            await chat.until("some agent isn't installed yet: installing slow 1.0")
            assert "No agent chosen yet" not in chat.text and "no agent yet" not in chat.text
    finally:
        host.may_go_on.set()


async def test_escape_in_the_transcript_returns_to_the_prompt_and_the_turn_continues(folders: Path) -> None:
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
        await chat.until(lambda: chat.tab.transcript_view.has_focus)
        await chat.until("esc twice to stop")
        await chat.press("escape")
        await chat.until(lambda: chat.tab.editor.has_focus)
        assert chat.tab.controller.state == "running" and not chat.tab.controller.turns.is_cancelling
        await chat.press("escape")
        await chat.until("Cancelled")
