"""Runs `accord` as a user would: a process of its own, on pipes or on a terminal, its files in a test's folder."""

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
"""The command in the process of the test."""
AGENT = Path(__file__).with_name("agents") / "cli_agent.py"
PATIENCE = 60.0
"""How long anything may take here. Nobody waits so long unless something hangs."""


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Its output as objects."""
        return [json.loads(line) for line in self.out.splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]


def agent(*options: str) -> str:
    """The command line of the test agent."""
    return shlex.join([sys.executable, "-S", "-E", str(AGENT), *options])


class Accord:
    """The command, in one folder."""

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

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        # Compiled modules are kept, as they are for users: without them a start takes three times as long.
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
        within: float = PATIENCE,
    ) -> Done:
        """Runs `accord` on pipes, to its end."""
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
        """`accord run` with the test agent."""
        return self("run", "--agent", agent("--offer", offer), *words, **how)

    def turns(self, *prompts: str, flags: Sequence[str] = ()) -> list[str]:
        """What the test agent says to each of several prompts, in one session."""
        done = self.run("--json", "--script", "-", *flags, stdin="\n---\n".join(prompts))
        assert done.status == 0, done
        return [line["text"] for line in done.events("ended")]

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts it on pipes, to be watched while it runs."""
        return subprocess.Popen(
            [sys.executable, "-m", "accord", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.project,
            env=self.environment(env),
        )

    def on_terminal(self, *words: str, env: Mapping[str, str] | None = None, **streams: Any) -> Screen:
        """Starts it on a terminal of its own."""
        return Screen([sys.executable, "-m", "accord", *words], self.project, self.environment(env), **streams)


_NOT_OURS = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "ACCORD_DEBUG", "ACCORD_AGENT", "ACCORD_CONFIG"}


class Screen:
    """A program on a terminal: what it prints is read, what is typed is written."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        *,
        stdin: str | None = None,
        piped: bool = False,
    ) -> None:
        """`stdin` is given on a pipe in place of the terminal; `piped` keeps the output off the terminal, in `out`."""
        self.seen = ""
        self._at = 0
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
        """Waits until this appears after what was waited for before, and gives everything up to it."""
        end = time.monotonic() + PATIENCE
        while words not in self.seen[self._at :]:
            if not self._read(end):
                raise AssertionError(f"{words!r} never came; what came is:\n{self.seen[self._at :]}")
        start, self._at = self._at, self.seen.index(words, self._at) + len(words)
        return self.seen[start : self._at]

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def answer(self, question: str, text: str) -> str:
        """Waits for a question and types a line."""
        asked = self.until(question)
        self.type(text + "\n")
        return asked

    def press(self, key: str) -> None:
        """Types a control character: `c` is Ctrl-C."""
        self.type(chr(ord(key) & 0x1F))

    def end(self) -> int:
        """Reads to the end, and gives the exit status."""
        limit = time.monotonic() + PATIENCE
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
        except OSError:  # nobody holds the other end any more
            data = b""
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._ours)


def _own(terminal: int) -> None:
    """Makes it the terminal that Ctrl-C comes from."""
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not collected yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(*pids: int) -> bool:
    """Whether all of these end, within a bound."""
    return happens(lambda: not any(map(is_alive, pids)))


def happens(condition: Callable[[], bool]) -> bool:
    """Whether this comes true, within a bound."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def with_time(attempt: Callable[[str], T], is_enough: Callable[[T], bool]) -> T:
    """What an attempt gives that has some seconds: few at first, more where this machine is too slow for so few.

    For what is about the end of a time, and about something that must have happened before it ended."""
    for seconds in ("0.5", "2", "8"):
        done = attempt(seconds)
        if is_enough(done):
            break
    return done


def without_codes(text: str) -> str:
    """Text without the codes that move a cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
