"""A task for a coding agent: a small project, a prompt, and a check that the agent never sees."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import msgspec

TASKS = Path(__file__).with_name("tasks")
CHECK_SECONDS = 60.0


class Edit(msgspec.Struct, forbid_unknown_fields=True):
    """A step of the solution: replace `old` in a file, or create the file with `new`."""

    path: str
    new: str
    old: str | None = None


class Task(msgspec.Struct, forbid_unknown_fields=True):
    """One file of `tasks/`."""

    prompt: str
    files: dict[str, str]
    solution: list[Edit] = []
    """The changes that the scripted model makes."""
    reply: str = "Done."
    """The final message of the scripted model."""
    hidden: dict[str, str] = {}
    """Files that are added after the turn: Python unit tests, or JavaScript that fails with an exit status."""
    unchanged: list[str] = []
    """Files that must stay as they are; `*` stands for all of them, and for no new ones."""
    answer: str | None = None
    """A regular expression that the reply must match."""
    long_logs: list[str] = []
    """Files that 10,000 lines of routine messages surround."""
    uncommitted: dict[str, str] = {}
    """Files that differ from the last commit; with any, the project is a Git repository."""
    mode: str | None = None
    command: str | None = None
    """A command that the scripted model runs at the end."""
    name: str = ""

    def create(self, directory: Path) -> None:
        """Write the project."""
        _write(self.files, directory)
        if self.uncommitted:
            identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
            for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "Start"]):
                subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True)
            _write(self.uncommitted, directory)

    def find_problem(self, directory: Path, reply: str) -> str | None:
        """Check the result; return what is wrong with it, or None.

        The hidden tests run on a copy, so nothing that the agent left running can see them."""
        expected = {**self.files, **self.uncommitted}
        found = _read(directory)
        kept = expected if "*" in self.unchanged else self.unchanged
        changed = {path for path in kept if found.get(path) != expected[path]}
        if "*" in self.unchanged:
            changed |= found.keys() - expected.keys()
        if changed:
            return f"changed: {', '.join(sorted(changed))}"
        if self.answer is not None and not re.search(self.answer, reply):
            return f"the reply doesn't match {self.answer!r}"
        with tempfile.TemporaryDirectory(prefix="accord-check-") as copy:
            shutil.copytree(directory, copy, symlinks=True, dirs_exist_ok=True)
            _write(self.hidden, Path(copy))
            return next(filter(None, (_run(path, Path(copy)) for path in self.hidden)), None)


def load_tasks() -> list[Task]:
    """Read all tasks, sorted by name."""
    tasks = []
    for path in sorted(TASKS.glob("*.toml")):
        task = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Task)
        task.name = path.stem
        for name in task.long_logs:
            task.files[name] = _routine(0) + task.files[name] + _routine(5_000)
        tasks.append(task)
    return tasks


def _write(files: dict[str, str], directory: Path) -> None:
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")


def _read(directory: Path) -> dict[str, str]:
    """Read the files of a project, without those of Git."""
    return {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in directory.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(directory).parts
    }


def _routine(start: int) -> str:
    return "".join(f"2026-03-01 INFO request {n} took {n % 50} ms\n" for n in range(start, start + 5_000))


def _run(path: str, directory: Path) -> str | None:
    """Run one hidden test; return the end of its output if it fails.

    It runs code that the model wrote, so it gets none of the user's variables, which may hold keys."""
    runner = ["node"] if path.endswith(".js") else [sys.executable, "-m", "unittest", "-q"]
    # Without bytecode: Python takes a file that was changed within a second, and kept its size, for the old one.
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(directory), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*runner, path], cwd=directory, env=environment, capture_output=True, text=True, timeout=CHECK_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"{path} took longer than {CHECK_SECONDS:g} s"
    if done.returncode == 0:
        return None
    last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-6:]
    return f"{path} failed: {' / '.join(last)}"
