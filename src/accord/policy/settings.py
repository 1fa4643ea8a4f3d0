"""Rules from options of a command line, and from the `[permissions]` table of a configuration file.

[permissions]
default = "ask"                                  # or "deny"
allow = ["command:git status", "write:src/**"]
ask = ["kind:execute"]
deny = ["path:**/.env"]

[[permissions.rules]]                            # the long form, for what is easier to read so
effect = "deny"
path = ["secrets/**", "~/.aws/**"]
agent = "scribe"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from accord.errors import RuleError
from accord.policy.rule import EFFECTS, Effect, Rule, rule_from_table
from accord.policy.text import parse


class Permissions(NamedTuple):
    """What a configuration file says about permissions."""

    rules: tuple[Rule, ...] = ()
    default: Literal["ask", "deny"] | None = None


def flags(allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()) -> list[Rule]:
    """The rules of a command line. Here alone `all` may be allowed: who types it starts the agent, and trusts it."""
    given: tuple[tuple[Effect, Iterable[str]], ...] = (("allow", allow), ("ask", ask), ("deny", deny))
    return [
        parse(text, effect, trusted_agent=text.split()[:1] == ["all"], where=f"--{effect}")
        for effect, texts in given
        for text in texts
    ]


def permissions(table: Mapping[str, Any], *, where: str = "") -> Permissions:
    """Reads the table. `where` names the file in faults."""
    place = f"{where}: permissions" if where else "permissions"
    unknown = sorted(set(table) - {"default", "rules", *EFFECTS})
    if unknown:
        raise RuleError(f"there is no {unknown[0]!r}; expected default, allow, ask, deny and rules", where=place)
    default = table.get("default")
    if default not in (None, "ask", "deny"):
        raise RuleError(f"is {default!r}; expected ask or deny", where=f"{place}.default")
    rules: list[Rule] = []
    for effect in EFFECTS:
        texts = table.get(effect, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise RuleError(
                f"is {texts!r}; expected a list of rules such as 'command:git status'", where=f"{place}.{effect}"
            )
        rules += [parse(text, effect, where=f"{place}.{effect}[{number}]") for number, text in enumerate(texts)]
    tables = table.get("rules", [])
    if not isinstance(tables, list):
        raise RuleError("is no list; expected [[permissions.rules]] tables", where=f"{place}.rules")
    for number, each in enumerate(tables):
        here = f"{place}.rules[{number}]"
        if not isinstance(each, dict):
            raise RuleError(f"is {each!r}; expected a table", where=here)
        try:
            rules.append(rule_from_table(each))
        except RuleError as fault:
            raise fault.at(here) from None
    return Permissions(tuple(rules), default)
