"""Ends of every kind in a real terminal: killed, crashed, suspended. The terminal can be used afterwards."""

from __future__ import annotations

import os
import re
import signal
import sys

import pytest
from scenes import SHOWCASE, agent_at, chat, child_of, client_of, until_ended, until_kept
from tmux import Tmux

pytestmark = pytest.mark.slow

CRASH = """
import accord.tui.prompt.history as history

def crash(self, text):
    raise RuntimeError("a fault of ours")

history.History.add = crash
"""


def shell(tmux: Tmux) -> str:
    """A shell with job control, as people have it; gives the state of its terminal."""
    tmux.start("--version", after="PS1='prompt> ' exec bash --norc --noprofile -i")
    tmux.until("prompt>")
    return state(tmux)


def state(tmux: Tmux) -> str:
    """How the terminal is set, as stty says it."""
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
def test_a_signal_in_the_middle_of_an_answer_gives_the_terminal_back_as_it_was(
    tmux: Tmux, number: signal.Signals
) -> None:
    before = shell(tmux)
    tmux.send(f"{sys.executable} -m accord chat '{SHOWCASE}'")
    tmux.until("● ready")
    tmux.send("/slow 60")
    tmux.until("2 of")
    client = client_of(tmux)
    agent = child_of(client, "showcase")
    os.kill(client, number)
    tmux.until(r"prompt>\s*$")
    assert not tmux.is_alternate
    assert state(tmux) == before
    typed_is_seen(tmux)
    until_ended(agent)


def test_a_client_that_is_killed_takes_its_agents_with_it_and_the_terminal_is_put_back(tmux: Tmux) -> None:
    before = shell(tmux)
    tmux.send(f"{sys.executable} -m accord chat '{SHOWCASE}'")
    tmux.until("● ready")
    tmux.type("not sent yet")
    tmux.until("│ not sent yet")
    client = client_of(tmux)
    agent = child_of(client, "showcase")
    draft = until_kept(tmux, "not sent yet")
    os.kill(client, signal.SIGKILL)
    until_ended(client)
    until_ended(agent)
    tmux.until("Accord was killed; what you typed is kept")
    assert not tmux.is_alternate
    assert state(tmux) == before
    typed_is_seen(tmux)
    assert "not sent yet" in draft.read_text()


def test_a_terminal_that_nobody_else_sets_is_put_back_after_a_kill(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    client = client_of(tmux)
    os.kill(client, signal.SIGKILL)
    tmux.until("Accord was killed; what you typed is kept")
    assert not tmux.is_alternate
    typed_is_seen(tmux)


def test_a_fault_of_ours_ends_it_in_order_and_what_was_typed_is_kept(tmux: Tmux) -> None:
    (tmux.folder / "site").mkdir()
    (tmux.folder / "site" / "sitecustomize.py").write_text(CRASH)
    path = os.pathsep.join(filter(None, [str(tmux.folder / "site"), os.environ.get("PYTHONPATH")]))
    chat(tmux, agent_at("trying.py"), PYTHONPATH=path)
    agent = child_of(client_of(tmux), "trying.py")
    tmux.send("precious words")
    screen = tmux.until("it ended with 1")
    assert "Accord had to stop: RuntimeError: a fault of ours" in screen
    assert "What you typed is kept" in screen
    assert "Traceback" not in screen and "-echo" not in screen
    assert not tmux.is_alternate
    until_ended(agent)


def test_suspended_it_gives_the_terminal_back_and_takes_it_again_twice(tmux: Tmux) -> None:
    before = shell(tmux)
    tmux.send(f"{sys.executable} -m accord chat '{agent_at('trying.py')}'")
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
