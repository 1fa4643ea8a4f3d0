"""The terminal client as tests have it: on an agent in memory with Textual's pilot, or for real in tmux."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chatting import Chat, Memory, Moments, Opened
from looks import COLOURS
from tmux import Tmux, tmux_missing

from accord.agent.agent import Agent

if TYPE_CHECKING:
    from accord.tui.look import Look


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project and data folders of its own; gives the project."""
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"ACCORD_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("NO_COLOR", "ACCORD_AGENT", "ACCORD_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    return project


@pytest.fixture
def opened(folders: Path) -> Opened:
    """Opens the client on an agent, its session ready."""

    @asynccontextmanager
    async def open_chat(
        agent: Agent | Callable[[], Agent],
        *,
        size: tuple[int, int] = (120, 36),
        versions: Sequence[int] = (1,),
        wait: bool = True,
        first: tuple[str | None, Any] = (None, "new"),
        **more: Any,
    ) -> AsyncIterator[Chat]:
        from accord.tui.app import AccordApp

        app = AccordApp(Memory(folders, agent, frozenset(versions), **more))
        app.first_session = first
        async with app.run_test(size=size) as pilot:
            chat = Chat(app, pilot)
            if wait:
                await chat.ready()
            yield chat

    return open_chat


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> Moments:
    """How long what is asked has to be seen, in the test's hands."""
    return Moments(monkeypatch)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    """A terminal with the real program in it. Skipped by name where there is no tmux."""
    if missing := tmux_missing():
        pytest.skip(missing)
    terminal = Tmux(tmp_path, f"accord-{os.getpid()}-{abs(hash(str(tmp_path))) % 10**8}")
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.fixture(scope="session")
def look() -> Look:
    """How things look, without a window."""
    from accord.tui.look import Look

    return Look(COLOURS, dark=True)
