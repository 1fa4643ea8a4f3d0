"""What a person has just allowed, for the call that follows.

An agent that asks for permission often does the thing through the client: it asks to edit a file, and then has the file
written. The person has answered that already. An allowed request is therefore good for the same command, file or
address once more in the same session, for a while."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from accord.policy.action import Action
from accord.policy.decision import Decision
from accord.policy.parts import Part, Parts

LASTING = 600.0
_MOST = 1000
SHELLS = frozenset(f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("sh", "bash"))


class Grants:
    """The permissions that have not been used yet."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[tuple[Hashable, ...], float] = {}

    def add(self, action: Action, parts: Parts) -> None:
        """A permission request was allowed."""
        now = self._clock()
        self._until = {key: until for key, until in self._until.items() if until > now}
        for part in parts.parts:
            for key in _keys(part, action):
                self._until[key] = now + LASTING
        while len(self._until) > _MOST:
            self._until.pop(next(iter(self._until)))

    def cover(self, action: Action, parts: Parts, decisions: Sequence[Decision | None]) -> bool:
        """Whether everything that would have to be asked has been."""
        if action.kind == "permission":
            return False
        asked = [
            part
            for part, decision in zip(parts.parts, decisions, strict=True)
            if decision is not None and decision.effect != "allow"
        ]
        now = self._clock()
        return all(any(self._until.get(key, now) > now for key in _keys(part, action)) for part in asked)

    def use(self, action: Action, parts: Parts) -> None:
        """They have been used."""
        for part in parts.parts:
            for key in _keys(part, action):
                self._until.pop(key, None)

    def end_session(self, session: str) -> None:
        self._until = {key: until for key, until in self._until.items() if key[0] != session}


def _keys(part: Part, action: Action) -> Iterator[tuple[Hashable, ...]]:
    """What a part is known by: the same for the request and for the call that follows."""
    match part.what:
        case "path":
            for access in ("read", "write") if part.access == "any" else (part.access,):
                yield action.session, "path", access, part.names
        case "command":
            yield action.session, "command", action.cwd, part.command, action.env
        case "url":
            yield action.session, "url", part.text
        case "unclear":
            if line := _line(action):
                yield action.session, "line", action.cwd, line, action.env


def _line(action: Action) -> str | None:
    """The line that a shell will read: the one that was asked about, though the call names the shell as well."""
    match action.argv:
        case (shell, "-c", line) if shell in SHELLS:
            return line.strip()
    return action.line
