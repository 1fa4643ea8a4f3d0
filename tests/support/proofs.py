"""A pytest plugin that records which rules of the protocol a run proved.

A test names the rules that it proves: `@pytest.mark.req("V1-FRAME-27")`. `--proofs FILE` writes the outcome of every
test that names rules, from which `docs/ledger.py` makes the ledger. Workers of pytest-xdist send the ids along with
their reports, so the file is the same however the tests are distributed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FACTS = Path(__file__).resolve().parents[2] / "docs" / "ledger.csv"
RULES = "rules"


class Rule(NamedTuple):
    """One row of the ledger. `subject` is the type that a rule about types is about."""

    id: str
    area: str
    binds: str
    level: str
    stability: str
    subject: str
    proof: str
    """`none` for what cannot be broken: a permission, a policy, an open draft. Such a rule is never proved."""

    @property
    def version(self) -> int:
        return int(self.id[1])

    @property
    def is_provable(self) -> bool:
        return self.proof != "none"


def read_rules() -> list[Rule]:
    """Return the rules in the order of the ledger."""
    with FACTS.open(newline="", encoding="utf-8") as file:
        return [Rule(**row) for row in csv.DictReader(file)]


def rules_of(item: pytest.Item) -> list[str]:
    return sorted({id for mark in item.iter_markers("req") for id in mark.args})


class Recorder:
    """Collects the outcome of each test that names rules."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.outcomes: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        rules = dict(report.user_properties).get(RULES)
        if not rules:
            return
        found = self.outcomes.setdefault(report.nodeid, {"rules": rules, "outcome": "passed"})
        if report.outcome != "passed" and found["outcome"] != "failed":  # setup and teardown count, too
            found["outcome"] = report.outcome

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return  # tests that could not be collected, or were interrupted: the record would have holes
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.outcomes, indent=1, sort_keys=True), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proofs", metavar="FILE", type=Path, help="write the outcome of each test that names rules")


def pytest_configure(config: pytest.Config) -> None:
    file: Path | None = config.getoption("proofs")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(file))


def pytest_itemcollected(item: pytest.Item) -> None:
    if rules := rules_of(item):
        item.user_properties.append((RULES, rules))
