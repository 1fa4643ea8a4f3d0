"""Remembered rules: the user's permanent choices per project, in one file that the user can read and edit.

    [[rule]]
    project = "/home/ada/engine"
    effect = "allow"
    command = "make test"
    added = 2026-11-15T09:30:00Z
    expires = 2027-01-01T00:00:00Z

An invalid rule is ignored, reported with its line, and stays in the file. Expired rules are ignored too, and removed
when the file is next written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from accord.config.directories import remembered_file
from accord.config.toml_tables import Block, Contents, TomlTables
from accord.errors import RuleError
from accord.policy.rule import Rule, rule_from_table, rule_to_table

_HEAD = (
    "# Remembered rules, per project. Accord reloads this file when it changes:\n"
    "# edit it, or remove a rule to be asked again.\n"
)


class RememberedRules:
    """The remembered rules of all projects. Several processes can share the file."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path: Path = Path(path) if path is not None else remembered_file()
        self._tables = TomlTables(self.path, "rule", _HEAD)
        self._clock = clock
        self._read: tuple[Contents, list[tuple[str, Rule]], list[RuleError]] | None = None

    def rules(self, project: str) -> list[Rule]:
        """Return the rules of a project that haven't expired."""
        directory, now = os.path.realpath(project), self._clock()
        return [rule for where, rule in self._rules() if where == directory and not rule.is_expired(now)]

    @property
    def problems(self) -> list[RuleError]:
        """Problems in the file, each with its line."""
        self._rules()
        return list(self._read[2]) if self._read is not None else []

    def add(self, project: str, rules: Iterable[Rule]) -> None:
        """Save rules for a project. They replace rules with the same subject; expired rules are removed."""
        directory = os.path.realpath(project)
        now = self._clock()
        new = list(dict.fromkeys(rules))

        def change(contents: Contents) -> tuple[list[Block], list[dict[str, Any]]]:
            subjects = {_same(rule) for rule in new}
            remaining = [
                block
                for block in contents.blocks
                if (rule := _readable(block)) is None
                or not (rule.is_expired(now) or (block.table.get("project") == directory and _same(rule) in subjects))
            ]
            added = datetime.fromtimestamp(int(now), UTC)
            return remaining, [{"project": directory, **rule_to_table(rule), "added": added} for rule in new]

        self._tables.change(change)

    def forget(self, project: str, rules: Iterable[Rule] | None = None) -> None:
        """Remove some rules of a project, or all of them."""
        directory = os.path.realpath(project)
        removed = None if rules is None else {_same(rule) for rule in rules}

        def change(contents: Contents) -> tuple[list[Block], list[dict[str, Any]]]:
            return [
                block
                for block in contents.blocks
                if block.table.get("project") != directory
                or (removed is not None and ((rule := _readable(block)) is None or _same(rule) not in removed))
            ], []

        self._tables.change(change)

    def _rules(self) -> list[tuple[str, Rule]]:
        contents = self._tables.read()
        if self._read is None or self._read[0] is not contents:
            rules: list[tuple[str, Rule]] = []
            problems = list(contents.problems)
            for block in contents.blocks:
                try:
                    project, rule = _rule(block)
                except RuleError as error:
                    problems.append(error.at(str(self.path), error.line or block.line))
                    continue
                if not (contents.is_unsafe and rule.effect == "allow"):
                    rules.append((project, rule))
            self._read = contents, rules, problems
        return self._read[1]


def _rule(block: Block) -> tuple[str, Rule]:
    table = dict(block.table)
    project = table.pop("project", None)
    table.pop("added", None)
    if not isinstance(project, str) or not os.path.isabs(project) or "\0" in project:
        found = "nothing" if project is None else repr(project)
        raise RuleError(f"project is {found}; expected the absolute path of a directory", line=block.line_of("project"))
    try:
        rule = rule_from_table(table)
        if rule.scope != "forever":
            raise RuleError(
                f"scope is {rule.scope!r}; remembered rules last forever, or until they expire", key="scope"
            )
        return os.path.realpath(project), rule
    except RuleError as error:
        raise error.at("", block.line_of(error.key)) from None


def _readable(block: Block) -> Rule | None:
    try:
        return _rule(block)[1]
    except RuleError:
        return None


def _same(rule: Rule) -> tuple[Any, ...]:
    """Return the subject of a rule, regardless of its effect and duration."""
    return (
        rule.everything, rule.command, rule.line, rule.path, rule.access, rule.url,
        rule.tool_kind, rule.title, rule.agent, rule.session,
    )  # fmt: skip
