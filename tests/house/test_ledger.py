"""The ledger of rules and tests: every rule exists, and every proof is still named by a test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.proofs import read_rules, rules_of

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"V[12]-[A-Z]+-\d+")
ROW = re.compile(r"^\| (V[12]-[A-Z]+-\d+) \|.* \| ([^|]*) \|$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")


def list_ids() -> set[str]:
    return {rule.id for rule in read_rules()}


def read_rows() -> dict[str, str]:
    """Read the tests of each rule from `docs/requirements.md`."""
    found = ROW.findall((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    assert len(found) == len(dict(found))
    return dict(found)


def test_every_rule_that_a_collected_test_names_is_in_the_ledger(request: pytest.FixtureRequest) -> None:
    assert {id for item in request.session.items for id in rules_of(item)} - list_ids() == set()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_every_rule_that_a_file_of_tests_names_is_in_the_ledger(path: Path) -> None:
    assert set(ID.findall(path.read_text(encoding="utf-8"))) - list_ids() == set()


def test_no_test_claims_a_rule_that_cannot_be_broken() -> None:
    unprovable = {rule.id for rule in read_rules() if not rule.is_provable}
    for path in (ROOT / "tests").rglob("*.py"):
        claimed = re.findall(r'"(V[12]-[A-Z]+-\d+)"', path.read_text(encoding="utf-8"))
        assert unprovable & set(claimed) == set(), path


def test_the_table_lists_every_rule_once() -> None:
    assert sorted(read_rows()) == sorted(list_ids()), "run make ledger"


def test_what_the_table_calls_proved_is_still_named_by_a_test() -> None:
    """The table comes from a test run. Between two runs, compare it with the marks in the source."""
    named = {rule.id for rule in read_rules() if rule.area == "SCH"}  # tests/schema reads these from the ledger
    for path in (ROOT / "tests").rglob("*.py"):
        named |= set(ID.findall(path.read_text(encoding="utf-8")))
    proved = {id for id, tests in read_rows().items() if LINK.search(tests)}
    unprovable = {rule.id for rule in read_rules() if not rule.is_provable}
    assert proved - named - unprovable == set(), "run make ledger"


SAMPLE = """
import pytest

@pytest.mark.req("V1-FRAME-01", "V1-FRAME-02")
def test_passes(): pass
@pytest.mark.req("V1-FRAME-02", "V1-FRAME-03")
def test_fails(): assert False
@pytest.mark.req("V1-FRAME-04")
def test_skipped(): pytest.skip("not here")
@pytest.mark.req("V1-FRAME-05")
@pytest.mark.parametrize("case", [1, 2])
def test_fails_in_one_case(case): assert case == 1
@pytest.fixture
def breaks(): yield; raise ValueError
@pytest.mark.req("V1-FRAME-06")
def test_fails_at_the_end(breaks): pass
"""


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "1"]], ids=["one process", "xdist"])
def test_only_tests_that_passed_are_proofs(tmp_path: Path, workers: list[str]) -> None:
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = req(*ids): rules\n")
    results = tmp_path / "proofs.json"
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "tests")}
    words = ["-m", "pytest", "-q", "-p", "support.proofs", "-p", "no:cacheprovider", *workers, "--proofs", str(results)]
    subprocess.run([sys.executable, *words], cwd=tmp_path, env=variables, capture_output=True, check=False)

    read = "import json, sys, ledger; print(json.dumps(ledger.proofs(ledger.Path(sys.argv[1]))))"
    variables["PYTHONPATH"] = str(ROOT / "docs")
    done = subprocess.run([sys.executable, "-c", read, str(results)], env=variables, capture_output=True, text=True)
    test = ["test_sample.py", "test_passes"]
    assert json.loads(done.stdout) == {"V1-FRAME-01": [test], "V1-FRAME-02": [test]}
