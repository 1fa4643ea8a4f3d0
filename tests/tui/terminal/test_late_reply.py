"""A late reply of the terminal never counts as typing, and typing never as a reply."""

from __future__ import annotations

import os
import pty

import pytest
from support.tui_driver import Opened
from textual._xterm_parser import XTermParser
from textual.events import Key

from accord.testing import ScriptedAgent
from accord.tui.terminal.background import Asked, LateReply

LIGHT, LAST = "\x1b]11;rgb:ffff/ffff/ffff", "\x1b[?62;4c"


def keys(*parts: str) -> list[Key]:
    """Return the keys parsed from terminal input, with a pause after each part."""
    parser = XTermParser()
    found = []
    for part in parts:
        found += [each for each in parser.feed(part) if isinstance(each, Key)]
        if parser._timeout_time is not None:
            parser._timeout_time = 0.0
        found += [each for each in parser.tick() if isinstance(each, Key)]
    return found


def filter_keys(late: LateReply, pressed: list[Key]) -> str:
    return "".join(str(each.character or each.key) for key in pressed for each in late.take(key))


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
@pytest.mark.parametrize("pause", [None, 1, 2, 3, 4, 5, 9, 20, 24, 25, 26, 27, 29])
def test_a_late_reply_never_counts_as_typing(end: str, pause: int | None) -> None:
    said = f"{LIGHT}{end}{LAST}"
    late = LateReply()
    pressed = keys("ab", said, "cd") if pause is None else keys("ab", said[:pause], said[pause:], "cd")
    assert len(pressed) > 10
    assert filter_keys(late, pressed) == "abcd"
    assert late.is_dark is False and late.is_over


def test_a_reply_whose_start_was_read_earlier_never_counts_as_typing() -> None:
    late = LateReply("\x1b]11;rgb:00")
    assert filter_keys(late, keys("00/0000/0000\x1b\\", LAST, "x")) == "x"
    assert late.is_dark is True and late.is_over


@pytest.mark.parametrize("said", ["^", "^]", "^]1x", "x^2 ^] [x] a[?] ]11;rgb:!", "^[?62;4x", "a\\b"])
def test_input_that_only_begins_like_a_reply_counts_as_typing(said: str) -> None:
    late = LateReply()
    found = filter_keys(late, keys(*said)) + "".join(str(key.character) for key in late.release_held())
    assert found == said and not late.is_over


def test_an_incomplete_reply_is_passed_on() -> None:
    theirs, ours = pty.openpty()
    try:
        asked = Asked(ours, ours)
        os.write(theirs, b"hi\x1b]11;rgb:1e1e/")
        assert asked.answer(0.05) == (None, "hi")
        assert not asked.is_answered and asked.rest == "\x1b]11;rgb:1e1e/"
        asked = Asked(ours, ours)
        os.write(theirs, f"{LIGHT}\x07{LAST}".encode())
        assert asked.answer(10) == (False, "") and asked.is_answered and asked.rest == ""
    finally:
        os.close(theirs)
        os.close(ours)


async def test_a_late_reply_changes_the_theme_and_not_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.appearance.late = LateReply()
        await chat.type("before ")
        for key in keys(f"{LIGHT}\x1b\\{LAST}"):
            chat.app.post_message(key)
        await chat.type("after")
        await chat.until("before after")
        assert chat.app.theme == "accord-light" and chat.app.appearance.late is None


async def test_a_key_that_starts_no_reply_counts_after_a_moment(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.appearance.late = LateReply()
        await chat.press("f1")
        await chat.until("Keys")
        await chat.press("escape")
        await chat.gone("Keys")
        await chat.type("x^")
        await chat.until(lambda: chat.tab.editor.text == "x^")
