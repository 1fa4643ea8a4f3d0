"""Rule sources: command-line options, configuration files, remembered rules; and their order of precedence.

    1. flags        options of this run
    2. session      chosen for this session
    3. remembered   remembered for this project, saved in the user's data directory
    4. project      accord.toml: what it asks and denies
    5. user         the user's configuration
    6. trusted      accord.toml: what it allows, if the user trusts the directory
    7. built in     what Accord allows by default

A project's accord.toml can restrict the user's configuration, and can allow only actions that it doesn't mention. Until
the user trusts the directory, allowing rules of accord.toml are ignored, with a note.

Configuration files have a `[permissions]` table:

    [permissions]
    default = "ask"                                  # or "deny"
    allow = ["command:git status", "write:src/**"]
    ask = ["kind:execute"]
    deny = ["path:**/.env"]

    [[permissions.rules]]                            # the long form
    effect = "deny"
    path = ["secrets/**", "~/.aws/**"]
    agent = "scribe"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from accord.config.problems import find_line
from accord.errors import RuleError
from accord.policy.remembered_rules import RememberedRules
from accord.policy.rule import EFFECTS, Effect, Rule, format_rule, parse_rule, rule_from_table

Source = Literal["flags", "session", "remembered", "project", "user", "trusted", "built in"]
ORDER: tuple[Source, ...] = ("flags", "session", "remembered", "project", "user", "trusted", "built in")
SOURCE_NAMES: dict[Source, str] = {
    "flags": "a command-line option",
    "session": "your choice in this session",
    "remembered": "a remembered rule",
    "project": "the project's accord.toml",
    "user": "your configuration",
    "trusted": "the project's accord.toml",
    "built in": "Accord's defaults",
}


class SourcedRule(NamedTuple):
    """A rule and its source."""

    source: Source
    rule: Rule


class Sources:
    """The rules of a policy, in order of precedence."""

    def __init__(
        self,
        *,
        flags: Iterable[Rule],
        session: Iterable[Rule],
        remembered: RememberedRules | Iterable[Rule],
        user: Iterable[Rule],
        project: Iterable[Rule],
        built_in: Iterable[Rule],
        directory: str,
        trusted: bool,
    ) -> None:
        self.notes: list[str] = []
        self._directory = directory
        self._memory = remembered if isinstance(remembered, RememberedRules) else None
        own = list(project)
        self._rules: dict[Source, list[Rule]] = {
            "flags": list(flags),
            "session": list(session),
            "remembered": [] if isinstance(remembered, RememberedRules) else list(remembered),
            "project": [rule for rule in own if rule.effect != "allow"],
            "user": list(user),
            "trusted": [rule for rule in own if rule.effect == "allow"] if trusted else [],
            "built in": list(built_in),
        }
        for name, rules in self._rules.items():
            for rule in rules:
                if not isinstance(rule, Rule):
                    raise RuleError(f'{name} contains {rule!r}; rules are objects: parse_rule({rule!r}, "allow")')
        if not trusted:
            self.notes += [
                f"ignored, because this directory isn't trusted: {format_rule(rule)} (in {directory}/accord.toml)"
                for rule in own
                if rule.effect == "allow"
            ]

    @property
    def memory(self) -> RememberedRules | None:
        return self._memory

    def __iter__(self) -> Iterator[SourcedRule]:
        """Iterate over all rules, the highest precedence first."""
        for source in ORDER:
            yield from (SourcedRule(source, rule) for rule in self._rules[source])
            if source == "remembered" and self._memory is not None:
                yield from (SourcedRule(source, rule) for rule in self._memory.rules(self._directory))

    def add(self, rules: Iterable[Rule]) -> None:
        """Add session rules."""
        self._rules["session"] += rules

    def use_up(self, placed: SourcedRule) -> None:
        """Remove a rule with scope `once` after its use."""
        rules = self._rules[placed.source]
        if placed.rule in rules:
            rules.remove(placed.rule)

    def end_session(self, session: str) -> None:
        """Remove the rules of one session."""
        self._rules["session"] = [rule for rule in self._rules["session"] if rule.session != session]


class Permissions(NamedTuple):
    """The `[permissions]` table of a configuration file."""

    rules: tuple[Rule, ...] = ()
    default: Literal["ask", "deny"] | None = None


def parse_flags(allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()) -> list[Rule]:
    """Parse the rules of a command line. Only here may `all` be allowed, because the user who types it trusts the
    agent."""
    given: tuple[tuple[Effect, Iterable[str]], ...] = (("allow", allow), ("ask", ask), ("deny", deny))
    return [
        parse_rule(text, effect, trusted_agent=text.split()[:1] == ["all"], where=f"--{effect}")
        for effect, texts in given
        for text in texts
    ]


def parse_permissions(table: Mapping[str, Any], *, where: str = "", text: str = "") -> Permissions:
    """Parse the table. `where` names the file in errors; `text` is its content, to find the line number."""

    def fault(message: str, *keys: str | int, value: str | None = None, within: str = "") -> RuleError:
        place = "permissions" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
        line = find_line(text, ["permissions", *keys, within], value) if text else None
        return RuleError(f"{place}: {message}", where=where, line=line)

    unknown = sorted(set(table) - {"default", "rules", *EFFECTS})
    if unknown:
        raise fault("unknown setting; expected default, allow, ask, deny or rules", unknown[0])
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
                rules.append(parse_rule(each, effect))
            except RuleError as error:
                raise fault(error.message, effect, number, value=each) from None
    tables = table.get("rules", [])
    if not isinstance(tables, list):
        raise fault("isn't a list; expected [[permissions.rules]] tables", "rules")
    for number, each in enumerate(tables):
        if not isinstance(each, dict):
            raise fault(f"is {each!r}; expected a table", "rules", number)
        try:
            rules.append(rule_from_table(each))
        except RuleError as error:
            raise fault(error.message, "rules", number, within=error.key) from None
    return Permissions(tuple(rules), default)
