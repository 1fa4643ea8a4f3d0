"""Starting and logging in, in a real terminal: agents that hang, and logins of their own."""

from __future__ import annotations

import pytest
from scenes import agent_at, chat, do
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_prompt_goes_on_after_a_login_in_a_real_terminal(tmux: Tmux) -> None:
    home = tmux.folder / "mortal"
    home.mkdir()
    chat(tmux, agent_at("mortal_agent.py"), MORTAL_HOME=str(home), MORTAL_ASKS_LATE="1", MORTAL_FORGETS="1")
    tmux.send("hello")
    tmux.until("wants you to log in")
    tmux.until_gone("keys count in a moment")
    tmux.keys("Enter")
    tmux.until("prompt 1 in process")
    screen = tmux.until("● ready")
    assert "A new session: the agent was started again" in screen and "gone" not in screen


def test_ctrl_c_ends_a_login_and_nothing_else(tmux: Tmux) -> None:
    home = tmux.folder / "mortal"
    home.mkdir()
    chat(tmux, agent_at("mortal_agent.py"), MORTAL_HOME=str(home), MORTAL_LOGIN_WAITS="1")
    do(tmux, "Log in")
    tmux.until("The logins of")
    tmux.keys("Enter")
    tmux.until("Your name:")
    tmux.keys("C-c")
    tmux.until("did not succeed")
    tmux.until("● ready")
    tmux.send("hello")
    tmux.until("prompt 1 in process")


@pytest.mark.parametrize("step", ["initialize", "session/new"])
def test_an_agent_that_hangs_is_ended_in_a_real_terminal(tmux: Tmux, step: str) -> None:
    tmux.start("chat", agent_at("hanging.py", step))
    tmux.until("esc ends it")
    tmux.until("has not (answered|opened a session) for")
    tmux.keys("C-l")
    tmux.until("warming up")
    tmux.keys("Escape")
    tmux.until("esc ends it")
    tmux.keys("Escape" if step == "initialize" else "F12")
    tmux.until("You ended it before")
    tmux.until("ctrl.r starts it again")
