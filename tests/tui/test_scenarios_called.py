"""Being called, and the title of the window: what the terminal around tmux gets."""

from __future__ import annotations

import os
import time

import pytest
from outer import looking_at
from scenes import agent_at, chat, say
from tmux import PATIENCE, Tmux

pytestmark = pytest.mark.slow


def title_of(tmux: Tmux) -> str:
    return tmux._tmux("display-message", "-p", "-t", "t", "#{pane_title}").strip()


def test_a_notification_and_the_bell_reach_the_terminal_around_tmux(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux._tmux("set-option", "-g", "allow-passthrough", "on")
    with looking_at(tmux) as outer:
        outer.until(b"ready")
        tmux.keys("-H", "1b", "5b", "4f")  # the window lost the focus
        outer.seen = b""
        tmux.send("shows")
        outer.until(b"\x1b]9;Accord: ")
        outer.until(b"the turn has ended\x1b\\")
        outer.until(b"\x07")


def test_the_title_of_the_window_names_the_session_and_is_given_back(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    end = time.monotonic() + PATIENCE
    while " – accord" not in title_of(tmux):
        assert time.monotonic() < end, f"the title is {title_of(tmux)!r}"
        time.sleep(0.05)
    say(tmux, "shows", "The grass is green")
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    assert title_of(tmux) == os.uname().nodename
