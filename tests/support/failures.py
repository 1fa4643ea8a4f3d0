"""A pytest plugin that lists the tests that failed, for `.ci/run-again`.

`--failures FILE` writes their ids, one per line. There is no file if some tests may not have run at all: because a file
couldn't be collected, a worker crashed, or the run was interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest


class FailureList:
    """Collects the ids of the tests that failed, in whichever phase."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.is_complete = True
        self.failed: dict[str, None] = {}
        file.unlink(missing_ok=True)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.is_complete = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when not in ("setup", "call", "teardown"):  # pytest-xdist reports a test whose worker crashed
            self.is_complete = False
        if report.failed:
            self.failed[report.nodeid] = None

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.TESTS_FAILED and self.failed and self.is_complete:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text("".join(f"{id}\n" for id in self.failed), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failures", metavar="FILE", type=Path, help="write the ids of the tests that failed")


def pytest_configure(config: pytest.Config) -> None:
    file: Path | None = config.getoption("failures")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailureList(file))
