"""Drive the terminal client inside a test: an agent in memory, keys in, screen lines out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.notifications import Notification
from textual.pilot import Pilot

from accord.agent.agent import Agent
from accord.client.local_workspace import LocalWorkspace
from accord.errors import LaunchError
from accord.model.session import SessionInfo
from accord.policy.project import build_policy, load_configuration
from accord.tui.app import AccordApp
from accord.tui.host import Finding, HostWorkspace
from accord.tui.tab.tab import Tab
from accord.tui.terminal.input_guard import InputDelay

TIMEOUT_SECONDS = 300.0
Opened = Callable[..., AbstractAsyncContextManager["Chat"]]
"""Opens the client with an agent."""


class Memory:
    """The client's host, with an agent object instead of a process."""

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

    def resolve_name(self, target: str | None) -> str:
        return target or "memory"

    def configuration(self) -> Any:
        return load_configuration(self.cwd)

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        self.launched.append(target)
        if self.fails:
            raise LaunchError(self.fails)
        on_stderr("the agent says hello on standard error")
        return Launched(target or "memory", self._agent if isinstance(self._agent, Agent) else self._agent())

    def describe_install(self, target: str) -> str:
        return ""

    def install(self, target: str, progress: Callable[..., None]) -> None:
        return

    def workspace(self, launch: Any, ask: Any, on_decision: Any) -> HostWorkspace:
        rules = build_policy(self.configuration(), self.cwd, launch.name)
        local = LocalWorkspace(self.cwd, policy=rules, ask=ask, on_decision=on_decision)
        return HostWorkspace(local, local)

    def content(self, text: str, images: Sequence[Path], offers: Any) -> list[Any]:
        from accord.cli.support.attachments import prompt_content

        return prompt_content(text, images, self.cwd, offers)

    def find_missing(self, text: str) -> list[str]:
        from accord.cli.support.attachments import find_missing

        return find_missing(text, self.cwd)

    def servers(self, offers: Any) -> tuple[list[Any], list[Any]]:
        return [], []

    def key_store(self, launch: Any) -> Any:
        return None

    def recent(self, most: int) -> list[SessionInfo]:
        return []

    async def read_changes(self) -> str:
        from accord.cli.support.changes import read_patch

        return await read_patch(self.cwd)

    async def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        for finding in self.findings:
            yield finding


class Launched:
    """An agent in memory."""

    def __init__(self, name: str, target: Agent) -> None:
        self.name = name
        self.target = target
        self.has_program = True

    async def log_in(self, method: Any) -> bool:
        return True

    def leave(self) -> None:
        self.kill()

    def kill(self) -> None:
        return


class Chat:
    """The application, its keys and its screen."""

    def __init__(self, app: AccordApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self.notifications = _record_notifications(app)
        """Every notification so far. Toasts expire after seconds, on a busy machine before a test has looked."""

    def is_notified(self, text: str) -> bool:
        """Return whether a notification with this text was shown, even if it has expired."""
        return any(text in each.message for each in self.notifications)

    @property
    def tab(self) -> Tab:
        return self.app.tabs.active

    @property
    def lines(self) -> list[str]:
        """The screen, line by line."""
        compositor = self.app.screen._compositor
        return [strip.text.rstrip() for strip in compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def ready(self) -> None:
        await self.until(
            lambda: self.tab.controller.session is not None and self.tab.transcript_view.transcript is not None
        )

    async def until(self, wanted: str | Callable[[], Any]) -> None:
        """Wait until a text is on the screen, or a condition is true."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while not (wanted in self.text if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < end, f"waited for {wanted!r}; the screen:\n{self.text}"
            await asyncio.sleep(0.01)
        await self.pilot.pause()

    async def gone(self, wanted: str) -> None:
        await self.until(lambda: wanted not in self.text)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Type a text, character by character."""
        await self.pilot.press(*("enter" if each == "\n" else "space" if each == " " else each for each in text))

    async def send(self, text: str) -> None:
        """Type a prompt and send it."""
        self.tab.editor.set_text(text)
        await self.pilot.press("enter")


async def select_item(chat: Chat, title: str) -> None:
    """Select the tool call or subagent with this title."""
    await chat.until(title)
    await chat.press("tab")
    await chat.until(lambda: chat.tab.transcript_view.has_focus)
    for _ in range(20):
        if any(title in line and line.lstrip().startswith("▐") for line in chat.lines):
            return
        await chat.press("up")
    raise AssertionError(f"{title} cannot be selected:\n{chat.text}")


def collect_notifications(chat: Chat) -> list[str]:
    """Collect the notifications from now on."""
    told: list[str] = []
    chat.app.notify = lambda words, **how: told.append(words)  # type: ignore[method-assign, assignment]
    return told


def _record_notifications(app: AccordApp) -> list[Notification]:
    notifications = app._notifications
    recorded, add = list(notifications), notifications.add

    def record(notification: Notification) -> Any:
        recorded.append(notification)
        return add(notification)

    notifications.add = record  # type: ignore[method-assign]
    return recorded


class Moments:
    """Control of the delay after which a permission request accepts keys, independent of the clock."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._begun: list[InputDelay] = []
        begin = InputDelay.begin

        def note(moment: InputDelay) -> None:
            self._begun.append(moment)
            begin(moment)

        patch.setattr(InputDelay, "begin", note)

    def last(self) -> None:
        """Hold delays that start from now on."""
        self._patch.setattr("accord.tui.terminal.input_guard.SEEN_SECONDS", 600.0)

    def end(self) -> None:
        """Advance the delay to just before its end."""
        self._patch.setattr("accord.tui.terminal.input_guard.SEEN_SECONDS", 0.05)
        for moment in [each for each in self._begun if not each.is_over]:
            moment.begin()
