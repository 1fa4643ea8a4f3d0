"""The start page in a real terminal."""

from __future__ import annotations

import json

import pytest
from support.terminal_scenarios import agent_at, say
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def join_lines(screen: str) -> str:
    """Return the text of a screen with wrapped lines joined."""
    return " ".join(screen.replace("│", " ").split())


def test_with_several_agents_the_client_opens_on_the_start_page(tmux: Tmux) -> None:
    (tmux.folder / "config").mkdir()
    trying = agent_at("tui_agent.py")
    agents = "".join(f'[agents.{name}]\ncommand = """{trying}"""\n' for name in ("first", "second"))
    (tmux.folder / "config" / "config.toml").write_text(agents)
    tmux.start("chat", size=(80, 24))
    tmux.until("Start an agent(.|\n)*built-in agent")
    hints = ("first", "second", "or a command line", "f3 doctor", "f6 make default", "esc back")
    tmux.until_true(lambda screen: all(each in join_lines(screen) for each in hints), "the agents and the keys")
    tmux.keys("Down")
    tmux.until("❯ +second")
    tmux.keys("Enter")
    tmux.until("● ready")
    say(tmux, "shows", "The grass is green")


def test_the_pick_option_opens_the_start_page_with_the_built_in_agent(tmux: Tmux) -> None:
    tmux.start("chat", "--pick", size=(80, 24))
    tmux.until("✓ built-in agent")
    tmux.keys("Enter")
    tmux.until("● ready")


def test_a_registry_agent_is_installed_inside_the_client(tmux: Tmux) -> None:
    entry = {
        "id": "box",
        "name": "Box agent",
        "version": "1.0.0",
        "description": "from a registry",
        "distribution": {"npx": {"package": str(tmux.folder / "nowhere.tgz")}},
    }
    (tmux.folder / "r.json").write_text(json.dumps({"version": "1.0.0", "agents": [entry]}))
    (tmux.folder / "config").mkdir()
    (tmux.folder / "config" / "config.toml").write_text(f"registry = '{tmux.folder / 'r.json'}'\n")
    tmux.start("chat", "--pick", size=(80, 24))
    tmux.until("Box agent")
    tmux.type("box")
    tmux.until_gone("built-in agent")
    tmux.keys("Enter")
    tmux.until("Couldn't start(.|\n)*(npm failed|npm package|Node.js)")
    tmux.until("alt\\+d diagnose")
