"""What somebody sees who begins, in a real terminal."""

from __future__ import annotations

import pytest
from scenes import CODER, chat
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_with_the_built_in_agent_the_keys_to_begin_with_are_seen_until_something_was_said(tmux: Tmux) -> None:
    chat(tmux, CODER, size=(80, 24), ACCORD_MODEL="offline")
    screen = " ".join(tmux.until("ctrl\\+p finds everything else|Type what you want").split())
    assert "/ lists the agent's commands" in screen and "@ names a file" in screen and "? shows the keys" in screen
    tmux.send("list files")
    tmux.until_gone("lists the agent's commands")
