"""Find the commands that test, lint, format and build a project, from its build files."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Sequence
from typing import Any, Literal

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
        if only is None or self._python(task) is None:
            for find in (self._make, self._just) if only is None else ():
                found = next((each for name in TARGETS[task] if (each := find(name))), None)
                if found:
                    return found
            found = next((each for name in TARGETS[task] if (each := self._npm(name, only))), None)
            if found:
                return found
        found = self._python(task) or self._cargo(task) or self._go(task) or self._by_names(task)
        if found is None or only is None:
            return found
        command, where = found
        if task == "test" and command.startswith("go test"):
            return f"go test {shlex.quote('./' + only.removeprefix('./'))}", where
        return f"{command.removesuffix(' .')} {shlex.quote(only)}", where

    def _make(self, name: str) -> tuple[str, str] | None:
        targets = re.findall(r"^([A-Za-z][\w.-]*)\s*:(?!=)", self.texts.get("Makefile", ""), re.MULTILINE)
        return (f"make {name}", "the Makefile") if name in targets else None

    def _just(self, name: str) -> tuple[str, str] | None:
        recipes = re.findall(r"^@?([A-Za-z][\w-]*)(?: [^:\n]*)?:(?!=)", self.texts.get("justfile", ""), re.MULTILINE)
        return (f"just {name}", "the justfile") if name in recipes else None

    def _npm(self, name: str, only: str | None = None) -> tuple[str, str] | None:
        scripts = self._package_json().get("scripts")
        if not isinstance(scripts, dict) or name not in scripts or "no test specified" in str(scripts[name]):
            return None
        tool = "pnpm" if self.has("pnpm-lock.yaml") else "yarn" if self.has("yarn.lock") else "npm"
        line = f"{tool} {name}" if name in ("test", "start") else f"{tool} run {name}"
        return line + (f" -- {shlex.quote(only)}" if only else ""), "package.json"

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

    def start(self) -> str | None:
        """Return the command that starts the project, if its files name one."""
        for target in ("run", "start", "serve", "dev"):
            found = self._make(target) or self._just(target) or self._npm(target)
            if found:
                return found[0]
        if "Cargo.toml" in self.texts and "[lib]" not in self.texts["Cargo.toml"]:
            return "cargo run"
        if "go.mod" in self.texts and self.has("main.go"):
            return "go run ."
        script = next((name for name in ("main.py", "app.py", "manage.py", "__main__.py") if self.has(name)), None)
        return f"{self.python} {script}" if script else None

    def dependencies(self) -> list[str]:
        """Return the names of the packages that it needs at run time."""
        package = self._package_json().get("dependencies")
        found = list(package) if isinstance(package, dict) else []
        project = self._toml("pyproject.toml").get("project")
        if isinstance(project, dict) and isinstance(project.get("dependencies"), list):
            found += [re.split(r"[\s<>=!~;\[(@]", str(each))[0] for each in project["dependencies"]]
        crates = self._toml("Cargo.toml").get("dependencies")
        found += list(crates) if isinstance(crates, dict) else []
        found += re.findall(
            r"^(?:require )?\s*([\w.-]+\.[\w-]+/\S+) v\S+(?!.*// indirect)", self.texts.get("go.mod", ""), re.MULTILINE
        )
        return list(dict.fromkeys(each for each in found if each))

    def name(self) -> str | None:
        """Return its name, from the first build file that has one."""
        return self._manifest_value("name") or next(
            iter(re.findall(r"^module\s+(\S+)", self.texts.get("go.mod", ""), re.MULTILINE)), None
        )

    def description(self) -> str | None:
        """Return its description, from the first build file that has one."""
        return self._manifest_value("description")

    def _manifest_value(self, key: str) -> str | None:
        tables = (
            self._toml("pyproject.toml").get("project"),
            self._package_json(),
            self._toml("Cargo.toml").get("package"),
        )
        values = (table.get(key) for table in tables if isinstance(table, dict))
        return next((value for value in values if isinstance(value, str) and value.strip()), None)

    def _package_json(self) -> dict[str, Any]:
        try:
            found = json.loads(self.texts.get("package.json", "{}"))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _toml(self, file: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self.texts.get(file, ""))
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}


def find_python(names: Sequence[str], otherwise: str) -> str:
    """Return the Python of the project's virtual environment, if these names have one."""
    venv = next((name for name in (".venv", "venv") if f"{name}/" in names), None)
    if venv is None:
        return otherwise
    return f"{venv}\\Scripts\\python" if otherwise == "python" else f"{venv}/bin/python"
