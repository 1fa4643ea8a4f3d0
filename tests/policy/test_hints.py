"""Hints about rules that may never match."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.policy.hints import explain_unmatched
from accord.policy.rule import parse_rule


@pytest.mark.parametrize(
    "rule, words",
    [
        ("allow write:srcs/**", "srcs doesn't exist in the project"),
        ("allow write:src/deep/er/*.py", "src/deep doesn't exist in the project"),
        ("deny path:doc/notes.md", "doc doesn't exist in the project"),
        ("deny path:~/.awz/**", "{home}/.awz doesn't exist"),
        ("deny path:/no/such/**", "/no doesn't exist"),
        ("allow command:gti-of-nobody status", "gti-of-nobody isn't on the PATH"),
        ("ask command:sh agent:scrib", "no agent named scrib is configured"),
        ("allow command:sh expires:2020-01-31T12:00:00Z", "it expired on 2020-01-31 12:00 UTC"),
        ("allow write:srcs/** write:docz/**", "srcs doesn't exist in the project"),
        ("allow write:src/**", ""),
        ("allow write:src/new.py", ""),
        ("deny path:**/.env", ""),
        ("allow write:*.md", ""),
        ("allow write:srcs/** write:src/**", ""),
        ("allow command:sh -c *", ""),
        ("deny command:cd", ""),
        ("deny command:*sh", ""),
        ("deny kind:execute agent:scri*", ""),
        ("deny url:example.com agent:scribe", ""),
    ],
)
def test_a_rule_that_names_something_missing_is_explained(rule: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    project, home = str(tmp_path / "project"), str(tmp_path)
    said = explain_unmatched(parse_rule(rule), project=project, home=home, agents=["scribe"], now=1_800_000_000.0)
    assert said == words.format(home=home)
