"""Prose, names and structure follow docs/glossary.md; the number of exceptions per package only goes down."""

from __future__ import annotations

import ast

import pytest
from house import prose

COMMAND = "python tests/house/prose.py"
SLACK = 10
"""Findings below an allowance before the table is out of date."""


def test_no_package_has_more_findings_than_it_is_allowed() -> None:
    allowed, found = prose.load_allowances(), prose.count(prose.find_all())
    over = [
        f"{area}: {number} under “{check}”, {allowed[check].get(area, 0)} allowed"
        for check, areas in found.items()
        for area, number in areas.items()
        if number > allowed[check].get(area, 0)
    ]
    assert over == [], f"fix the new ones: {COMMAND} PATH"


def test_the_allowances_are_lowered_as_findings_are_fixed() -> None:
    allowed, found = prose.load_allowances(), prose.count(prose.find_all())
    under = [
        f"{area}: {found[check].get(area, 0)} under “{check}”, {limit} allowed"
        for check, areas in allowed.items()
        for area, limit in areas.items()
        if limit - found[check].get(area, 0) > SLACK
    ]
    assert under == [], f"run {COMMAND} --update"


@pytest.mark.parametrize(
    "source, check",
    [
        ('"""What others say, made fit."""', "openings"),
        ("# The user is told about it.", "words"),
        ("def shown(): pass", "functions"),
        ("def asking(): pass", "functions"),
        ("def test_a_client_begins_anew(): pass", "words"),
        ("def f(self): return getattr(self.work, 'desk', None)", "probing"),
        ("def f(self): return hasattr(self.work, 'desk')", "probing"),
    ],
)
def test_a_new_finding_would_be_reported(source: str, check: str) -> None:
    path = "src/accord/sample.py"
    found = [*prose.find_in_tokens(path, source), *prose.find_in_tree(path, ast.parse(source))]
    assert check in {finding.check for finding in found}


@pytest.mark.parametrize(
    "source",
    [
        '"""Sanitize untrusted text for terminal output."""',
        "# Code in backticks is not prose: `told`.",
        "def closed(self) -> bool: ...",
        "@property\ndef elapsed(self): ...",
        "import os\nFLAG = getattr(os, 'O_CLOEXEC', 0)",
    ],
)
def test_idiomatic_code_has_no_findings(source: str) -> None:
    path = "src/accord/sample.py"
    assert [*prose.find_in_tokens(path, source), *prose.find_in_tree(path, ast.parse(source))] == []


def test_a_class_that_is_sliced_over_several_bases_would_be_reported() -> None:
    source = "class A: ...\nclass B(A): ...\nclass C(B): ...\nclass D(C): ..."
    (finding,) = prose.find_in_classes({"src/accord/tui/sample.py": ast.parse(source)})
    assert finding.text.startswith("D inherits from A, B, C")


def test_a_riddle_as_a_module_name_would_be_reported() -> None:
    names = ["haste", "told", "asking", "session", "recording"]
    found = [finding.path for name in names for finding in prose.find_in_module_name(f"src/accord/tui/{name}.py")]
    assert found == [f"src/accord/tui/{name}.py" for name in names[:3]]
