"""Whether the terminal is dark or light, and what becomes of what is typed while it is asked."""

from __future__ import annotations

import os
import pty
import termios
from pathlib import Path

import pytest
from chatting import Chat, Memory, Opened

from accord.testing import ScriptedAgent
from accord.tui import preferences
from accord.tui.app import AccordApp
from accord.tui.ground import Asked, by_variable, can_be_asked, read


@pytest.mark.parametrize(
    ("value", "is_dark"),
    [("15;0", True), ("0;15", False), ("0;7", False), ("12;8", True), ("0;default;15", False), ("x", None), ("", None)],
)
def test_some_terminals_say_it_in_the_environment(value: str, is_dark: bool | None) -> None:
    assert by_variable({"COLORFGBG": value}) is is_dark


@pytest.mark.parametrize(
    ("said", "is_dark"),
    [
        (b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", True),
        (b"\x1b]11;rgb:ff/ff/ff\x07", False),
        (b"\x1b]11;rgba:fdfd/f6f6/e3e3/ffff\x07", False),
        (b"\x1b[?62;22c", None),
    ],
)
def test_an_answer_of_the_terminal_is_understood(said: bytes, is_dark: bool | None) -> None:
    assert read(said).is_dark is is_dark


def test_what_was_typed_meanwhile_is_handed_on() -> None:
    answer = read(b"hel\x1b]11;rgb:0000/0000/0000\x1b\\lo \xe6\x97\xa5\x1b[?1;2c\x1b[A!\r")
    assert answer == (True, "hello 日!")


@pytest.mark.parametrize("env", [{"SSH_TTY": "x"}, {"NO_COLOR": "1"}, {"TERM": "linux"}, {"TERM": "dumb"}])
def test_nothing_is_asked_that_would_be_answered_late_or_never(env: dict[str, str]) -> None:
    assert not can_be_asked({"TERM": "xterm", **env})
    assert can_be_asked({"TERM": "xterm"})


def test_a_terminal_is_asked_and_left_as_it_was() -> None:
    theirs, ours = pty.openpty()
    try:
        before = termios.tcgetattr(ours)
        asked = Asked(ours, ours)
        assert termios.tcgetattr(ours) != before
        assert os.read(theirs, 100).startswith(b"\x1b]11;?")
        os.write(theirs, b"x\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?6c")
        assert asked.answer(10) == (False, "x")
        assert termios.tcgetattr(ours) == before
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_terminal_that_says_nothing_is_not_waited_for() -> None:
    theirs, ours = pty.openpty()
    try:
        assert Asked(ours, ours).answer(0.01) == (None, "")
    finally:
        os.close(theirs)
        os.close(ours)


def test_what_is_no_terminal_is_not_asked(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w+b") as file:
        assert Asked(file.fileno(), file.fileno()).answer(10).is_dark is None
        assert file.read() == b""


async def test_the_theme_follows_the_terminal_until_one_is_chosen(folders: Path) -> None:
    app = AccordApp(Memory(folders, ScriptedAgent(), frozenset({1})))
    app.seems(False)
    app.typed_early = "early"
    async with app.run_test(size=(80, 24)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        assert app.theme == "textual-light" and chat.pane.editor.text == "early"
    app = AccordApp(Memory(folders, ScriptedAgent(), frozenset({1})))
    app.preferences.theme = app.theme = "nord"
    app.seems(False)
    assert app.theme == "nord"


async def test_a_theme_that_was_not_chosen_is_not_kept(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.seems(False)
        assert chat.app.preferences.theme == ""


async def test_a_theme_that_was_chosen_can_be_given_up_again(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.seems(False)
        await pick_theme(chat, "nord")
        await chat.until(lambda: chat.app.theme == preferences.load().theme == "nord")
        await pick_theme(chat, "as the terminal")
        await chat.until(lambda: (chat.app.theme, preferences.load().theme) == ("textual-light", ""))
        await chat.press("f10")
        await chat.until("Theme: as the terminal (textual-light)")


async def test_a_terminal_that_was_not_asked_is_asked_when_the_theme_is_as_it_is(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLORFGBG", raising=False)
    monkeypatch.setattr("accord.tui.ground.can_be_asked", lambda: True)
    async with opened(ScriptedAgent()) as chat:
        asked: list[str] = []
        chat.app._write = asked.append  # type: ignore[method-assign]
        chat.app.choose_theme("nord")
        chat.app.choose_theme("")
        assert chat.app.theme == "textual-dark" and asked == ["\x1b]11;?\x1b\\\x1b[c"]
        assert chat.app.late is not None


async def pick_theme(chat: Chat, name: str) -> None:
    chat.app.action_change_theme()
    await chat.until("type to search")
    await chat.type(name)
    await chat.press("enter")
