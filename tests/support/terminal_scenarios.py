"""Steps for scenarios in a real terminal: agents, the command palette, answers to permission requests."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from support.tmux import TIMEOUT_SECONDS, Tmux

AGENTS = Path(__file__).resolve().parents[1] / "agents"
SHOWCASE = f"{sys.executable} -m accord showcase --pace 0"
CODER = f"{sys.executable} -m accord agent"


def agent_at(name: str, *words: str) -> str:
    """Return the command line of a test agent."""
    return shlex.join([sys.executable, str(AGENTS / name), *words])


def chat(tmux: Tmux, agent: str | None = SHOWCASE, *more: str, size: tuple[int, int] = (120, 40), **env: str) -> None:
    """Open the client with an agent and wait until it is ready."""
    tmux.start("chat", *([agent] if agent else []), *more, size=size, env=env)
    tmux.until("● ready")


def say(tmux: Tmux, prompt: str, answer: str) -> str:
    """Send a prompt; wait until its answer is in the transcript and the turn is over.

    The prompt itself never counts as the answer: neither in the prompt box nor where the transcript repeats it."""
    tmux.type(prompt)
    tmux.until_true(lambda screen: prompt.split()[-1] in prompt_box(screen), f"{prompt!r} in the prompt box")
    tmux.keys("Enter")

    def is_over(screen: str) -> bool:
        above = screen[: screen.rindex("╭")] if "╭" in screen else screen
        said = "\n".join(line for line in above.splitlines() if not line.lstrip().startswith("▌"))
        return not prompt_box(screen) and "● ready" in screen and re.search(answer, said) is not None

    return tmux.until_true(is_over, f"{answer!r} and the end of the turn")


def prompt_box(screen: str) -> str:
    """Return the text in the prompt box, the lowest box on the screen."""
    box = screen[screen.rindex("╭") :] if "╭" in screen else ""
    return "\n".join(line.strip("│ ") for line in box.splitlines() if line.startswith("│")).strip()


def to_conversation(tmux: Tmux) -> None:
    """Move the focus to the transcript, which selects an item."""
    tmux.keys("Tab")
    tmux.until("▐")


def do(tmux: Tmux, command: str) -> None:
    """Run a command from the palette."""
    tmux.keys("C-p")
    tmux.until("─ Commands ─")
    tmux.type(command)
    tmux.until(rf"❯ {re.escape(command)} ")
    tmux.keys("Enter")
    tmux.until_gone("─ Commands ─")


def answer(tmux: Tmux, key: str) -> None:
    """Answer the permission request, once it accepts keys."""
    tmux.until("Permission needed")
    tmux.until("number or")
    tmux.keys(key)


def until_written(path: Path) -> str:
    """Wait for a file, and return its content."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not path.exists():
        assert time.monotonic() < end, f"{path} was not written"
        time.sleep(0.03)
    return path.read_text(encoding="utf-8")


def until_kept(tmux: Tmux, words: str) -> Path:
    """Wait until the draft is saved, and return its file."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while True:
        for path in (tmux.folder / "data" / "chat" / "drafts").glob("*.json"):
            if words in path.read_text(encoding="utf-8"):
                return path
        assert time.monotonic() < end, f"{words!r} was not saved"
        time.sleep(0.05)


def until_in(path: Path, wanted: bytes) -> bytes:
    """Wait until a growing file contains these bytes, and return its content."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while wanted not in (found := path.read_bytes()):
        assert time.monotonic() < end, f"{wanted!r} is not in {found[-2000:]!r}"
        time.sleep(0.03)
    return found


def client_of(tmux: Tmux) -> int:
    """Return the process id of the terminal client."""
    return child_of(tmux.pid, "accord chat")


def child_of(parent: int, words: str) -> int:
    """Return the child process whose command line contains these words."""
    found = subprocess.run(["ps", "-eww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    below = {parent}
    for _ in range(4):
        below |= {int(pid) for pid, above, _ in rows if int(above) in below}
    matching = {int(pid): int(above) for pid, above, args in rows if int(pid) in below - {parent} and words in args}
    # A program that it is about to start has its command line until then.
    first = [pid for pid, above in matching.items() if above not in matching]
    assert first, found
    return first[-1]


def until_ended(pid: int) -> None:
    """Wait until a process has ended."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while _is_running(pid):
        assert time.monotonic() < end, f"process {pid} is still running"
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    """Return whether a process is running. A zombie isn't: in a container, perhaps nobody reaps orphans."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")
