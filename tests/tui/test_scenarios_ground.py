"""Light, dark and no colours, in a real terminal."""

from __future__ import annotations

import re

import pytest
from scenes import SHOWCASE, chat, say
from tmux import Tmux

pytestmark = pytest.mark.slow


def ground(tmux: Tmux) -> tuple[int, ...]:
    found = re.findall(r"48;2;(\d+);(\d+);(\d+)", tmux.coloured)
    return tuple(map(int, max(found, key=found.count)))


def test_the_theme_is_light_where_the_terminal_is(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, COLORFGBG="0;15")
    assert sum(ground(tmux)) > 3 * 200
    tmux.close()
    chat(tmux, SHOWCASE, COLORFGBG="15;0")
    assert sum(ground(tmux)) < 3 * 60


def test_nothing_of_the_question_to_the_terminal_is_left_in_the_prompt(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE)
    tmux.until("think of something|● ready|starting")
    screen = tmux.until("● ready")
    assert "rgb:" not in screen and "]11" not in screen and "[?" not in screen


def test_without_colours_the_terminal_keeps_its_own(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE, env={"NO_COLOR": "1"})
    raw = tmux.record()
    tmux.until("● ready")
    say(tmux, "/markdown", "An unclosed")
    tmux.keys("F10")
    tmux.until("❯ .*Theme: ")
    codes = {code for found in re.findall(rb"\x1b\[([0-9;]*)m", raw.read_bytes()) for code in found.split(b";") if code}
    assert all(int(code) < 30 for code in codes), codes
