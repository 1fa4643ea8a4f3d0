"""Notifications and the window title, as the terminal around tmux receives them."""

from __future__ import annotations

import os

import pytest
from support.outer_terminal import looking_at
from support.terminal_scenarios import agent_at, chat, say
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_notification_and_the_bell_reach_the_terminal_around_tmux(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux._tmux("set-option", "-g", "allow-passthrough", "on")
    with looking_at(tmux) as outer:
        outer.until(b"ready")
        tmux.keys("-H", "1b", "5b", "4f")  # the window lost the focus
        outer.seen = b""
        tmux.send("shows")
        outer.until(b"\x1b]9;Accord: ")
        outer.until(b"the turn has ended\x1b\\")
        outer.until(b"\x07")


def test_the_window_title_names_the_session_and_is_restored(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.until_true(lambda _: " – accord" in tmux.title, "the window title")
    say(tmux, "shows", "The grass is green")
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    assert tmux.title == os.uname().nodename
