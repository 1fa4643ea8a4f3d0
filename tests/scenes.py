"""What scenarios in a real terminal have in common: agents to talk with, the palette, answers to questions."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from tmux import Tmux

AGENTS = Path(__file__).resolve().parent / "agents"
SHOWCASE = f"{sys.executable} -m accord showcase --pace 0"
CODER = f"{sys.executable} -m accord agent"


def agent_at(name: str, *words: str) -> str:
    """The command line of an agent of the tests."""
    return shlex.join([sys.executable, str(AGENTS / name), *words])


def chat(tmux: Tmux, agent: str | None = SHOWCASE, *more: str, size: tuple[int, int] = (120, 40), **env: str) -> None:
    """Opens the client on an agent and waits until it is ready."""
    tmux.start("chat", *([agent] if agent else []), *more, size=size, env=env)
    tmux.until("● ready")


def say(tmux: Tmux, prompt: str, answer: str) -> str:
    """Sends a prompt and waits for its answer and the end of the turn."""
    tmux.send(prompt)
    tmux.until(answer)
    return tmux.until("● ready")


def do(tmux: Tmux, command: str) -> None:
    """Finds a command in the palette and runs it."""
    tmux.keys("C-p")
    tmux.until("Search for commands")
    tmux.type(command)
    tmux.until(rf"{re.escape(command)}[^\n]*\n(.|\n)*{re.escape(command)}")
    tmux.keys("Enter")
    tmux.until_gone("Search for commands|▔▔▔▔▔▔")


def answer(tmux: Tmux, key: str) -> None:
    """Answers the question that is asked, once it takes keys."""
    tmux.until("Permission needed")
    tmux.until("number or")
    tmux.keys(key)
