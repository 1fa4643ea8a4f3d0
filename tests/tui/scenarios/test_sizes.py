"""Resized windows, wide characters and long sessions in a real terminal."""

from __future__ import annotations

import re
from functools import partial

import pytest
from rich.cells import cell_len
from support.terminal_scenarios import agent_at, chat, say
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_window_can_be_resized_during_a_turn(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(120, 40))
    tmux.send("counts")
    tmux.until(r"Line \d+ of")
    tmux.type("half a prompt")
    for columns, rows in ((50, 15), (160, 50), (80, 24), (30, 10), (100, 30)):
        tmux.resize(columns, rows)
        box = rf"╭─{{{columns - 2}}}╮\n│ half a prompt +│\n╰─{{{columns - 2}}}╯\n .*working"
        lines = tmux.until(box).splitlines()
        assert len(lines) <= rows and max(map(cell_len, lines)) <= columns
        before = newest_line("\n".join(lines))
        tmux.until_true(partial(has_later_line, before + 1), "more lines")
    tmux.keys("Escape")
    tmux.until("● ready")


def has_later_line(than: int, screen: str) -> bool:
    return newest_line(screen) > than


def newest_line(screen: str) -> int:
    return max(map(int, re.findall(r"Line (\d+)", screen)), default=0)


def test_wide_characters_stay_aligned(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(90, 40))
    screen = say(tmux, "columns", "Columns")
    ends = {_column(line, "here") for line in screen.splitlines() if "here" in line}
    assert len(ends) == 1, screen
    tmux.type("日本語🎉")
    screen = tmux.until("│ 日本語🎉")
    line = next(each for each in screen.splitlines() if "│ 日本語🎉" in each)
    assert cell_len(line) == 90 and line.endswith("│")
    tmux.until_true(lambda _: tmux.cursor[0] == 2 + 8, "the cursor behind the text")


def _column(line: str, wanted: str) -> int:
    return cell_len(line[: line.index(wanted)])


def test_ten_thousand_messages_scroll_while_more_arrive(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(90, 30))
    tmux.send("tells 10000")
    tmux.type("typed meanwhile")
    tmux.until("│ typed meanwhile")
    tmux.until("Told")
    tmux.until("● ready")
    tmux.keys("C-Home")
    tmux.until_all("This is message 1.", "tells 10000")
    tmux.keys("NPage")
    tmux.until_gone("This is message 1\\.")
    tmux.keys("C-End")
    tmux.until("This is message 10000")
    tmux.keys("PPage")
    tmux.until_gone("This is message 10000")
    tmux.keys("C-End")
    tmux.until("Told")
    tmux.keys("C-u")
    say(tmux, "shows", "The grass is green")


def test_agent_output_cannot_control_the_terminal(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(80, 24))
    raw = tmux.record()
    screen = say(tmux, "clears", "after")
    assert "before" in screen and "clears" in screen
    assert b"owned\x07" not in raw.read_bytes() and b"\x1b]0;owned" not in raw.read_bytes()
    assert b"\x1b[2J" not in raw.read_bytes()
