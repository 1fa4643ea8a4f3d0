"""The guarantees: docs/guarantees.md lists them, docs/design.md explains each one and names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^### (\d+)\. ([^\n]+)\n(.*?)(?=^###? )", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (\d+) \| ([^|]+?)(?: \([^|]+\))? \|", re.MULTILINE)
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def read_sections() -> list[tuple[int, str, str]]:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## Guarantees")[2]
    return [(int(number), title, body) for number, title, body in SECTION.findall(text)]


def list_functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_the_list_has_the_guarantees_that_the_design_explains() -> None:
    text = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    listed = [(int(number), title) for number, title in ROW.findall(text)]
    assert listed == [(number, title) for number, title, _ in read_sections()]
    assert [number for number, _ in listed] == list(range(1, 15))


@pytest.mark.parametrize(("number", "title", "body"), read_sections(), ids=[str(each[0]) for each in read_sections()])
def test_every_guarantee_names_tests_that_exist(number: int, title: str, body: str) -> None:
    proofs = PROOF.findall(body)
    assert proofs, f"guarantee {number} ({title}) names no test"
    for path, function in proofs:
        assert function in list_functions(ROOT / path), f"guarantee {number} ({title}): no {function} in {path}"
