"""Drives the terminal client in the process of a test: an agent in memory, keys in, lines of the screen out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from accord.agent.agent import Agent
from accord.client.local import LocalWorkspace
from accord.errors import LaunchError
from accord.policy.project import configuration, policy
from accord.tui.app import AccordApp
from accord.tui.moment import Moment
from accord.tui.outside import Finding
from accord.tui.pane import Pane

PATIENCE = 30.0
Opened = Callable[..., AbstractAsyncContextManager["Chat"]]
"""Opens the client on an agent."""


class Memory:
    """What the client needs of the rest of the program, with an agent object in place of a process."""

    def __init__(
        self,
        cwd: Path,
        agent: Agent | Callable[[], Agent],
        versions: frozenset[int],
        *,
        fails: str = "",
        findings: Sequence[Finding] = (),
    ) -> None:
        self.cwd = cwd
        self.versions = versions
        self.launched: list[str | None] = []
        self.fails = fails
        self.findings = list(findings)
        self._agent = agent

    def named(self, target: str | None) -> str:
        return target or "memory"

    def configuration(self) -> Any:
        return configuration(self.cwd)

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        self.launched.append(target)
        if self.fails:
            raise LaunchError(self.fails)
        on_stderr("the agent says hello on standard error")
        return Launched(target or "memory", self._agent if isinstance(self._agent, Agent) else self._agent())

    def workspace(self, launch: Any, ask: Any, told: Any) -> LocalWorkspace:
        rules = policy(self.configuration(), self.cwd, launch.name)
        return LocalWorkspace(self.cwd, policy=rules, ask=ask, told=told)

    def content(self, text: str, images: Sequence[Path], offers: Any) -> list[Any]:
        from accord.cli.attach import prompt_content

        return prompt_content(text, images, self.cwd, offers)

    def unfound(self, text: str) -> list[str]:
        from accord.cli.unfound import unfound

        return unfound(text, self.cwd)

    def servers(self, offers: Any) -> tuple[list[Any], list[str]]:
        return [], []

    async def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        for finding in self.findings:
            yield finding


class Launched:
    """An agent in memory that was found."""

    def __init__(self, name: str, target: Agent) -> None:
        self.name = name
        self.target = target

    async def log_in(self, method: Any) -> bool:
        return True

    def kill(self) -> None:
        return


class Chat:
    """The application, its keys and its screen."""

    def __init__(self, app: AccordApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def pane(self) -> Pane:
        return self.app.active_pane

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        compositor = self.app.screen._compositor
        return [strip.text.rstrip() for strip in compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def ready(self) -> None:
        await self.until(lambda: self.pane.talk.session is not None and self.pane.conversation.transcript is not None)

    async def until(self, wanted: str | Callable[[], Any]) -> None:
        """Waits until some text is on the screen, or something is true."""
        end = time.monotonic() + PATIENCE
        while not (wanted in self.text if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < end, f"{wanted!r} did not come about; the screen:\n{self.text}"
            await asyncio.sleep(0.01)
        await self.pilot.pause()

    async def gone(self, wanted: str) -> None:
        await self.until(lambda: wanted not in self.text)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Types a text, character by character."""
        await self.pilot.press(*("enter" if each == "\n" else "space" if each == " " else each for each in text))

    async def send(self, text: str) -> None:
        """Types a prompt and sends it."""
        self.pane.editor.set_text(text)
        await self.pilot.press("enter")


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


class Moments:
    """How long what is asked has to be seen before keys count for it: as long as a test says, not as the machine is."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._begun: list[Moment] = []
        begin = Moment.begin

        def note(moment: Moment) -> None:
            self._begun.append(moment)
            begin(moment)

        patch.setattr(Moment, "begin", note)

    def last(self) -> None:
        """Moments that begin from now on do not end by themselves."""
        self._patch.setattr("accord.tui.moment.SEEN", 600.0)

    def end(self) -> None:
        """What is asked has been seen for almost long enough."""
        self._patch.setattr("accord.tui.moment.SEEN", 0.05)
        for moment in [each for each in self._begun if not each.is_over]:
            moment.begin()
