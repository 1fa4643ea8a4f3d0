"""Bugs in the client: the user sees them, and everything else continues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import Chat, Memory, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.config.directories import data_directory
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp


class Parrot(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"said {turn.text}")


def log() -> str:
    return (data_directory() / "chat" / "errors.log").read_text()


async def test_a_prompt_that_hits_a_bug_returns_to_the_editor_and_the_queue_continues(opened: Opened) -> None:
    async with opened(Parrot()) as chat:
        host: Any = chat.app.host
        usual = host.content

        def content(text: str, *more: Any) -> Any:
            if text == "one":
                raise ValueError("odd")
            return usual(text, *more)

        host.content = content
        await chat.send("one")
        await chat.until("This prompt couldn't be sent")
        assert chat.tab.editor.text == "one"
        assert "ValueError: odd" in log()
        await chat.send("two")
        await chat.until("said two")


async def test_a_session_that_hits_a_bug_shows_it_and_can_be_retried(opened: Opened) -> None:
    def servers(*more: Any) -> Any:
        raise ValueError("odd")

    async with opened(Parrot()) as chat:
        host: Any = chat.app.host
        usual, host.servers = host.servers, servers
        await chat.app.action_new_session()
        await chat.until("ValueError: odd")
        host.servers = usual
        await chat.press("ctrl+r")
        await chat.ready()


async def test_a_bug_in_handling_an_event_does_not_stop_later_events(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(Parrot()) as chat:
        controller = chat.tab.controller
        usual = controller.handle

        def handle(event: Any) -> None:
            if "one" in str(getattr(event, "text", "")):
                raise ValueError("odd")
            usual(event)

        monkeypatch.setattr(controller, "handle", handle)
        await chat.send("one")
        await chat.until("Something went wrong here")
        await chat.send("two")
        await chat.until("said two")
        assert chat.text.count("Something went wrong here") == 1


async def test_a_bug_in_a_command_is_shown_to_the_user(folders: Path) -> None:
    async def fail() -> None:
        raise ValueError("odd")

    app = AccordApp(Memory(folders, ScriptedAgent([]), frozenset([1])))
    async with app.run_test(size=(120, 24), notifications=True) as pilot:  # a toast fills half of the width
        chat = Chat(app, pilot)
        await chat.ready()
        app.tabs.active.commands.choose_option = fail  # type: ignore[method-assign]
        app.action_options()
        await chat.until("ValueError: odd")
        assert "in fail" in log()


def test_background_work_never_hides_its_errors() -> None:
    source = Path(__file__).parents[2] / "src" / "accord" / "tui"
    silent = [path.name for path in source.rglob("*.py") if ".run_worker(" in path.read_text("utf-8")]
    assert silent == ["errors.py"]
