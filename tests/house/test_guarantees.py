"""The table of guarantees in the README: twelve of them, each with tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+) \| .+ \| (.+) \|$", re.MULTILINE)
PROOF = re.compile(r"\[(\w+\.py)::(\w+)\]\(([^)]+)\)")


def table() -> list[tuple[int, str]]:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Guarantees")[2].partition("\n## ")[0]
    return [(int(number), proofs) for number, proofs in ROW.findall(text)]


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_the_guarantees_are_numbered_from_one_to_twelve() -> None:
    assert [number for number, _ in table()] == list(range(1, 13))


@pytest.mark.parametrize(("number", "proofs"), table())
def test_every_guarantee_names_tests_that_are_there(number: int, proofs: str) -> None:
    named = PROOF.findall(proofs)
    assert named, f"guarantee {number} has no test"
    for file, function, path in named:
        assert Path(path).name == file
        assert function in functions(ROOT / path), f"guarantee {number}: there is no {function} in {path}"
