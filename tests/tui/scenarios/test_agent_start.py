"""Starting and logging in, in a real terminal: agents that hang, and login programs."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import agent_at, chat, do
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_prompt_continues_after_a_login(tmux: Tmux) -> None:
    home = tmux.folder / "mortal"
    home.mkdir()
    chat(tmux, agent_at("mortal_agent.py"), MORTAL_HOME=str(home), MORTAL_ASKS_LATE="1", MORTAL_FORGETS="1")
    tmux.send("hello")
    tmux.until("requires a login")
    tmux.until("enter choose")  # from now on it accepts keys
    tmux.keys("Enter")
    tmux.until("prompt 1 in process")
    screen = tmux.until("● ready")
    assert "New session: the agent was restarted" in screen and "gone" not in screen


def test_ctrl_c_cancels_only_the_login(tmux: Tmux) -> None:
    home = tmux.folder / "mortal"
    home.mkdir()
    chat(tmux, agent_at("mortal_agent.py"), MORTAL_HOME=str(home), MORTAL_LOGIN_WAITS="1")
    do(tmux, "Log in")
    tmux.until("Login methods of")
    tmux.keys("Enter")
    tmux.until("Mortal: Log in\\.[^\n]*Ctrl-C cancels the login(.|\n)*Your name:")
    tmux.keys("C-c")
    tmux.until("failed; try again")
    tmux.until("● ready")
    tmux.send("hello")
    tmux.until("prompt 1 in process")


@pytest.mark.parametrize("step", ["initialize", "session/new"])
def test_a_hanging_agent_can_be_cancelled(tmux: Tmux, step: str) -> None:
    tmux.start("chat", agent_at("stuck_agent.py", step))
    tmux.until("esc or f12 cancel")
    tmux.until("hasn't (responded|opened a session) for")
    tmux.keys("C-l")
    tmux.until("warming up")
    tmux.keys("Escape")
    tmux.until("esc or f12 cancel")
    tmux.keys("Escape" if step == "initialize" else "F12")
    tmux.until("You cancelled")
    tmux.until("ctrl.r restart")


def test_in_the_home_directory_everything_works_except_rewinding(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    data = {"ACCORD_DATA_HOME": str(tmux.project / "data")}
    tmux.start("chat", size=(120, 40), env={**data, "HOME": str(tmux.project)})
    tmux.until("╰──")
    tmux.send("read notes.md")  # perhaps before there is a session
    screen = tmux.until("The secret word is wombat")
    assert "Files can't be rewound here" in screen and "fault" not in screen


def test_an_invalid_configuration_is_reported_and_can_be_fixed(tmux: Tmux) -> None:
    file = tmux.folder / "config" / "config.toml"
    file.parent.mkdir()
    file.write_text("agents = [[[ nonsense\n")
    tmux.start("chat", size=(120, 40))
    screen = tmux.until("The configuration is invalid:(.|\n)*line 1")
    assert "Couldn't start" not in screen and "choose another" not in screen
    tmux.keys("M-d")
    tmux.until("configuration: (.|\n)*fix the file")
    tmux.keys("Escape")
    tmux.until_gone("fix the file")
    file.write_text("")
    tmux.keys("C-r")
    tmux.until("● ready")
