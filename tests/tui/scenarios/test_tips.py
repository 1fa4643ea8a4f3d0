"""Tips for new users in a real terminal."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import CODER, chat
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_built_in_agent_shows_tips_until_the_first_prompt(tmux: Tmux) -> None:
    chat(tmux, CODER, size=(80, 24), ACCORD_MODEL="offline")
    screen = " ".join(tmux.until("ctrl\\+p search all commands|Type a prompt").split())
    assert "/ commands" in screen and "@ mention a file" in screen and "? shortcuts" in screen
    tmux.send("list files")
    tmux.until_gone("@ mention a file")
