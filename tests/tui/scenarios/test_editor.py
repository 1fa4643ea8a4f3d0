"""The user's editor in a real terminal: for the prompt, the location of a tool call, and complete texts."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from support.terminal_scenarios import agent_at, chat, say, to_conversation, until_in, until_written
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def editor(tmux: Tmux, script: str, name: str = "vim") -> str:
    """Write an editor script that saves its arguments to the file `started`."""
    path = tmux.folder / name
    whole = shlex.quote(str(read_arguments(tmux)))
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {whole}.part && mv {whole}.part {whole}\n{script}\n')
    os.chmod(path, 0o755)
    return str(path)


def read_arguments(tmux: Tmux) -> Path:
    return tmux.folder / "started"


def test_the_prompt_can_be_edited_in_the_editor(tmux: Tmux) -> None:
    script = 'cat "$1" > seen; printf "a longer prompt\\nin two lines\\n" > "$1"'
    chat(tmux, agent_at("tui_agent.py"), EDITOR=editor(tmux, script))
    tmux.type("begun here")
    tmux.until("│ begun here")
    tmux.keys("F4")
    tmux.until("│ a longer prompt")
    assert (tmux.project / "seen").read_text() == "begun here"
    assert tmux.is_alternate
    tmux.keys("Enter")
    tmux.until(r"You said: a longer prompt *(│ *)?\n *in two lines")
    leftovers = [Path(word) for word in read_arguments(tmux).read_text().splitlines()]
    assert not any(path.exists() for path in leftovers)


def test_the_editor_has_the_terminal_to_itself_and_returns_it(tmux: Tmux) -> None:
    script = 'stty -a | grep -o "[-]*icanon"; echo "What do you want?"; read line; printf "%s" "$line" > "$1"'
    chat(tmux, agent_at("tui_agent.py"), EDITOR=editor(tmux, script))
    tmux.keys("F4")
    screen = tmux.until("What do you want")
    assert "icanon" in screen and "-icanon" not in screen
    assert not tmux.is_alternate
    tmux.send("tea, please")
    tmux.until("● ready")
    tmux.until("│ tea, please")
    tmux.keys("Enter")
    tmux.until("You said: tea, please")


def test_the_location_of_a_tool_call_opens_at_its_line(tmux: Tmux) -> None:
    garden = tmux.project / "garden.py"
    garden.write_text("one\ntwo\nthree\n")
    chat(tmux, agent_at("tui_agent.py"), EDITOR=editor(tmux, "exit 0"))
    say(tmux, "edits", "Looked")
    to_conversation(tmux)
    tmux.keys("Up")
    tmux.keys("e")
    tmux.until("● ready")
    until_written(read_arguments(tmux))
    assert read_arguments(tmux).read_text().splitlines() == ["+3", str(garden)]


def test_the_editor_shows_a_complete_message(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), EDITOR=editor(tmux, 'cat "$1" > whole; echo done > ready'))
    say(tmux, "shows", "The grass is green")
    to_conversation(tmux)
    tmux.keys("e")
    until_written(tmux.project / "ready")
    assert (tmux.project / "whole").read_text() == "The grass is green."


def test_an_editor_error_is_reported_and_the_prompt_stays(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), EDITOR="/nowhere/edit")
    tmux.type("kept")
    tmux.until("│ kept")
    raw = tmux.record()
    tmux.keys("F4")
    until_in(raw, b"/nowhere/edit couldn't be started")
    until_in(raw, b"set EDITOR")
    tmux.until("│ kept")
    tmux.close()
    name = Path(editor(tmux, "exit 4")).name  # a path that is too long for one line would break the message
    chat(tmux, agent_at("tui_agent.py"), EDITOR=name, PATH=f"{tmux.folder}{os.pathsep}{os.environ['PATH']}")
    tmux.until("│ kept")
    tmux.record()
    tmux.keys("F4")
    until_in(raw, b"vim exited with status 4")
    tmux.until("│ kept")
