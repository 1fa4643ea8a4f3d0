"""Light, dark and no colors, in a real terminal."""

from __future__ import annotations

import re

import pytest
from support.terminal_scenarios import SHOWCASE, chat, say
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def ground(tmux: Tmux) -> tuple[int, ...]:
    found = re.findall(r"48;2;(\d+);(\d+);(\d+)", tmux.colored)
    return tuple(map(int, max(found, key=found.count)))


def test_the_theme_is_light_in_a_light_terminal(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, COLORFGBG="0;15")
    tmux.until_true(lambda _: sum(ground(tmux)) > 3 * 200, "a light background")
    tmux.close()
    chat(tmux, SHOWCASE, COLORFGBG="15;0")
    tmux.until_true(lambda _: sum(ground(tmux)) < 3 * 60, "a dark background")


def test_the_background_query_leaves_nothing_in_the_prompt(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE)
    tmux.until("think of something|● ready|starting")
    screen = tmux.until("● ready")
    assert "rgb:" not in screen and "]11" not in screen and "[?" not in screen


def test_without_colors_the_terminal_keeps_its_own_colors(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE, env={"NO_COLOR": "1"})
    raw = tmux.record()
    tmux.until("● ready")
    say(tmux, "/markdown", "An unclosed")
    tmux.keys("F10")
    tmux.until("❯ .*Theme: ")
    codes = {code for found in re.findall(rb"\x1b\[([0-9;]*)m", raw.read_bytes()) for code in found.split(b";") if code}
    assert all(int(code) < 30 for code in codes), codes
