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

from accord.config.faults import line_of
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


def permissions(table: Mapping[str, Any], *, where: str = "", text: str = "") -> Permissions:
    """Reads the table. `where` names the file in faults, and `text` is what stands in it, for the line."""

    def fault(message: str, *keys: str | int, value: str | None = None, within: str = "") -> RuleError:
        place = "permissions" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
        line = line_of(text, ["permissions", *keys, within], value) if text else None
        return RuleError(f"{place}: {message}", where=where, line=line)

    unknown = sorted(set(table) - {"default", "rules", *EFFECTS})
    if unknown:
        raise fault("there is no such setting; expected default, allow, ask, deny and rules", unknown[0])
    default = table.get("default")
    if default not in (None, "ask", "deny"):
        raise fault(f"is {default!r}; expected ask or deny", "default")
    rules: list[Rule] = []
    for effect in EFFECTS:
        texts = table.get(effect, [])
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            raise fault(f"is {texts!r}; expected a list of rules such as 'command:git status'", effect)
        for number, each in enumerate(texts):
            try:
                rules.append(parse(each, effect))
            except RuleError as error:
                raise fault(error.message, effect, number, value=each) from None
    tables = table.get("rules", [])
    if not isinstance(tables, list):
        raise fault("is no list; expected [[permissions.rules]] tables", "rules")
    for number, each in enumerate(tables):
        if not isinstance(each, dict):
            raise fault(f"is {each!r}; expected a table", "rules", number)
        try:
            rules.append(rule_from_table(each))
        except RuleError as error:
            raise fault(error.message, "rules", number, within=error.key) from None
    return Permissions(tuple(rules), default)
