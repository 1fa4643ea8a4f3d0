"""A real terminal for tests: tmux runs the program, takes keys, and shows its screen."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rich.cells import cell_len

PATIENCE = float(os.environ.get("ACCORD_TEST_PATIENCE", "60"))

AFTER = "status=$?; echo; echo it ended with $status; stty -a | tr ';' '\\n' | grep -o '[-]*echo\\b'; exec sh"
"""Says how a program ended and whether the terminal shows again what is typed."""


def tmux_missing() -> str:
    """Why there is no terminal to test in; nothing when there is one."""
    return "" if shutil.which("tmux") else "tmux is not installed, which the tests of the terminal client run in"


class Tmux:
    """One window of tmux, with a server of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self._name = name

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, "-f", os.devnull, *words], capture_output=True, text=True, timeout=PATIENCE
        )
        return done.stdout

    def start(
        self,
        *words: str,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
        after: str = AFTER,
    ) -> None:
        """Starts `accord` with some words. When it ends, its status and the state of the terminal are printed."""
        variables = {
            "ACCORD_CONFIG_HOME": str(self.folder / "config"),
            "ACCORD_DATA_HOME": str(self.folder / "data"),
            "ACCORD_CACHE_HOME": str(self.folder / "cache"),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "COLORTERM": "truecolor",
            **(env or {}),
        }
        command = shlex.join([sys.executable, "-m", "accord", *words])
        setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        line = f"unset COLUMNS LINES; export {setting}; {command}; {after}"
        size_of = ["-x", str(size[0]), "-y", str(size[1])]
        self._tmux("new-session", "-d", "-s", "t", *size_of, "-c", str(self.project), "sh", "-c", line)

    def keys(self, *keys: str) -> None:
        """Presses keys, by tmux's names for them."""
        self._tmux("send-keys", "-t", "t", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "t", "-l", text)

    def send(self, text: str) -> None:
        """Types a line and presses enter."""
        self.type(text)
        self.keys("Enter")

    def paste(self, text: str) -> None:
        """Pastes, as terminals do for programs that tell pasting from typing."""
        subprocess.run(["tmux", "-L", self._name, "load-buffer", "-"], input=text, text=True, check=True)
        self._tmux("paste-buffer", "-p", "-t", "t")

    def mouse(self, column: int, row: int, button: int = 0) -> None:
        """Presses a button of the mouse and lets it go, as terminals tell of it; columns and rows count from 0."""
        for end in "Mm":
            told = f"\x1b[<{button};{column + 1};{row + 1}{end}"
            self.keys("-H", *(f"{each:x}" for each in told.encode()))

    def wheel(self, column: int, row: int, turns: int) -> None:
        """Turns the wheel, down if positive."""
        for _ in range(abs(turns)):
            told = f"\x1b[<{65 if turns > 0 else 64};{column + 1};{row + 1}M"
            self.keys("-H", *(f"{each:x}" for each in told.encode()))

    def click_on(self, wanted: str) -> None:
        """Clicks on the first place of the screen that has this text."""
        for row, line in enumerate(self.screen.splitlines()):
            if wanted in line:
                self.mouse(cell_len(line[: line.index(wanted)]), row)
                return
        raise AssertionError(f"{wanted!r} is not on the screen:\n{self.screen}")

    def look_away(self) -> None:
        """The terminal says that the user looks elsewhere."""
        self.keys("-H", "1b", "5b", "4f")

    def look_back(self) -> None:
        self.keys("-H", "1b", "5b", "49")

    def record(self) -> Path:
        """From now on everything that the program writes is in this file, byte by byte."""
        path = self.folder / "raw"
        self._tmux("pipe-pane", "-t", "t", "-o", f"cat >> {shlex.quote(str(path))}")
        path.touch()
        return path

    @property
    def cursor(self) -> tuple[int, int]:
        """The column and the row of the terminal's own cursor."""
        column, row = self._tmux("display-message", "-p", "-t", "t", "#{cursor_x} #{cursor_y}").split()
        return int(column), int(row)

    def takes_copies(self) -> None:
        """Lets programs fill the clipboard of the terminal, as most terminals do."""
        self._tmux("set-option", "-s", "set-clipboard", "on")

    @property
    def clipboard(self) -> str:
        return self._tmux("show-buffer")

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-t", "t", "-x", str(columns), "-y", str(rows))

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t")

    @property
    def coloured(self) -> str:
        """The screen with its escape sequences."""
        return self._tmux("capture-pane", "-p", "-e", "-t", "t")

    @property
    def pid(self) -> int:
        """The process of the shell in the window."""
        return int(self._tmux("display-message", "-p", "-t", "t", "#{pane_pid}"))

    @property
    def is_alternate(self) -> bool:
        """Whether the program has the whole screen to itself."""
        return self._tmux("display-message", "-p", "-t", "t", "#{alternate_on}").strip() == "1"

    def until(self, wanted: str) -> str:
        """Waits until this is on the screen (a regular expression), and gives the screen."""
        end = time.monotonic() + PATIENCE
        while not re.search(wanted, screen := self.screen):
            assert time.monotonic() < end, f"{wanted!r} did not appear; the screen:\n{screen}"
            time.sleep(0.03)
        return screen

    def until_gone(self, unwanted: str) -> str:
        end = time.monotonic() + PATIENCE
        while re.search(unwanted, screen := self.screen):
            assert time.monotonic() < end, f"{unwanted!r} did not go; the screen:\n{screen}"
            time.sleep(0.03)
        return screen

    def close(self) -> None:
        """Closes the window, as users do, and waits until what ran in it has ended: what it writes down is there."""
        leader = self._tmux("display-message", "-p", "-t", "t", "#{pane_pid}").strip()
        self._tmux("kill-server")
        end = time.monotonic() + PATIENCE
        while self._tmux("list-sessions") and time.monotonic() < end:
            time.sleep(0.02)
        while leader and _is_run_by(leader):
            assert time.monotonic() < end, "what ran in the window goes on after it was closed"
            time.sleep(0.02)
        with suppress(OSError):  # tmux leaves it behind
            Path(os.environ.get("TMUX_TMPDIR", "/tmp"), f"tmux-{os.getuid()}", self._name).unlink()


def _is_run_by(leader: str) -> bool:
    """Whether a process of this session is still there. One that ended and waits for its parent does not count."""
    found = subprocess.run(["ps", "-e", "-o", "sid=,stat="], capture_output=True, text=True, timeout=PATIENCE).stdout
    rows = (line.split() for line in found.splitlines())
    return any(session == leader and not state.startswith("Z") for session, state in rows)
