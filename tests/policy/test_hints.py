"""Why a rule may never match: each thing that is not there is named, and nothing that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.policy.hints import hint
from accord.policy.text import parse


@pytest.mark.parametrize(
    "rule, words",
    [
        ("allow write:srcs/**", "there is no srcs in the project"),
        ("allow write:src/deep/er/*.py", "there is no src/deep in the project"),
        ("deny path:doc/notes.md", "there is no doc in the project"),
        ("deny path:~/.awz/**", "there is no {home}/.awz"),
        ("deny path:/no/such/**", "there is no /no"),
        ("allow command:gti-of-nobody status", "there is no program gti-of-nobody on the PATH"),
        ("ask command:sh agent:scrib", "no agent is configured by the name scrib"),
        ("allow command:sh expires:2020-01-31T12:00:00Z", "it expired on 2020-01-31 12:00 UTC"),
        ("allow write:srcs/** write:docz/**", "there is no srcs in the project"),
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
def test_what_a_rule_names_in_vain_is_said(rule: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    project, home = str(tmp_path / "project"), str(tmp_path)
    said = hint(parse(rule), project=project, home=home, agents=["scribe"], now=1_800_000_000.0)
    assert said == words.format(home=home)
