"""Every row of the tables in docs/policy.md is true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from policy.fixtures import HOME, PROJECT, policy, read, run, write

from accord.policy.action import Action
from accord.policy.audit import Audit
from accord.policy.engine import Policy
from accord.policy.protections import INSTALLED, PROTECTED, SECRETS
from accord.policy.rule import _KEYS, parse_rule

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "policy.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def rows(*heading: str) -> list[list[str]]:
    """The rows of all tables with this heading."""
    found: list[list[str]] = []
    lines = TEXT.splitlines()
    for place, line in enumerate(lines):
        if cells(line) == list(heading):
            for row in lines[place + 2 :]:
                if not row.startswith("|"):
                    break
                found.append(cells(row))
    return found


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def find_quotes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def action(text: str) -> Action:
    """Parse the action of a row: `write a`, `read a`, `fetch address`, `call tool`, or a command line."""
    word, _, rest = text.partition(" ")
    path = rest.replace("~", HOME, 1) if rest.startswith("~") else rest
    match word:
        case "write":
            return write(path)
        case "read":
            return read(path)
        case "fetch":
            return Action(kind="permission", tool_kind="fetch", url=rest, session="s1", project=PROJECT)
        case "call":
            return Action(kind="mcp", mcp=rest, session="s1", project=PROJECT)
    return run(text)


SPOKEN = [
    pytest.param(rule, text, speaks, id=f"{rule}: {text}")
    for cell, of, not_of in rows("rule", "covers", "doesn't cover")
    for rule in find_quotes(cell)
    for texts, speaks in ((of, True), (not_of, False))
    for text in find_quotes(texts)
]


def test_the_tables_are_found() -> None:
    assert len(SPOKEN) > 60 and len(DECIDED) > 10


@pytest.mark.parametrize("rule, text, speaks", SPOKEN)
def test_a_rule_applies_to_what_the_page_says(rule: str, text: str, speaks: bool) -> None:
    decision = policy(rule, built_in=()).decide(action(text))
    effect = rule.partition(" ")[0]
    assert decision.effect == (effect if speaks else "ask")


DECIDED = rows("options of the run", "your configuration", "the project's `accord.toml`", "the agent wants", "so it is")


@pytest.mark.parametrize("row", DECIDED, ids=" ".join)
def test_it_is_decided_as_the_document_says(row: list[str]) -> None:
    flags, user, project, wanted, outcome = row
    (text,) = find_quotes(wanted)
    before, _, after = outcome.partition(" until the directory is trusted, then ")
    for trusted, said in (False, before), (True, after or before):
        settings: dict[str, Any] = {
            "user": find_quotes(user),
            "project_rules": find_quotes(project),
            "trusted": trusted,
        }
        decision = policy(*find_quotes(flags), **settings).decide(action(text))
        assert {"allow": "allowed", "ask": "asked", "deny": "denied"}[decision.effect] == said


def test_every_key_is_documented() -> None:
    told = {key.removesuffix(":") for cell, _ in rows("key", "applies to") for key in find_quotes(cell)}
    assert told == {*_KEYS, "all"}


def test_protected_files_are_documented() -> None:
    section = TEXT.partition("### Files that always need permission")[2].partition("Files that you run by name")[0]
    assert set(find_quotes(section)) == {
        text.removeprefix("**/").removesuffix("**") for text in (*PROTECTED, *INSTALLED)
    }


def test_files_with_keys_and_passwords_are_documented() -> None:
    section = TEXT.partition("### Files with keys and passwords")[2].partition("\n#")[0]
    assert set(find_quotes(section)) == {text.removesuffix("**") for text in SECRETS}


def test_the_log_has_the_documented_fields(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    told = json.loads(shown)
    rules = Policy("/home/ada/engine", remembered=[parse_rule("allow command:make test")])
    audit = Audit(tmp_path / "decisions.jsonl", clock=lambda: 1794735000.123)
    made = Action.of_terminal("make test", shell=True, session="s-1", project="/home/ada/engine")
    audit.record(made, rules.decide(made))
    (entry,) = audit.entries()
    assert {key: value for key, value in entry.items() if key != "cwd"} == told
