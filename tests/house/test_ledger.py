"""The table of rules and tests: it names no rule that is none, and no proof that is gone."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"V[12]-[A-Z]+-\d+")
ROW = re.compile(r"^\| (V[12]-[A-Z]+-\d+) \|.* \| ([^|]*) \|$", re.MULTILINE)


def known() -> set[str]:
    with (ROOT / "docs" / "ledger.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"] for row in csv.DictReader(file)}


def test_every_rule_that_a_collected_test_names_is_in_the_ledger(request: pytest.FixtureRequest) -> None:
    named = {id for item in request.session.items for mark in item.iter_markers("req") for id in mark.args}
    assert named - known() == set()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_every_rule_that_a_file_of_tests_names_is_in_the_ledger(path: Path) -> None:
    assert set(ID.findall(path.read_text(encoding="utf-8"))) - known() == set()


def test_the_table_lists_every_rule_once() -> None:
    rows = [id for id, _ in ROW.findall((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))]
    assert sorted(rows) == sorted(known()), "run make ledger"


def test_what_the_table_calls_covered_is_still_covered() -> None:
    """Read from the text of the tests: a mark that is computed names its area and no number."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = set(ID.findall(text))
    computed = set(re.findall(r"(V[12]-[A-Z]+)-\{", text))
    rows = ROW.findall((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    covered = {id for id, tests in rows if tests != "–"}
    assert {id for id in covered - named if id.rpartition("-")[0] not in computed} == set(), "run make ledger"
