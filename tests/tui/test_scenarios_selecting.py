"""What is meant by keys and by names: the newest item, the agent's own draft, a session that is there."""

from __future__ import annotations

import pytest
from scenes import CODER, SHOWCASE, agent_at, answer, chat, say, to_conversation, until_kept
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_tab_selects_what_the_agent_does_now_after_something_older_was_selected(tmux: Tmux) -> None:
    chat(tmux, agent_at("working.py"))
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
    tmux.until("x stops this command")
    tmux.keys("x")
    tmux.until("It ended by SIGTERM")


def test_a_session_that_is_not_there_leaves_the_agent_there(tmux: Tmux) -> None:
    tmux.start("chat", CODER, "--session", "nope", size=(120, 40), env={})
    screen = tmux.until("✗ no session")
    assert "gone" not in screen
    tmux.until("ctrl[+]r begins a new one · ctrl[+]o shows those there are")
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
