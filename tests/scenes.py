"""What scenarios in a real terminal have in common: agents to talk with, the palette, answers to questions."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from tmux import PATIENCE, Tmux

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


def to_conversation(tmux: Tmux) -> None:
    """Gives the keys to the conversation; something in it is selected then."""
    tmux.keys("Tab")
    tmux.until("▐")


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


def until_written(path: Path) -> str:
    """Waits for a file, and gives what is in it."""
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < end, f"{path} was not written"
        time.sleep(0.03)
    return path.read_text(encoding="utf-8")


def until_kept(tmux: Tmux, words: str) -> Path:
    """Waits until what was typed is written down, and gives the file."""
    end = time.monotonic() + PATIENCE
    while True:
        for path in (tmux.folder / "data" / "chat" / "drafts").glob("*.json"):
            if words in path.read_text(encoding="utf-8"):
                return path
        assert time.monotonic() < end, f"{words!r} was not written down"
        time.sleep(0.05)


def until_in(path: Path, wanted: bytes) -> bytes:
    """Waits until these bytes are in a file that grows, and gives all of it."""
    end = time.monotonic() + PATIENCE
    while wanted not in (found := path.read_bytes()):
        assert time.monotonic() < end, f"{wanted!r} is not in {found[-2000:]!r}"
        time.sleep(0.03)
    return found


def client_of(tmux: Tmux) -> int:
    """The process of the terminal client."""
    return child_of(tmux.pid, "accord chat")


def child_of(parent: int, words: str) -> int:
    """The process below another one whose command line has these words."""
    found = subprocess.run(["ps", "-eww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    below = {parent}
    for _ in range(4):
        below |= {int(pid) for pid, above, _ in rows if int(above) in below}
    matching = [int(pid) for pid, _, args in rows if int(pid) in below - {parent} and words in args]
    assert matching, found
    return matching[-1]


def until_ended(pid: int) -> None:
    """Waits until a process is gone."""
    end = time.monotonic() + PATIENCE
    while _is_there(pid):
        assert time.monotonic() < end, f"process {pid} is still there"
        time.sleep(0.05)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
