"""The start page: which agents there are, how one is chosen, kept and installed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chatting import Chat, Memory

from accord.config.settings import user_config
from accord.errors import ConfigError
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp
from accord.tui.panels.status import Part, fitting


def configured(text: str) -> None:
    path = user_config()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


TWO = '[agents.one]\ncommand = "one --acp"\n[agents.two]\ncommand = "two --acp"\n'


async def test_with_several_agents_and_no_default_the_start_page_comes_first(folders: Path) -> None:
    configured(TWO)
    outside = Memory(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(outside, is_undecided=True).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("Talk with")
        for words in ("Welcome to Accord", "one --acp", "two --acp", "built-in agent", "f3 doctor", "esc goes back"):
            await chat.until(words)
        assert outside.launched == []
        await chat.press("escape")
        await chat.until("no agent yet")
        await chat.until("ctrl+n chooses one")
        await chat.type("kept")
        await chat.press("ctrl+n")
        await chat.until("Talk with")
        await chat.press("down", "enter")
        await chat.ready()
        assert outside.launched == ["two"]
        assert len(chat.app.panes) == 1 and chat.pane.editor.text == "kept"


async def test_a_command_line_that_is_kept_does_not_become_the_default(folders: Path) -> None:
    outside = Memory(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(outside).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        for name in ("first", "second"):
            await chat.press("ctrl+n")
            await chat.until("Talk with")
            await chat.type(f"{name} --acp")
            await chat.until(f"Start: {name} --acp")
            await chat.press("f5")
            await chat.until("A name for")
            await chat.type(name)
            await chat.press("enter")
            await chat.until(lambda name=name: outside.launched[-1] == name)
        settings = outside.configuration().settings
        assert set(settings.agents) == {"first", "second"}
        assert settings.chosen_agent == "built-in"


async def test_the_default_is_changed_when_that_is_wanted(folders: Path) -> None:
    configured(TWO)
    outside = Memory(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(outside).run_test(size=(100, 30)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        await chat.press("ctrl+n")
        await chat.until("Talk with")
        await chat.press("down", "f6")
        await chat.until("✓ two")
        assert outside.configuration().settings.chosen_agent == "two"


class Slow(Memory):
    """Installs an agent first, until it is told to go on."""

    def __init__(self, *what: Any) -> None:
        super().__init__(*what)
        self.go_on = threading.Event()
        self.ends: Exception | None = None

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        done = 0
        while not self.go_on.wait(0.02):
            done += 10
            progress("downloading", min(done, 400), 1000)
        if self.ends is not None:
            raise self.ends
        return super().launch(target, on_stderr, progress)


async def test_an_installation_is_shown_and_then_the_agent_is_there(folders: Path) -> None:
    outside = Slow(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(outside, "box").run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("box is installed first: downloading")
        await chat.until("40 % of 1.0 kB")
        assert "esc stops it" in chat.text
        outside.go_on.set()
        await chat.ready()
        await chat.until("● ready")


async def test_an_installation_is_stopped_with_escape(folders: Path) -> None:
    outside = Slow(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(outside, "box").run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("box is installed first: downloading")
        await chat.press("escape")
        await chat.until("You stopped it before it was installed")


async def test_an_installation_that_fails_says_why(folders: Path) -> None:
    outside = Slow(folders, ScriptedAgent(), frozenset({1}))
    outside.ends = ConfigError("the checksum is wrong; nothing was installed")
    outside.go_on.set()
    async with AccordApp(outside, "box").run_test(size=(80, 24)) as pilot:
        await Chat(pilot.app, pilot).until("the checksum is wrong; nothing was installed")  # type: ignore[arg-type]


@pytest.mark.parametrize(("width", "left"), [(60, "abcd"), (8, "abc"), (6, "ac"), (2, "a")])
def test_what_matters_least_goes_first_where_there_is_no_room(width: int, left: str) -> None:
    parts = [Part(rank, letter * 2, None) for rank, letter in ((0, "a"), (2, "b"), (1, "c"), (3, "d"))]
    assert "".join(each.text[0] for each in fitting(parts, width)) == left
