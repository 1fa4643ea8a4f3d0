"""Fixtures for the terminal client: with an agent in memory and Textual's pilot, or in tmux."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.prerequisites import require
from support.theme import COLORS
from support.tmux import Tmux, tmux_missing
from support.tui_driver import Chat, Memory, Moments, Opened

from accord.agent.agent import Agent

if TYPE_CHECKING:
    from accord.tui.theme import TextStyles


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Separate project and data directories; returns the project."""
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"ACCORD_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm-256color")  # colors depend on how many the terminal has
    for name in ("COLORTERM", "NO_COLOR", "ACCORD_AGENT", "ACCORD_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    return project


@pytest.fixture
def opened(folders: Path) -> Opened:
    """Open the client with an agent whose session is ready."""

    @asynccontextmanager
    async def open_chat(
        agent: Agent | Callable[[], Agent],
        *,
        size: tuple[int, int] = (120, 36),
        versions: Sequence[int] = (1,),
        wait: bool = True,
        first: tuple[str | None, Any] = (None, "new"),
        first_prompt: str = "",
        first_setup: Any = None,
        **more: Any,
    ) -> AsyncIterator[Chat]:
        from accord.tui.app import AccordApp

        app = AccordApp(Memory(folders, agent, frozenset(versions), **more))
        app.first.id, app.first.how = first
        app.first.prompt, app.first.set_up = first_prompt, first_setup
        async with app.run_test(size=size) as pilot:
            chat = Chat(app, pilot)
            if wait:
                await chat.ready()
            yield chat

    return open_chat


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> Moments:
    """Control how long a question must be visible before it accepts keys."""
    return Moments(monkeypatch)


@pytest.fixture
def seen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions accept keys as soon as they are shown, for tests of the answers."""
    monkeypatch.setattr("accord.tui.tab.permission_view.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("accord.tui.questions.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("accord.tui.terminal.input_guard.SEEN_SECONDS", 0.01)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    """A real terminal that runs the program. Needs tmux."""
    require(tmux_missing())
    terminal = Tmux(tmp_path, f"accord-{os.getpid()}-{abs(hash(str(tmp_path))) % 10**8}")
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.fixture(scope="session")
def text_styles() -> TextStyles:
    """Text styles without an application."""
    from accord.tui.theme import TextStyles

    return TextStyles(COLORS, dark=True)
