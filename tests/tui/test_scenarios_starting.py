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
    tmux.until("Mortal: Log in\\.[^\n]*Ctrl-C ends the login(.|\n)*Your name:")
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


def test_in_the_home_folder_everything_works_but_rewinding_which_is_said(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    data = {"ACCORD_DATA_HOME": str(tmux.project / "data")}
    tmux.start("chat", size=(120, 40), env={**data, "HOME": str(tmux.project)})
    tmux.until("╰──")
    tmux.send("read notes.md")  # perhaps before there is a session
    screen = tmux.until("The secret word is wombat")
    assert "Files cannot be rewound here" in screen and "fault" not in screen


def test_a_configuration_that_cannot_be_read_is_named_and_mended(tmux: Tmux) -> None:
    file = tmux.folder / "config" / "config.toml"
    file.parent.mkdir()
    file.write_text("agents = [[[ nonsense\n")
    tmux.start("chat", size=(120, 40))
    screen = tmux.until("The configuration cannot be read:(.|\n)*line 1")
    assert "could not be used" not in screen and "chooses another" not in screen
    tmux.keys("M-d")
    tmux.until("configuration: (.|\n)*mend the file")
    tmux.keys("Escape")
    tmux.until_gone("mend the file")
    file.write_text("")
    tmux.keys("C-r")
    tmux.until("● ready")
