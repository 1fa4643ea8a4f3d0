"""Agents in a real terminal: the start page, the doctor, the log, and agents that behave badly."""

from __future__ import annotations

import json

import pytest
from scenes import SHOWCASE, agent_at, chat, do, say
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_start_page_has_configured_and_registry_agents_and_keeps_a_command_line(tmux: Tmux) -> None:
    entry = {
        "id": "box",
        "name": "Box agent",
        "version": "1.0.0",
        "description": "from a registry",
        "distribution": {"npx": {"package": "box@1.0.0"}},
    }
    (tmux.folder / "r.json").write_text(json.dumps({"version": "1.0.0", "agents": [entry]}))
    (tmux.folder / "config").mkdir()
    config = tmux.folder / "config" / "config.toml"
    trying = agent_at("trying.py")
    config.write_text(f'registry = \'{tmux.folder / "r.json"}\'\n[agents.tried]\ncommand = """{trying}"""\n')
    chat(tmux, "tried")
    tmux.keys("C-n")
    screen = tmux.until("Box agent")
    assert "tried" in screen and "from a registry" in screen
    tmux.type(f"{trying} --kept")
    tmux.until("Start: ")
    tmux.keys("F5")
    tmux.until("A name for")
    tmux.send("again")
    tmux.until("again is configured now")
    tmux.until("● ready")
    assert "[agents.again]" in config.read_text()


def test_an_agent_that_does_not_start_is_looked_at_by_the_doctor(tmux: Tmux) -> None:
    tmux.start("chat", agent_at("mischief.py", "dies at once"))
    tmux.until("could not be used")
    tmux.until("No API key: set EXAMPLE_KEY")
    do(tmux, "Doctor")
    tmux.until("✗ ")
    tmux.until("That was all")


def test_the_log_is_filtered(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    say(tmux, "prints", "Printed")
    tmux.keys("C-l")
    tmux.until("a needle on standard error")
    tmux.type("needle")
    tmux.until_gone("and hay on")
    tmux.until("! a needle on standard error")


def test_an_agent_that_floods_can_be_stopped_and_one_that_hangs_can_be_killed(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.send("floods")
    tmux.until(r"word\d{4}")
    tmux.type("hangs")
    tmux.until("│ hangs")
    tmux.resize(90, 30)
    tmux.until("│ hangs")
    tmux.keys("Escape")
    tmux.until("Cancelled")
    tmux.until("● ready")
    tmux.keys("Enter")
    tmux.until("think of something")
    tmux.type("still here")
    tmux.until("│ still here")
    do(tmux, "Kill the agent")
    tmux.until("End the agent at once\\?")
    tmux.keys("Down")
    tmux.keys("Enter")
    tmux.until("The agent is gone(.|\n)*You ended it")
    tmux.until("still here")


def test_an_agent_that_dies_says_its_last_words_and_twenty_megabytes_do_no_harm(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    say(tmux, "finds", "That was twenty megabytes")
    tmux.keys("F3")
    tmux.until("a line of output that goes on and on")
    tmux.send("dies")
    tmux.until("The agent is gone")
    tmux.until(r"its[^a-z]+last words")  # on one line, or on two


@pytest.mark.parametrize("version", [(), ("--v2",)], ids=["version 1", "version 2"])
def test_updates_that_nobody_knows_do_no_harm(tmux: Tmux, version: tuple[str, ...]) -> None:
    chat(tmux, SHOWCASE, *version)
    say(tmux, "/unknown", "that you do not know")
    tmux.until("1 updates? not known")
    say(tmux, "/markdown", "An unclosed|and the end")
