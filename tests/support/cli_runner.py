"""Run `accord` as a user would: in its own process, on pipes or a terminal, with its files in the test's directory."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Here = Callable[..., Any]
"""The command to run, with the interpreter of the test."""
AGENT = Path(__file__).resolve().parents[1] / "agents" / "cli_agent.py"
TIMEOUT_SECONDS = 300.0
"""An upper bound for every wait; only a hang reaches it."""


class Done(NamedTuple):
    """The exit status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The output, decoded from JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]


def agent(*options: str) -> str:
    """Return the command line of the test agent."""
    return shlex.join([sys.executable, "-S", "-E", str(AGENT), *options])


class Accord:
    """The command, in one directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self.config = folder / "config" / "config.toml"
        self.config.parent.mkdir()
        self.data = folder / "data"
        self.cache = folder / "cache"
        self.home = folder / "home"
        self.home.mkdir()
        self._screens: list[Screen] = []

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        # Bytecode caching stays on, as for users: without it a start takes three times as long.
        ours = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
        return {
            **ours,
            "ACCORD_CONFIG_HOME": str(self.config.parent),
            "ACCORD_DATA_HOME": str(self.data),
            "ACCORD_CACHE_HOME": str(self.cache),
            "HOME": str(self.home),
            "PYTHONWARNINGS": "default",
            **(more or {}),
        }

    def __call__(
        self,
        *words: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        within: float = TIMEOUT_SECONDS,
    ) -> Done:
        """Run `accord` on pipes until it exits."""
        done = subprocess.run(
            [sys.executable, "-m", "accord", *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=within,
            cwd=cwd or self.project,
            env=self.environment(env),
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "Warning" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def run(self, *words: str, offer: str = "", **how: Any) -> Done:
        """Run `accord run` with the test agent."""
        return self("run", "--agent", agent("--offer", offer), *words, **how)

    def turns(self, *prompts: str, flags: Sequence[str] = (), status: int = 0) -> list[str]:
        """Send several prompts in one session and return the answers."""
        done = self.run("--json", "--script", "-", *flags, stdin="\n---\n".join(prompts))
        assert done.status == status, done
        return [line["text"] for line in done.events("ended")]

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it on pipes without waiting."""
        return subprocess.Popen(
            [sys.executable, "-m", "accord", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.project,
            env=self.environment(env),
        )

    def on_terminal(
        self, *words: str, env: Mapping[str, str] | None = None, command: str | None = None, **streams: Any
    ) -> Screen:
        """Start it, or the installed command, on its own terminal."""
        start = [command] if command else [sys.executable, "-m", "accord"]
        screen = Screen([*start, *words], self.project, self.environment(env), **streams)
        self._screens.append(screen)
        return screen

    def close(self) -> None:
        """End the processes that a failed test left on a terminal, because they would fail other tests."""
        for screen in self._screens:
            screen.close()


_NOT_OURS = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "ACCORD_DEBUG", "ACCORD_AGENT", "ACCORD_CONFIG"}


class Screen:
    """A program on a pseudo-terminal."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        *,
        stdin: str | None = None,
        piped: bool = False,
    ) -> None:
        """`stdin` replaces the terminal by a pipe; `piped` redirects the output to `out`."""
        self.seen = ""
        self._at = 0
        self._is_closed = False
        self._ours, theirs = pty.openpty()
        feed = subprocess.PIPE if stdin is not None else theirs
        self.process = subprocess.Popen(
            command,
            stdin=feed,
            stdout=subprocess.PIPE if piped else theirs,
            stderr=theirs,
            cwd=cwd,
            env={**env, "TERM": "xterm", "COLUMNS": "100"},
            start_new_session=True,
            preexec_fn=lambda: _own(theirs),
            text=True,
        )
        os.close(theirs)
        if stdin is not None:
            assert self.process.stdin is not None
            self.process.stdin.write(stdin)
            self.process.stdin.close()

    def until(self, words: str) -> str:
        """Wait for new output that matches, and return everything up to it."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while words not in self.seen[self._at :]:
            if not self._read(end):
                raise AssertionError(f"waited for {words!r}; the output was:\n{self.seen[self._at :]}")
        start, self._at = self._at, self.seen.index(words, self._at) + len(words)
        return self.seen[start : self._at]

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def answer(self, question: str, text: str) -> str:
        """Wait for a question and type a line."""
        asked = self.until(question)
        self.type(text + "\n")
        return asked

    def press(self, key: str) -> None:
        """Type a control character: `c` is Ctrl-C."""
        self.type(chr(ord(key) & 0x1F))

    def end(self) -> int:
        """Read until the end, and return the exit status."""
        limit = time.monotonic() + TIMEOUT_SECONDS
        while self._read(limit):
            pass
        status = self.process.wait(max(0.1, limit - time.monotonic()))
        assert "Traceback" not in self.seen, self.seen
        return status

    @property
    def out(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def _read(self, limit: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0.0, limit - time.monotonic()))
        try:
            data = os.read(self._ours, 65536) if ready else b""
        except OSError:  # the other end is closed
            data = b""
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._ours)


def _own(terminal: int) -> None:
    """Make it the controlling terminal."""
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def is_alive(pid: int) -> bool:
    """Return whether a process is running; a zombie isn't."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(*pids: int) -> bool:
    """Return whether all processes end before the timeout."""
    return happens(lambda: not any(map(is_alive, pids)))


def happens(condition: Callable[[], bool]) -> bool:
    """Return whether the condition becomes true before the timeout."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def with_time(attempt: Callable[[str], T], is_enough: Callable[[T], bool]) -> T:
    """Run an attempt with a timeout in seconds: short at first, longer if this machine is too slow.

    For tests in which something must happen before a timeout passes."""
    for seconds in ("0.5", "2", "8", "32"):
        done = attempt(seconds)
        if is_enough(done):
            break
    return done


def without_codes(text: str) -> str:
    """Remove terminal escape sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
