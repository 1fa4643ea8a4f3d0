"""Find the commands that test, lint, format and build a project, from its build files."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Literal

BUILD_FILES = (
    "Makefile",
    "justfile",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    "Cargo.toml",
    "go.mod",
)
"""Files that define how a project is built and tested, most authoritative first."""

Task = Literal["test", "lint", "format", "build"]
TASKS: tuple[Task, ...] = ("test", "lint", "format", "build")
TARGETS: dict[Task, tuple[str, ...]] = {
    "test": ("test", "tests", "check"),
    "lint": ("lint", "check", "style"),
    "format": ("format", "fmt"),
    "build": ("build", "all", "dist"),
}


class Project:
    """A project as tools show it: the names in its top directory, and the texts of its build files."""

    def __init__(self, names: list[str], texts: dict[str, str], python: str = "python3") -> None:
        self.names = names
        self.texts = texts
        self.python = python

    def has(self, name: str) -> bool:
        return name in self.names or f"{name}/" in self.names

    def command(self, task: Task, only: str | None = None) -> tuple[str, str] | None:
        """Return the command for a task and the name of the file it was found in."""
        if only is None:
            found = self._make(task) or self._just(task) or self._npm(task)
            if found:
                return found
        else:
            found = self._npm(task, only) if self._python(task) is None else None
            if found:
                return found
        found = self._python(task) or self._cargo(task) or self._go(task) or self._by_names(task)
        if found is None or only is None:
            return found
        command, where = found
        if task == "test" and command.startswith("go test"):
            return f"go test {shlex.quote('./' + only.removeprefix('./'))}", where
        return f"{command.removesuffix(' .')} {shlex.quote(only)}", where

    def _make(self, task: Task) -> tuple[str, str] | None:
        targets = re.findall(r"^([A-Za-z][\w.-]*)\s*:(?!=)", self.texts.get("Makefile", ""), re.MULTILINE)
        return next(((f"make {name}", "the Makefile") for name in TARGETS[task] if name in targets), None)

    def _just(self, task: Task) -> tuple[str, str] | None:
        recipes = re.findall(r"^@?([A-Za-z][\w-]*)(?: [^:\n]*)?:(?!=)", self.texts.get("justfile", ""), re.MULTILINE)
        return next(((f"just {name}", "the justfile") for name in TARGETS[task] if name in recipes), None)

    def _npm(self, task: Task, only: str | None = None) -> tuple[str, str] | None:
        try:
            scripts = json.loads(self.texts.get("package.json", "{}")).get("scripts", {})
        except (ValueError, AttributeError):
            return None
        if not isinstance(scripts, dict):
            return None
        tool = "pnpm" if self.has("pnpm-lock.yaml") else "yarn" if self.has("yarn.lock") else "npm"
        for name in TARGETS[task]:
            if name in scripts and "no test specified" not in str(scripts[name]):
                line = f"{tool} test" if name == "test" else f"{tool} run {name}"
                return line + (f" -- {shlex.quote(only)}" if only else ""), "package.json"
        return None

    def _python(self, task: Task) -> tuple[str, str] | None:
        pyproject = self.texts.get("pyproject.toml", "")
        everything = "\n".join(self.texts.get(name, "") for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
        where = "pyproject.toml" if pyproject else "the project's files"
        run = "uv run " if self.has("uv.lock") else f"{self.python} -m "
        is_python = bool(pyproject) or any(
            self.has(name) for name in ("setup.py", "setup.cfg", "tox.ini", "pytest.ini")
        )
        if task == "test":
            if "pytest" in everything or self.has("pytest.ini") or self.has("conftest.py"):
                return f"{run}pytest", where
            if is_python and (self.has("tests") or self.has("test")):
                return f"{run}pytest", "the tests directory"
            return None
        if task == "build":
            return (f"{self.python} -m build", where) if "[build-system]" in pyproject else None
        if "ruff" in everything or self.has("ruff.toml") or self.has(".ruff.toml"):
            return (f"{run}ruff check ." if task == "lint" else f"{run}ruff format ."), where
        if task == "lint" and ("flake8" in everything or self.has(".flake8")):
            return f"{run}flake8", where
        return (f"{run}black .", where) if task == "format" and "[tool.black]" in everything else None

    def _by_names(self, task: Task) -> tuple[str, str] | None:
        """Find Python tests in a project that configures none. pytest also runs unittest tests."""
        if task != "test":
            return None
        if any(re.match(r"test_\w+\.py$|\w+_test\.py$", name) for name in self.names):
            return f"{self.python} -m pytest", "the file names"
        is_python = any(name.endswith(".py") for name in self.names) or not self.languages()
        if is_python and (self.has("tests") or self.has("test")):
            return f"{self.python} -m pytest", "the tests directory"
        return None

    def _cargo(self, task: Task) -> tuple[str, str] | None:
        if "Cargo.toml" not in self.texts:
            return None
        return {"test": "cargo test", "lint": "cargo clippy", "format": "cargo fmt", "build": "cargo build"}[
            task
        ], "Cargo.toml"

    def _go(self, task: Task) -> tuple[str, str] | None:
        if "go.mod" not in self.texts:
            return None
        lines = {"test": "go test ./...", "lint": "go vet ./...", "format": "gofmt -w .", "build": "go build ./..."}
        return lines[task], "go.mod"

    def languages(self) -> list[str]:
        """Return the languages that its files suggest."""
        signs = {"pyproject.toml": "Python", "setup.py": "Python", "package.json": "JavaScript", "Cargo.toml": "Rust"}
        signs |= {"tsconfig.json": "TypeScript", "go.mod": "Go", "pom.xml": "Java", "Gemfile": "Ruby"}
        return list(dict.fromkeys(language for sign, language in signs.items() if self.has(sign)))

    def name(self) -> str | None:
        """Return its name, from the first build file that has one."""
        for file, pattern in (
            ("pyproject.toml", r'^name\s*=\s*"([^"]+)"'),
            ("package.json", r'^\s*"name"\s*:\s*"([^"]+)"'),
            ("Cargo.toml", r'^name\s*=\s*"([^"]+)"'),
            ("go.mod", r"^module\s+(\S+)"),
        ):
            match = re.search(pattern, self.texts.get(file, ""), re.MULTILINE)
            if match:
                return match[1]
        return None

    def description(self) -> str | None:
        for file in ("pyproject.toml", "package.json", "Cargo.toml"):
            match = re.search(r'^\s*"?description"?\s*[=:]\s*"([^"\n]+)"', self.texts.get(file, ""), re.MULTILINE)
            if match:
                return match[1]
        return None


def find_python(names: Sequence[str], otherwise: str) -> str:
    """Return the Python of the project's virtual environment, if these names have one."""
    venv = next((name for name in (".venv", "venv") if f"{name}/" in names), None)
    if venv is None:
        return otherwise
    return f"{venv}\\Scripts\\python" if otherwise == "python" else f"{venv}/bin/python"
