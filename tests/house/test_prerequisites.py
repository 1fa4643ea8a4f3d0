"""Prerequisites of the tests are installed, or their absence is reported: no test is skipped silently."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import interpreters

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the test setup in a project without `.cache`."""
    tests = tmp_path / "tests"
    (tests / "peers").mkdir(parents=True)
    (tests / "support").mkdir()
    for name in (
        "support/prerequisites.py",
        "support/programs.py",
        "peers/install.py",
        "peers/requirements.txt",
        "peers/package.json",
    ):
        shutil.copyfile(TESTS / name, tests / name)
    return tests


def run(copy: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with an empty `PATH` and no package index."""
    base = {name: value for name, value in os.environ.items() if name not in ("PATH", "ACCORD_OFFLINE")}
    environment = {**base, "PATH": "/nowhere", "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, **variables}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run([sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True)


def test_peers_that_cannot_be_installed_are_an_error_that_says_why(copy: Path) -> None:
    done = run(copy, "peers/install.py")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Couldn't install the official Python SDK: `python -m pip ")
    assert "No matching distribution found for agent-client-protocol" in lines[0]
    assert lines[2].startswith("Couldn't install the official TypeScript SDK: ")
    assert {lines[1], lines[3]} == {"To run the tests without what is missing: ACCORD_OFFLINE=1 make test"}
    assert "node and npm not found; installing Node from PyPI…" in done.stdout


def test_programs_that_cannot_be_installed_are_an_error_that_names_their_packages(copy: Path) -> None:
    done = run(copy, "support/programs.py")
    assert done.returncode == 1
    assert "install the packages tmux and jq and nginx" in done.stderr


@pytest.mark.parametrize("script", ["peers/install.py", "support/programs.py"])
def test_offline_mode_installs_nothing_and_reports_it(copy: Path, script: str) -> None:
    done = run(copy, script, ACCORD_OFFLINE="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ACCORD_OFFLINE=1: not installing" in done.stdout


SAMPLE = """
import pytest
from support.prerequisites import needs, require

def test_plain(): pass
def test_asks(): require("tmux is not installed")
@needs("the schemas are not installed")
def test_marked(): pass
@needs(None)
def test_has_it(): require(None)
@pytest.mark.skip(reason="another system")
def test_other(): pass
"""


def test_tests_without_their_prerequisites_fail_or_are_counted(copy: Path) -> None:
    (copy / "test_sample.py").write_text(SAMPLE)
    (copy / "conftest.py").write_text("from support.prerequisites import pytest_runtest_setup, pytest_terminal_summary")
    (copy / "pytest.ini").write_text("[pytest]\nmarkers = needs(missing): a mark\n")
    pytest_words = ["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=."]

    done = run(copy, *pytest_words)
    assert "2 passed, 1 skipped" in done.stdout and "NOT TESTED" not in done.stdout
    assert "tmux is not installed; `make test` installs it, ACCORD_OFFLINE=1 skips this test" in done.stdout

    done = run(copy, *pytest_words, ACCORD_OFFLINE="1")
    assert "2 passed, 3 skipped" in done.stdout
    counted = "the schemas are not installed (1); tmux is not installed (1)"
    assert f"2 tests skipped because ACCORD_OFFLINE=1: {counted}\n" in done.stdout


def test_only_interpreters_that_run_are_tested_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = next(version for version in interpreters.SUPPORTED if version != sys.version_info[:2])
    name = "{}.{}".format(*other)
    shim, real = tmp_path / "shims" / f"python{name}", tmp_path / "versions" / f"{name}.1" / "bin" / "python"
    own = tmp_path / "versions" / "0.0.0" / "bin" / "python"
    answers = {shim: "exit 127", real: f"echo {name.replace('.', ' ')}", own: f'exec {sys.executable} "$@"'}
    for path, answer in answers.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{answer}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))

    assert interpreters.find_others() == {other: str(real)}
    assert interpreters.find_version(str(own)) == sys.version_info[:2]
    assert interpreters.find_version("/nowhere/python") is None
