"""A real terminal for tests: tmux runs the program, sends keys, and captures the screen."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from rich.cells import cell_len

TIMEOUT_SECONDS = float(os.environ.get("ACCORD_TEST_PATIENCE", "300"))

AFTER = "status=$?; echo; echo it ended with $status; stty -a | tr ';' '\\n' | grep -o '[-]*echo\\b'; exec sh"
"""Shell code that prints the exit status and whether the terminal echoes again."""

_SETTINGS = re.compile(r"COLUMNS|LINES|NO_COLOR|COLORFGBG|EDITOR|VISUAL|ACCORD_\w+|\w+_API_KEY|\w+_BASE_URL")
"""Settings that a developer may have in the environment. Programs that run in tmux don't get them."""


def tmux_missing() -> str | None:
    """Return why tmux can't be used, or None."""
    return None if shutil.which("tmux") else "tmux is not installed"


class Tmux:
    """One tmux window, with its own server."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self._name = name

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, "-f", os.devnull, *words],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        return done.stdout

    def start(
        self,
        *words: str,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
        after: str = AFTER,
    ) -> None:
        """Start `accord` with arguments. When it exits, its status and the state of the terminal are printed."""
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
        inherited = " ".join(filter(_SETTINGS.fullmatch, os.environ))
        line = f"unset COLUMNS LINES {inherited}; export {setting}; {command}; {after}"
        size_of = ["-x", str(size[0]), "-y", str(size[1])]
        self._tmux("new-session", "-d", "-s", "t", *size_of, "-c", str(self.project), "sh", "-c", line)

    def keys(self, *keys: str) -> None:
        """Press keys, by their tmux names."""
        self._tmux("send-keys", "-t", "t", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "t", "-l", text)

    def send(self, text: str) -> None:
        """Type a line and press Enter."""
        self.type(text)
        self.keys("Enter")

    def paste(self, text: str) -> None:
        """Paste, with the escape sequences of bracketed paste."""
        subprocess.run(["tmux", "-L", self._name, "load-buffer", "-"], input=text, text=True, check=True)
        self._tmux("paste-buffer", "-p", "-t", "t")

    def mouse(self, column: int, row: int, button: int = 0) -> None:
        """Click a mouse button, as terminals report it; columns and rows count from 0."""
        for end in "Mm":
            told = f"\x1b[<{button};{column + 1};{row + 1}{end}"
            self.keys("-H", *(f"{each:x}" for each in told.encode()))

    def wheel(self, column: int, row: int, turns: int) -> None:
        """Turn the wheel, down if positive."""
        for _ in range(abs(turns)):
            told = f"\x1b[<{65 if turns > 0 else 64};{column + 1};{row + 1}M"
            self.keys("-H", *(f"{each:x}" for each in told.encode()))

    def click_on(self, wanted: str) -> None:
        """Click on the first occurrence of this text."""
        for row, line in enumerate(self.screen.splitlines()):
            if wanted in line:
                self.mouse(cell_len(line[: line.index(wanted)]), row)
                return
        raise AssertionError(f"{wanted!r} is not on the screen:\n{self.screen}")

    def look_away(self) -> None:
        """Report that the terminal lost the focus."""
        self.keys("-H", "1b", "5b", "4f")

    def look_back(self) -> None:
        self.keys("-H", "1b", "5b", "49")

    def record(self) -> Path:
        """Record all further output of the program in this file."""
        path = self.folder / "raw"
        self._tmux("pipe-pane", "-t", "t", "-o", f"cat >> {shlex.quote(str(path))}")
        path.touch()
        return path

    @property
    def cursor(self) -> tuple[int, int]:
        """The column and row of the terminal's cursor."""
        column, row = self._tmux("display-message", "-p", "-t", "t", "#{cursor_x} #{cursor_y}").split()
        return int(column), int(row)

    @property
    def is_cursor_visible(self) -> bool:
        return self._tmux("display-message", "-p", "-t", "t", "#{cursor_flag}").strip() == "1"

    def until_cursor(self, column: int, row: int) -> None:
        """Wait until the cursor is at this place: while something is painted, it is elsewhere."""
        self.until_true(lambda _: self.cursor == (column, row), f"the cursor in column {column} of row {row}")

    def takes_copies(self) -> None:
        """Let programs set the terminal's clipboard, as most terminals do."""
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
    def colored(self) -> str:
        """The screen with its escape sequences."""
        return self._tmux("capture-pane", "-p", "-e", "-t", "t")

    @property
    def title(self) -> str:
        """The title of the window."""
        return self._tmux("display-message", "-p", "-t", "t", "#{pane_title}").strip()

    @property
    def pid(self) -> int:
        """The process of the shell in the window."""
        return int(self._tmux("display-message", "-p", "-t", "t", "#{pane_pid}"))

    @property
    def is_alternate(self) -> bool:
        """Whether the program uses the alternate screen."""
        return self._tmux("display-message", "-p", "-t", "t", "#{alternate_on}").strip() == "1"

    def until(self, wanted: str) -> str:
        """Wait until the screen matches a regular expression, and return the screen."""
        return self.until_true(lambda screen: re.search(wanted, screen) is not None, repr(wanted))

    def until_all(self, *wanted: str) -> str:
        """Wait until the screen contains all of these texts, and return the screen.

        A frame is written in parts, and widgets are painted one by one: others may be missing where one is."""
        return self.until_true(lambda screen: all(each in screen for each in wanted), " and ".join(map(repr, wanted)))

    def until_gone(self, unwanted: str) -> str:
        return self.until_true(lambda screen: re.search(unwanted, screen) is None, f"the end of {unwanted!r}")

    def until_true(self, is_so: Callable[[str], bool], what: str) -> str:
        """Wait until the screen satisfies a condition, and return the screen."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while not is_so(screen := self.screen):
            assert time.monotonic() < end, f"waited for {what}; the screen:\n{screen}\n{self._errors}"
            time.sleep(0.03)
        return screen

    @property
    def _errors(self) -> str:
        """The errors that the client wrote to its data directory."""
        return "\n".join(each.read_text() for each in self.folder.glob("data/chat/*.log"))

    def close(self) -> None:
        """Close the window, as users do, and wait until its programs have ended and saved their files."""
        leader = self._tmux("display-message", "-p", "-t", "t", "#{pane_pid}").strip()
        self._tmux("kill-server")
        end = time.monotonic() + TIMEOUT_SECONDS
        while self._tmux("list-sessions") and time.monotonic() < end:
            time.sleep(0.02)
        while leader and _is_run_by(leader):
            assert time.monotonic() < end, "programs of the window are still running after it was closed"
            time.sleep(0.02)
        with suppress(OSError):  # tmux leaves it behind
            Path(os.environ.get("TMUX_TMPDIR", "/tmp"), f"tmux-{os.getuid()}", self._name).unlink()


def _is_run_by(leader: str) -> bool:
    """Return whether a process of this session is running; zombies don't count."""
    if os.path.isdir("/proc/self"):  # without starting a process for each check
        rows: Iterator[list[str]] = map(_session_and_state, filter(str.isdigit, os.listdir("/proc")))
    else:
        found = subprocess.run(
            ["ps", "-e", "-o", "sid=,stat="], capture_output=True, text=True, timeout=TIMEOUT_SECONDS
        ).stdout
        rows = (line.split() for line in found.splitlines())
    return any(session == leader and not state.startswith("Z") for session, state in rows)


def _session_and_state(pid: str) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:  # it has ended
        return ["", ""]
    return [fields[3].decode(), fields[0].decode()]
