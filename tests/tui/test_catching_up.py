"""Keys for a list of completions that is not there yet: they do what they would have done, when it comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chatting import Chat, Opened
from textual import events

from accord.agent.turn import Turn
from accord.model.session import Command
from accord.testing import ScriptedAgent
from accord.tui.prompt.complete import commands_for, files_for, go_on
from accord.tui.prompt.files import Files


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


@contextmanager
def held_up(chat: Chat) -> Iterator[None]:
    """Lets nobody know which files there are, until this is left."""
    files, now = chat.pane.area._files, threading.Event()

    def slow(ask: Any) -> Any:
        def asked(wanted: str) -> Any:
            assert now.wait(30)
            return ask(wanted)

        return asked

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
    """Presses keys faster than anything is done about them."""
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
async def test_what_is_typed_behind_a_tab_stays_behind_it(
    opened: Opened, project: Path, typed: str, becomes: str
) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.press(*("tab" if each == "\t" else "space" if each == " " else each for each in typed))
            assert chat.pane.editor.text == typed.replace("\t", "")
            assert chat.pane.editor.has_focus
        await chat.until(lambda: not chat.pane.area._is_catching_up)
        assert chat.pane.editor.text == becomes
        assert chat.pane.editor.has_focus


async def test_a_tab_waits_for_the_first_list_however_fast_it_comes(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        burst(chat, *"@re", "tab", *"ok")
        await chat.until(lambda: chat.pane.editor.text == "@readme.md ok")


async def test_a_tab_completes_a_command_however_fast_it_comes(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        chat.pane.area._commands = [Command(name="plan", description="Plans", hint="what")]
        burst(chat, *"/pl", "tab", *"it")
        await chat.until(lambda: chat.pane.editor.text == "/plan it")


async def test_enter_behind_a_tab_sends_what_the_tab_completes(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("look at @re")
            await chat.press("tab", "enter", "n", "e", "x", "t")
            assert chat.pane.editor.text == "look at @renext"
        await chat.until("heard: look at @readme.md")
        assert chat.pane.editor.text == "next"


async def test_enter_in_a_list_that_is_behind_means_what_was_typed_until_then(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("@readme.m")
        await chat.until("tab takes it")
        with held_up(chat):
            await chat.press("d", "enter", "o", "k")
        await chat.until("heard: @readme.md")
        assert chat.pane.editor.text == "ok"


async def test_esc_sends_a_tab_away_that_waits(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("@re")
            await chat.press("tab", "escape")
        await chat.until(lambda: not chat.pane.area._is_catching_up)
        assert chat.pane.editor.text == "@re"


async def test_what_is_taken_back_takes_its_tab_with_it(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("@re")
            await chat.press("tab", "backspace", "s")
        await chat.until(lambda: not chat.pane.area._is_catching_up)
        assert chat.pane.editor.text == "@rs"


async def test_a_tab_that_has_nothing_to_complete_goes_to_the_conversation(opened: Opened, project: Path) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        with held_up(chat):
            await chat.type("@nothing")
            await chat.press("tab")
            assert chat.pane.editor.has_focus
        await chat.until(lambda: chat.pane.conversation.has_focus)
        assert chat.pane.editor.text == "@nothing"


def test_letters_that_go_on_with_a_name_are_known() -> None:
    files = files_for("re", ["readme.md", "src/prepare.py"])
    assert go_on(files, "see @re", "ad")
    assert go_on(files, "see @re", "AD")
    assert not go_on(files, "see @re", "and")
    assert not go_on(files, "see @re", "")
    commands = commands_for("/pl", [Command(name="plan", description="Plans")])
    assert go_on(commands, "/pl", "an")
    assert not go_on(commands, "/pl", "it")


def test_who_waits_for_just_this_is_answered_whoever_asks_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("")
    files = Files(tmp_path)
    assert files.surely_matching("re") == ["readme.md"]
    (tmp_path / "rest.txt").write_text("")
    files._at -= 100  # a list that is no longer fresh is good enough for a key that waits
    assert files.surely_matching("re") == ["readme.md"]
    assert sorted(files.matching("re") or ()) == ["readme.md", "rest.txt"]
