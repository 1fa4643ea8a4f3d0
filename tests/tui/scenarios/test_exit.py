"""Exits of every kind in a real terminal: killed, crashed, suspended. The terminal stays usable."""

from __future__ import annotations

import os
import re
import signal
import sys

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, chat, child_of, client_of, until_ended, until_kept
from support.tmux import Tmux

pytestmark = pytest.mark.slow

CRASH = """
import accord.tui.prompt.history as history

def crash(self, text):
    raise RuntimeError("a fault of ours")

history.History.add = crash
"""


def shell(tmux: Tmux) -> str:
    """Start a shell with job control. Return the state of its terminal."""
    tmux.start("--version", after="PS1='prompt> ' exec bash --norc --noprofile -i")
    tmux.until("prompt>")
    return state(tmux)


def state(tmux: Tmux) -> str:
    """Return the terminal settings as printed by stty."""
    tmux.send("clear; stty -g; echo that was it")
    found = re.search(r"^([0-9a-f:]{40,})\n(.*\n)?that was it", tmux.until("(?m)^that was it"), re.MULTILINE)
    assert found is not None, tmux.screen
    return found[1]


def typed_is_seen(tmux: Tmux) -> None:
    tmux.send("echo $((40 + 2))")
    screen = tmux.until("(?m)^42$")
    assert "echo $((40 + 2))" in screen


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT], ids=lambda each: each.name
)
def test_a_signal_during_a_turn_restores_the_terminal(tmux: Tmux, number: signal.Signals) -> None:
    before = shell(tmux)
    tmux.send(f"{sys.executable} -m accord chat '{SHOWCASE}'")
    tmux.until("● ready")
    tmux.send("/slow 60")
    tmux.until("2 of")
    client = client_of(tmux)
    agent = child_of(client, "accord showcase")
    os.kill(client, number)
    tmux.until(r"prompt>\s*$")
    assert not tmux.is_alternate
    assert state(tmux) == before
    typed_is_seen(tmux)
    until_ended(agent)


def test_killing_the_client_ends_its_agents_and_restores_the_terminal(tmux: Tmux) -> None:
    before = shell(tmux)
    tmux.send(f"{sys.executable} -m accord chat '{SHOWCASE}'")
    tmux.until("● ready")
    tmux.type("not sent yet")
    tmux.until("│ not sent yet")
    client = client_of(tmux)
    agent = child_of(client, "accord showcase")
    draft = until_kept(tmux, "not sent yet")
    os.kill(client, signal.SIGKILL)
    until_ended(client)
    until_ended(agent)
    tmux.until("Accord was killed; your drafts are saved")
    assert not tmux.is_alternate
    assert state(tmux) == before
    typed_is_seen(tmux)
    assert "not sent yet" in draft.read_text()


def test_a_kill_restores_the_terminal_without_a_shell(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    client = client_of(tmux)
    os.kill(client, signal.SIGKILL)
    tmux.until("Accord was killed; your drafts are saved")
    assert not tmux.is_alternate
    typed_is_seen(tmux)


def test_a_bug_in_accord_exits_cleanly_and_saves_the_draft(tmux: Tmux) -> None:
    (tmux.folder / "site").mkdir()
    (tmux.folder / "site" / "sitecustomize.py").write_text(CRASH)
    path = os.pathsep.join(filter(None, [str(tmux.folder / "site"), os.environ.get("PYTHONPATH")]))
    chat(tmux, agent_at("tui_agent.py"), PYTHONPATH=path)
    agent = child_of(client_of(tmux), "tui_agent.py")
    tmux.send("precious words")
    screen = tmux.until(r"it ended with 1\n-?echo\n")
    assert "Accord had to stop: RuntimeError: a fault of ours" in screen
    assert "Unsent text is saved" in screen
    assert "Traceback" not in screen and "-echo" not in screen
    assert not tmux.is_alternate
    until_ended(agent)


def test_suspending_twice_restores_the_terminal_each_time(tmux: Tmux) -> None:
    before = shell(tmux)
    tmux.send(f"{sys.executable} -m accord chat '{agent_at('tui_agent.py')}'")
    tmux.until("● ready")
    tmux.send("counts")
    tmux.until(r"Line \d+ of")
    for _ in range(2):
        tmux.keys("C-z")
        tmux.until("Stopped")
        assert not tmux.is_alternate
        assert state(tmux) == before
        tmux.send("fg")
        tmux.until("working")
        assert tmux.is_alternate
    tmux.type("after all that")
    tmux.until("│ after all that")
    tmux.keys("Escape")
    tmux.until("● ready")


def test_leaving_prints_how_to_continue_a_session_with_messages(tmux: Tmux) -> None:
    chat(tmux, None, size=(80, 24), ACCORD_MODEL="offline")
    tmux.until("/ commands")
    tmux.send("hello")
    tmux.until("This is the demo without a language model(.|\n)*● ready")
    tmux.keys("C-c", "C-c")
    assert "Continue with: accord -c\n" in tmux.until("it ended with 0")


def test_leaving_an_empty_session_prints_nothing(tmux: Tmux) -> None:
    chat(tmux, None, size=(80, 24), ACCORD_MODEL="offline")
    tmux.until("/ commands")
    tmux.keys("C-c", "C-c")
    assert "Continue with" not in tmux.until("it ended with 0")
