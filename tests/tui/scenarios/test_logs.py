"""The log of an agent in a real terminal."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import agent_at, chat, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_log_has_the_handshake_and_a_message_opens_and_the_log_is_saved(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(80, 24))
    tmux.keys("C-l")
    tmux.until_all("→ initialize", "session/new", "f8 save to a file", "esc")
    tmux.type("method:initialize")
    tmux.until_gone("session/new")
    tmux.keys("Up", "Enter")
    tmux.until('"protocolVersion": 1')
    tmux.keys("Escape")
    tmux.until("filter|method:initialize")
    raw = tmux.record()
    tmux.keys("F8")
    until_in(raw, b"Saved to")
    (path,) = tmux.project.glob("accord-log-*.txt")
    assert "→" in path.read_text() and "session/new" not in path.read_text()
    tmux.keys("Escape")
    tmux.until_gone("Log of")
