"""Dark or light background of the terminal, and text typed while it is queried."""

from __future__ import annotations

import os
import pty
import termios
from pathlib import Path

import pytest
from support.theme import COLORS
from support.tui_driver import Chat, Memory, Opened

from accord.testing import ScriptedAgent
from accord.tui import preferences
from accord.tui.app import AccordApp
from accord.tui.terminal.background import Asked, by_variable, can_be_queried, read
from accord.tui.theme import TextStyles


@pytest.mark.parametrize(
    ("value", "is_dark"),
    [("15;0", True), ("0;15", False), ("0;7", False), ("12;8", True), ("0;default;15", False), ("x", None), ("", None)],
)
def test_the_background_is_read_from_the_environment(value: str, is_dark: bool | None) -> None:
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
def test_the_terminals_reply_is_parsed(said: bytes, is_dark: bool | None) -> None:
    assert read(said).is_dark is is_dark


def test_text_typed_during_the_query_is_passed_on() -> None:
    answer = read(b"hel\x1b]11;rgb:0000/0000/0000\x1b\\lo \xe6\x97\xa5\x1b[?1;2c\x1b[A!\r")
    assert answer == (True, "hello 日!")


@pytest.mark.parametrize("env", [{"SSH_TTY": "x"}, {"NO_COLOR": "1"}, {"TERM": "linux"}, {"TERM": "dumb"}])
def test_terminals_that_may_reply_late_or_never_are_not_queried(env: dict[str, str]) -> None:
    assert not can_be_queried({"TERM": "xterm", **env})
    assert can_be_queried({"TERM": "xterm"})


def test_a_terminal_is_queried_and_its_settings_are_restored() -> None:
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


def test_a_terminal_that_does_not_reply_causes_no_delay() -> None:
    theirs, ours = pty.openpty()
    try:
        assert Asked(ours, ours).answer(0.01) == (None, "")
    finally:
        os.close(theirs)
        os.close(ours)


def test_only_a_terminal_is_queried(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w+b") as file:
        assert Asked(file.fileno(), file.fileno()).answer(10).is_dark is None
        assert file.read() == b""


async def test_the_theme_follows_the_terminal_until_one_is_chosen(folders: Path) -> None:
    app = AccordApp(Memory(folders, ScriptedAgent(), frozenset({1})))
    app.appearance.set_background(False)
    app.typed_early = "early"
    async with app.run_test(size=(80, 24)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        assert app.theme == "accord-light" and chat.tab.editor.text == "early"
    app = AccordApp(Memory(folders, ScriptedAgent(), frozenset({1})))
    app.preferences.theme = app.theme = "nord"
    app.appearance.set_background(False)
    assert app.theme == "nord"


async def test_the_terminals_theme_is_not_saved_as_a_setting(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.appearance.set_background(False)
        assert chat.app.preferences.theme == ""


async def test_a_chosen_theme_can_be_reset_to_the_terminals(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.appearance.set_background(False)
        await pick_theme(chat, "nord")
        await chat.until(lambda: chat.app.theme == preferences.load().theme == "nord")
        await pick_theme(chat, "same as the terminal")
        await chat.until(lambda: (chat.app.theme, preferences.load().theme) == ("accord-light", ""))
        await chat.press("f10")
        await chat.until("Theme: same as the terminal (accord-light)")


async def test_selecting_the_terminals_theme_queries_a_terminal_not_queried_before(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLORFGBG", raising=False)
    monkeypatch.setattr("accord.tui.terminal.background.can_be_queried", lambda: True)
    async with opened(ScriptedAgent()) as chat:
        asked: list[str] = []
        chat.app.write_terminal = asked.append  # type: ignore[method-assign]
        chat.app.appearance.choose_theme("nord")
        chat.app.appearance.choose_theme("")
        assert chat.app.theme == "accord-dark" and asked == ["\x1b]11;?\x1b\\\x1b[c"]
        assert chat.app.appearance.late is not None


async def test_the_status_line_is_painted_again_when_its_colors_change(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        light = TextStyles({**COLORS, "background": "#fafafa"}, dark=False)
        chat.tab.restyle(light)
        await chat.until(lambda: background_of(chat, -1) == light.ground)


async def test_the_tab_bar_and_the_status_line_follow_a_new_theme(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2)
        await chat.ready()
        await pick_theme(chat, "nord")
        bars = (chat.app.tabs.bar, chat.tab.status, chat.tab.key_line)
        await chat.until(lambda: {background_of(chat, each.region.y) for each in bars} == {chat.app.text_styles.ground})


def background_of(chat: Chat, row: int) -> object:
    """Return the background color of the first words in a screen row."""
    strip = chat.app.screen._compositor.render_strips()[row]
    return next(segment.style.bgcolor for segment in strip if segment.style is not None and segment.text.strip())


async def pick_theme(chat: Chat, name: str) -> None:
    chat.app.action_change_theme()
    await chat.until("type to search")
    await chat.type(name)
    await chat.press("enter")
