"""A change lands although a test failed once only if every test ran, and the failed ones pass when they run again."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

UNSTABLE = """
import pathlib
import pytest
def fails_once(name):
    if not pathlib.Path(name).exists():
        pathlib.Path(name).touch()
        raise AssertionError(name)
@pytest.mark.parametrize("case", ["plain", "with a space", "it's [odd] :: $HOME"])
def test_call(case): fails_once(f"call {case}")
@pytest.fixture
def ends(): yield; fails_once("teardown")
def test_teardown(ends): pass
def test_passes(): pass
"""

LISTED = """test_unstable.py::test_call[plain]
test_unstable.py::test_call[with a space]
test_unstable.py::test_call[it's [odd] :: $HOME]
test_unstable.py::test_teardown
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the scripts that decide whether a change lands, and with tests that fail once."""
    for name in ("run", "run-again"):
        (tmp_path / ".ci").mkdir(exist_ok=True)
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci" / name)
    words = ["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", f"PYTHONPATH={ROOT / 'tests'}", sys.executable]
    words += ["-m", "pytest", "-p", "support.failures", "-p", "xdist", "-n", "2"]
    (tmp_path / "Makefile").write_text(f"run lint:\ntest:\n\t@{shlex.join(words)} $(ARGS)\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_unstable.py").write_text(UNSTABLE)
    return tmp_path


def decide(project: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE"))}
    return subprocess.run([project / ".ci" / "run"], cwd=project, env=environment, capture_output=True, text=True)


def test_tests_that_pass_when_they_run_again_are_listed(project: Path) -> None:
    done = decide(project)

    assert done.returncode == 0, done.stdout + done.stderr
    unstable = [line.removeprefix("UNSTABLE: ") for line in done.stdout.splitlines() if line.startswith("UNSTABLE: ")]
    assert sorted(unstable) == sorted(LISTED.splitlines())
    assert "4 passed" in done.stdout, "only the failed tests run again"


def test_a_test_that_fails_twice_refuses_the_change(project: Path) -> None:
    (project / "test_broken.py").write_text("def test_broken(): assert False\n")

    done = decide(project)

    assert done.returncode != 0
    assert "1 failed, 4 passed" in done.stdout and "UNSTABLE" not in done.stdout


def test_more_than_five_failures_refuse_the_change(project: Path) -> None:
    (project / "test_more.py").write_text(UNSTABLE.replace("call {case}", "more {case}"))

    done = decide(project)

    assert done.returncode != 0
    assert " tests failed: too many to run again." in done.stdout


ONCE = "import os, pathlib\nfirst = not pathlib.Path('once').exists()\npathlib.Path('once').touch()\n"
INCOMPLETE = {
    "a file that can't be collected": f"{ONCE}assert not first\ndef test_passes(): pass\n",
    "a worker that crashes": f"{ONCE}def test_crashes():\n    if first: os._exit(1)\n",
    "an interruption": f"{ONCE}def test_interrupts():\n    if first: raise KeyboardInterrupt\n",
}


@pytest.mark.parametrize("cause", INCOMPLETE)
def test_a_run_in_which_tests_may_be_missing_refuses_the_change(project: Path, cause: str) -> None:
    (project / "test_once.py").write_text(INCOMPLETE[cause])

    done = decide(project)

    assert done.returncode != 0, done.stdout
    assert "make test failed, and not only because tests failed." in done.stdout


def test_an_internal_error_refuses_the_change(project: Path) -> None:
    breaks = "def pytest_runtest_logreport(report):\n    if 'teardown' in report.nodeid: raise ValueError('a bug')\n"
    (project / "conftest.py").write_text(breaks)

    done = decide(project)

    assert done.returncode != 0, done.stdout
    assert "make test failed, and not only because tests failed." in done.stdout


def test_the_failures_of_an_earlier_run_do_not_count(project: Path) -> None:
    (project / ".cache").mkdir()
    (project / ".cache" / "failed-tests").write_text(LISTED)
    makefile = project / "Makefile"
    fails_once = "test:\n\t@test -e set-up || { touch set-up; false; }\n"
    makefile.write_text(makefile.read_text().replace("test:\n", fails_once))

    done = decide(project)

    assert done.returncode != 0, done.stdout
    assert "make test failed, and not only because tests failed." in done.stdout
