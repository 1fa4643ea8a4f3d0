"""Keys pressed before the completion list has loaded take effect once it has."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import Chat, Opened
from textual import events

import accord
from accord.agent.turn import Turn
from accord.model.session import Command
from accord.testing import ScriptedAgent
from accord.tui.prompt.completion import commands_for, continues_name, files_for
from accord.tui.prompt.files import Files


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


@contextmanager
def held_up(chat: Chat) -> Iterator[None]:
    """Block file lookups inside the context."""
    files, now = chat.tab.area._files, threading.Event()

    def slow(ask: Any) -> Any:
        def wait_and_ask(wanted: str) -> Any:
            assert now.wait(30)
            return ask(wanted)

        return wait_and_ask

    files.matching, files.surely_matching = slow(files.matching), slow(files.surely_matching)  # type: ignore[method-assign]
    try:
        yield
    finally:
        now.set()


@pytest.fixture
def project(folders: Path) -> Path:
    for name in ("readme.md", "src/main.py"):
        (folders / name).parent.mkdir(exist_ok=True)
        (folders / name).write_text("words\n")
    return folders


def burst(chat: Chat, *keys: str) -> None:
    """Send keys without waiting for their effect."""
    for key in keys:
        chat.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("@re\t", "@readme.md "),
        ("@re\tx", "@readme.md x"),
        ("@re\t and then", "@readme.md and then"),
        ("see @re\tand @ma\ttoo", "see @readme.md and @src/main.py too"),
        ("@re\tad", "@readme.md "),
        ("@re\tadme.md is", "@readme.md is"),
        ("@sr\tma", "@src/ma"),
        ("@sr\tma\t", "@src/main.py "),
        ("@nothing\tx", "@nothingx"),
    ],
)
async def test_text_typed_after_a_tab_stays_after_the_completion(
    opened: Opened, project: Path, typed: str, becomes: str
) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.press(*("tab" if each == "\t" else "space" if each == " " else each for each in typed))
            assert chat.tab.editor.text == typed.replace("\t", "")
            assert chat.tab.editor.has_focus
        await chat.until(lambda: not chat.tab.area._is_catching_up)
        assert chat.tab.editor.text == becomes
        assert chat.tab.editor.has_focus


async def test_a_quick_tab_waits_for_the_first_list(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        burst(chat, *"@re", "tab", *"ok")
        await chat.until(lambda: chat.tab.editor.text == "@readme.md ok")


class Planner(ScriptedAgent):
    """An agent with one command."""

    @accord.command("plan", "Plans", hint="what")
    async def plan(self, turn: Turn) -> None:
        await repeats(turn)


async def test_a_quick_tab_completes_a_command(opened: Opened, project: Path) -> None:
    async with opened(Planner([repeats])) as chat:
        await chat.until(lambda: chat.tab.area._commands)
        burst(chat, *"/pl", "tab", *"it")
        await chat.until(lambda: chat.tab.editor.text == "/plan it")


async def test_enter_after_a_tab_sends_the_completed_text(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("look at @re")
            await chat.press("tab", "enter", "n", "e", "x", "t")
            assert chat.tab.editor.text == "look at @renext"
        await chat.until("heard: look at @readme.md")
        assert chat.tab.editor.text == "next"


async def test_enter_in_an_outdated_list_applies_to_the_text_typed_so_far(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("@readme.m")
        await chat.until("tab accept")
        with held_up(chat):
            await chat.press("d", "enter", "o", "k")
        await chat.until("heard: @readme.md")
        assert chat.tab.editor.text == "ok"


async def test_esc_cancels_a_pending_tab(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("@re")
            await chat.press("tab", "escape")
        await chat.until(lambda: not chat.tab.area._is_catching_up)
        assert chat.tab.editor.text == "@re"


async def test_deleting_the_text_cancels_its_pending_tab(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("@re")
            await chat.press("tab", "backspace", "s")
        await chat.until(lambda: not chat.tab.area._is_catching_up)
        assert chat.tab.editor.text == "@rs"


async def test_a_tab_with_nothing_to_complete_moves_to_the_transcript(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("@nothing")
            await chat.press("tab")
            assert chat.tab.editor.has_focus
        await chat.until(lambda: chat.tab.transcript_view.has_focus)
        assert chat.tab.editor.text == "@nothing"


def test_letters_that_continue_a_name_are_recognized() -> None:
    files = files_for("re", ["readme.md", "src/prepare.py"])
    assert continues_name(files, "see @re", "ad")
    assert continues_name(files, "see @re", "AD")
    assert not continues_name(files, "see @re", "and")
    assert not continues_name(files, "see @re", "")
    commands = commands_for("/pl", [Command(name="plan", description="Plans")])
    assert continues_name(commands, "/pl", "an")
    assert not continues_name(commands, "/pl", "it")


def test_a_waiting_lookup_is_not_superseded_by_newer_ones(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("")
    files = Files(tmp_path)
    assert files.surely_matching("re") == ["readme.md"]
    (tmp_path / "rest.txt").write_text("")
    files._at -= 100  # a list that is no longer fresh is good enough for a key that waits
    assert files.surely_matching("re") == ["readme.md"]
    assert sorted(files.matching("re") or ()) == ["readme.md", "rest.txt"]
