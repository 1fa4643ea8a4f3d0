"""Where rules come from, and which of them speaks first.

    1. flags        the options of this run
    2. session      chosen for this session
    3. remembered   chosen for good in this project, kept in the user's data folder
    4. project      accord.toml: what it asks and denies
    5. user         the user's configuration
    6. trusted      accord.toml again: what it allows, once the user trusts the folder
    7. built in     what Accord allows by itself

A project's own file may narrow before the user's configuration speaks, and allow only where that says nothing; until
the folder is trusted, what it allows is ignored, with a note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from accord.policy.memory import Memory
from accord.policy.rule import Rule
from accord.policy.text import show

Source = Literal["flags", "session", "remembered", "project", "user", "trusted", "built in"]
ORDER: tuple[Source, ...] = ("flags", "session", "remembered", "project", "user", "trusted", "built in")
NAMES: dict[Source, str] = {
    "flags": "an option of this run",
    "session": "a choice in this session",
    "remembered": "a remembered choice",
    "project": "the project's accord.toml",
    "user": "your configuration",
    "trusted": "the project's accord.toml",
    "built in": "Accord itself",
}


class Placed(NamedTuple):
    """A rule and where it comes from."""

    source: Source
    rule: Rule


class Sources:
    """All the rules of a policy."""

    def __init__(
        self,
        *,
        flags: Iterable[Rule],
        session: Iterable[Rule],
        remembered: Memory | Iterable[Rule],
        user: Iterable[Rule],
        project: Iterable[Rule],
        built_in: Iterable[Rule],
        folder: str,
        trusted: bool,
    ) -> None:
        self.notes: list[str] = []
        self._folder = folder
        self._memory = remembered if isinstance(remembered, Memory) else None
        own = list(project)
        self._rules: dict[Source, list[Rule]] = {
            "flags": list(flags),
            "session": list(session),
            "remembered": [] if isinstance(remembered, Memory) else list(remembered),
            "project": [rule for rule in own if rule.effect != "allow"],
            "user": list(user),
            "trusted": [rule for rule in own if rule.effect == "allow"] if trusted else [],
            "built in": list(built_in),
        }
        if not trusted:
            self.notes += [
                f"ignored, since this folder is not trusted: {show(rule)} (in {folder}/accord.toml)"
                for rule in own
                if rule.effect == "allow"
            ]

    @property
    def memory(self) -> Memory | None:
        return self._memory

    def __iter__(self) -> Iterator[Placed]:
        """Every rule, those that speak first in front."""
        for source in ORDER:
            yield from (Placed(source, rule) for rule in self._rules[source])
            if source == "remembered" and self._memory is not None:
                yield from (Placed(source, rule) for rule in self._memory.rules(self._folder))

    def add(self, rules: Iterable[Rule]) -> None:
        """Rules for the session."""
        self._rules["session"] += rules

    def spend(self, placed: Placed) -> None:
        """A rule that holds once has been used."""
        rules = self._rules[placed.source]
        if placed.rule in rules:
            rules.remove(placed.rule)

    def end_session(self, session: str) -> None:
        """Forgets what was chosen for one session."""
        self._rules["session"] = [rule for rule in self._rules["session"] if rule.session != session]
