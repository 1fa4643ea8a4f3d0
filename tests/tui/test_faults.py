"""Faults of ours that nobody thought of: they are told, and what goes on beside them goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chatting import Chat, Memory, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.config.folders import data_folder
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp


class Parrot(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"said {turn.text}")


def log() -> str:
    return (data_folder() / "chat" / "faults.log").read_text()


async def test_a_prompt_that_fails_oddly_comes_back_and_the_queue_goes_on(opened: Opened) -> None:
    async with opened(Parrot()) as chat:
        outside: Any = chat.app.outside
        usual = outside.content

        def content(text: str, *more: Any) -> Any:
            if text == "one":
                raise ValueError("odd")
            return usual(text, *more)

        outside.content = content
        await chat.send("one")
        await chat.until("This prompt could not be sent")
        assert chat.pane.editor.text == "one"
        assert "ValueError: odd" in log()
        await chat.send("two")
        await chat.until("said two")


async def test_a_session_that_fails_oddly_is_told_and_can_be_tried_again(opened: Opened) -> None:
    def servers(*more: Any) -> Any:
        raise ValueError("odd")

    async with opened(Parrot()) as chat:
        outside: Any = chat.app.outside
        usual, outside.servers = outside.servers, servers
        await chat.app.action_new_session()
        await chat.until("ValueError: odd")
        outside.servers = usual
        await chat.press("ctrl+r")
        await chat.ready()


async def test_one_thing_that_is_misheard_does_not_end_listening(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(Parrot()) as chat:
        talk = chat.pane.talk
        usual = talk.hear

        def hear(event: Any) -> None:
            if "one" in str(getattr(event, "text", "")):
                raise ValueError("odd")
            usual(event)

        monkeypatch.setattr(talk, "hear", hear)
        await chat.send("one")
        await chat.until("Something went wrong here")
        await chat.send("two")
        await chat.until("said two")
        assert chat.text.count("Something went wrong here") == 1


async def test_a_fault_in_what_the_user_does_is_told(folders: Path) -> None:
    async def broken() -> None:
        raise ValueError("odd")

    app = AccordApp(Memory(folders, ScriptedAgent([]), frozenset([1])))
    async with app.run_test(notifications=True) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        app.active_pane.choose_option = broken  # type: ignore[method-assign]
        app.action_options()
        await chat.until("ValueError: odd")
        assert "in broken" in log()


def test_nothing_is_done_beside_the_rest_whose_faults_nobody_hears_of() -> None:
    source = Path(__file__).parents[2] / "src" / "accord" / "tui"
    silent = [path.name for path in source.rglob("*.py") if ".run_worker(" in path.read_text("utf-8")]
    assert silent == ["fault.py"]
