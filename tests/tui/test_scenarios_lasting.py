"""Questions in a small real terminal, and answers that hold for a while."""

from __future__ import annotations

import pytest
from scenes import SHOWCASE, chat
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_an_answer_holds_for_an_hour_and_what_would_happen_is_seen_at_forty_by_twelve(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(40, 12))
    tmux.send("/permission command")
    tmux.until("number or")
    screen = tmux.screen
    assert "$ make test" in screen and "❯ 1. " in screen and "waiting for you" in screen
    tmux.resize(100, 30)
    tmux.until("t how long")
    tmux.keys("t")
    tmux.until("remembers for an hour: command:make test")
    tmux.keys("a")
    tmux.until("● ready")
    assert "expires" in (tmux.folder / "data" / "permissions.toml").read_text()
