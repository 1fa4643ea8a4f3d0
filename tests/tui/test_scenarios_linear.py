"""The client for those who have the screen read to them, in a real terminal."""

from __future__ import annotations

import re

import pytest
from scenes import SHOWCASE, answer, chat
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_screen_is_words_in_one_column_and_the_cursor_is_seen_where_one_types(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, ACCORD_SCREEN_READER="1")
    tmux.type("/permission command")
    screen = tmux.until("/permission command")
    assert re.search("[\u2500-\u259f\u2800-\u28ff]", screen) is None
    row = next(number for number, line in enumerate(screen.splitlines()) if "/permission command" in line)
    assert tmux.cursor == (screen.splitlines()[row].index("/") + len("/permission command"), row)
    assert tmux._tmux("display-message", "-p", "-t", "t", "#{cursor_flag}").strip() == "1"
    tmux.keys("Escape")
    tmux.keys("Enter")
    tmux.until("You are asked: ")
    answer(tmux, "y")
    tmux.until("The agent is done")
