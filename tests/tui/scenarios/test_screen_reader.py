"""Screen reader mode in a real terminal."""

from __future__ import annotations

import re

import pytest
from support.terminal_scenarios import SHOWCASE, answer, chat
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_screen_reader_gets_one_column_of_text_and_a_visible_cursor(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, ACCORD_SCREEN_READER="1")
    tmux.type("/permission command")
    screen = tmux.until("/permission command")
    assert re.search("[\u2500-\u259f\u2800-\u28ff]", screen) is None
    row = next(number for number, line in enumerate(screen.splitlines()) if "/permission command" in line)
    tmux.until_cursor(screen.splitlines()[row].index("/") + len("/permission command"), row)
    tmux.until_true(lambda _: tmux.is_cursor_visible, "a visible cursor")
    tmux.keys("Escape")
    tmux.keys("Enter")
    tmux.until("Permission needed: ")
    answer(tmux, "y")
    tmux.until("The agent is done")
