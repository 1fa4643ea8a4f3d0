"""Agents in a real terminal: the start page, the doctor, the log, and agents that behave badly."""

from __future__ import annotations

import json

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, chat, do, say, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_start_page_lists_agents_and_saves_a_command_line(tmux: Tmux) -> None:
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
    trying = agent_at("tui_agent.py")
    config.write_text(f'registry = \'{tmux.folder / "r.json"}\'\n[agents.tried]\ncommand = """{trying}"""\n')
    chat(tmux, "tried")
    tmux.keys("C-n")
    tmux.until_all("Box agent", "tried", "from a registry")
    tmux.type(f"{trying} --kept")
    tmux.until("Start: ")
    tmux.keys("F5")
    tmux.until("A name for")
    raw = tmux.record()
    tmux.send("again")
    until_in(raw, b"Added again")
    tmux.until("● ready")
    assert "[agents.again]" in config.read_text()


def test_the_doctor_examines_an_agent_that_does_not_start(tmux: Tmux) -> None:
    tmux.start("chat", agent_at("misbehaving_agent.py", "dies at once"))
    tmux.until("Couldn't start")
    tmux.until("No API key: set EXAMPLE_KEY")
    do(tmux, "Doctor")
    tmux.until("✗ ")
    tmux.until("Done.")


def test_the_log_is_filtered(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    say(tmux, "prints", "Printed")
    tmux.keys("C-l")
    tmux.until("a needle on standard error")
    tmux.type("needle")
    tmux.until_gone("and hay on")
    tmux.until("! a needle on standard error")


def test_a_flooding_agent_can_be_stopped_and_a_hanging_one_killed(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
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
    tmux.until("Kill the agent\\?")
    tmux.keys("Down")
    tmux.keys("Enter")
    tmux.until("The agent has exited(.|\n)*You killed it")
    tmux.until("still here")


def test_the_last_output_of_a_dead_agent_is_shown_even_after_20_megabytes(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    say(tmux, "finds", "That was twenty megabytes")
    tmux.keys("F3")
    tmux.until("a line of output that goes on and on")
    tmux.send("dies")
    tmux.until("The agent has exited")
    tmux.until(r"standard[^a-z]+error")  # on one line, or on two


@pytest.mark.parametrize("version", [(), ("--v2",)], ids=["version 1", "version 2"])
def test_unknown_updates_are_harmless(tmux: Tmux, version: tuple[str, ...]) -> None:
    chat(tmux, SHOWCASE, *version)
    say(tmux, "/unknown", "of (an )?unknown type")
    tmux.until("1 updates? not supported")
    say(tmux, "/markdown", "An unclosed|and the end")
