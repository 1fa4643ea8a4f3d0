"""Permission requests in a small real terminal, with answers for a limited time."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import SHOWCASE, chat
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_an_answer_lasts_an_hour_and_the_action_is_visible_at_40_by_12(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(40, 12))
    tmux.send("/permission command")
    tmux.until_all("number or", "$ make test", "❯ 1. ", "waiting for you")
    tmux.resize(100, 30)
    tmux.until("t duration")
    tmux.keys("t")
    tmux.until("remembers for an hour: command:make test")
    tmux.keys("a")
    tmux.until("● ready")
    assert "expires" in (tmux.folder / "data" / "permissions.toml").read_text()
