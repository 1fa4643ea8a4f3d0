"""Selecting the newest item, claiming the agent's own draft, and sessions that don't exist."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import CODER, SHOWCASE, agent_at, answer, chat, say, to_conversation, until_kept
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_tab_selects_the_newest_item_again(tmux: Tmux) -> None:
    chat(tmux, agent_at("stepwise_agent.py"))
    say(tmux, "plans", "Planned.")
    to_conversation(tmux)
    tmux.keys("Home")
    tmux.keys("Tab")
    tmux.until_gone("▐")
    tmux.send("waits")
    answer(tmux, "y")
    tmux.until_gone("Permission needed")
    tmux.until(r"\n *│ waiting to be stopped")
    to_conversation(tmux)
    tmux.until("x stop this command")
    tmux.keys("x")
    tmux.until("It ended by SIGTERM")


def test_a_missing_session_keeps_the_agent_running(tmux: Tmux) -> None:
    tmux.start("chat", CODER, "--session", "nope", size=(120, 40), env={})
    screen = tmux.until("✗ no session")
    assert "gone" not in screen
    tmux.until("ctrl[+]r new session · ctrl[+]o sessions")
    tmux.keys("C-r")
    tmux.until("● ready")


def test_a_draft_waits_for_the_agent_it_was_typed_for(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.type("half a prompt")
    until_kept(tmux, "half a prompt")
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    tmux.close()
    chat(tmux, CODER)
    assert "half a prompt" not in tmux.screen
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    tmux.close()
    chat(tmux, SHOWCASE)
    tmux.until("half a prompt")


def test_the_tab_names_the_agent_by_its_title(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.keys("C-t")
    tmux.until("1 +Accord showcase .*2 +. Accord showcase|1 +Accord showcase .*2 +Accord showcase")
    tmux.keys("C-l")
    tmux.until("Log of Accord showcase [(]")
