"""The public API is fully typed for its users, and type checkers find the mistakes in calls of it.

A line that ends in `# wrong` must be reported, every other line must not. mypy and pyright are started once each."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import accord
from accord.client.connect import ConnectOptions, connect

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "house" / "corpus"

Place = tuple[str, int]


def run_mypy(*files: Path) -> subprocess.CompletedProcess[str]:
    """Run mypy in strict mode, with the project's configuration and cache."""
    command = [sys.executable, "-P", "-m", "mypy", "--no-error-summary", "--strict", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


@cache
def wrong_lines() -> set[Place]:
    """The lines of the corpus that are marked as wrong."""
    return {
        (path.name, number)
        for path in CORPUS.glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.endswith("# wrong")
    }


def test_mypy_accepts_right_programs_and_reports_every_wrong_line(tmp_path: Path) -> None:
    names = tmp_path / "every_public_name.py"
    names.write_text(f"from accord import {', '.join(accord.__all__)}\n")

    right = [ROOT / "tests" / "house" / "program.py", names, *sorted((ROOT / "examples").glob("*.py"))]
    found = run_mypy(*right, *sorted(CORPUS.glob("*.py")))

    reported = re.findall(r"(\w+\.py):(\d+): error", found.stdout)
    assert {(name, int(number)) for name, number in reported} == wrong_lines(), found.stdout


def test_pyright_accepts_right_programs_and_reports_every_wrong_line(tmp_path: Path) -> None:
    for path in CORPUS.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    config = {"include": ["."], "extraPaths": [str(ROOT / "src")], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))

    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    found = subprocess.run(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, check=False)

    problems = json.loads(found.stdout)["generalDiagnostics"]
    errors = [each for each in problems if each["severity"] == "error"]
    places = {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in errors}
    assert places == wrong_lines(), "\n".join(each["message"] for each in errors)


def test_the_options_that_are_passed_on_are_those_of_connect() -> None:
    assert set(ConnectOptions.__annotations__) == set(inspect.signature(connect).parameters) - {"target"}
