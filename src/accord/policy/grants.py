"""Permissions that the user has just granted, for the following call.

Agents often ask for permission and then act through the client: they ask to edit a file, and then have the client write
it. The user has already answered, so an allowed request is valid for one such call in the same session, for a limited
time.

A grant covers only what was shown to the user:

- a command as a whole line in the same directory, but not its parts or other files that the request mentions;
- a file to read (`read`, `search`) for reading; a file to change (`edit`, `delete`, `move`) for writing, too;
- if the request showed the change, only a write that makes this change;
- never a protected file: every write to one needs a question."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from accord.model.tool import FileChange
from accord.policy.action import CHANGING_TOOLS, READING_TOOLS, Action
from accord.policy.decision import Decision
from accord.policy.parts import Part, Parts
from accord.policy.patterns import commands

GRANT_SECONDS = 600.0
MAX_GRANTS = 1000
SHELLS = frozenset(f"{directory}{name}" for directory in ("", "/bin/", "/usr/bin/") for name in ("sh", "bash"))

Key = tuple[Hashable, ...]


class Grant(NamedTuple):
    """One unused permission."""

    until: float
    shown: tuple[FileChange, ...] = ()
    """The changes that the user saw; empty if the request showed none."""


class Grants:
    """The permissions that have not been used yet."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._grants: dict[Key, Grant] = {}

    def add(self, action: Action, parts: Parts, decisions: Sequence[Decision | None]) -> None:
        """Record an allowed permission request; `decisions` are the rules' verdicts on its parts."""
        now = self._clock()
        self._grants = {key: grant for key, grant in self._grants.items() if grant.until > now}
        if action.line is not None:
            if not any(map(_is_protected, decisions)):
                self._grants[_line_key(action, parts)] = Grant(now + GRANT_SECONDS)
        else:
            for part, decision in zip(parts.parts, decisions, strict=True):
                if not (part.only_strict or part.is_mentioned or _is_protected(decision)):
                    for key in _asked_keys(part, action):
                        self._grants[key] = Grant(now + GRANT_SECONDS, _shown_changes(part, action))
        while len(self._grants) > MAX_GRANTS:
            self._grants.pop(next(iter(self._grants)))

    def cover(self, action: Action, parts: Parts, decisions: Sequence[Decision | None]) -> bool:
        """Return whether grants cover every part that needs approval."""
        if action.kind == "permission" or any(map(_is_protected, decisions)):
            return False
        if action.line is not None:
            return self._grant(_line_key(action, parts)) is not None
        asked = [
            part
            for part, decision in zip(parts.parts, decisions, strict=True)
            if decision is not None and decision.effect != "allow"
        ]
        return all(self._covers(part, action) for part in asked)

    def _covers(self, part: Part, action: Action) -> bool:
        grants = [self._grant(key) for key in _done_keys(part, action)]
        return any(grant is not None and _is_as_shown(grant.shown, action) for grant in grants)

    def _grant(self, key: Key) -> Grant | None:
        grant = self._grants.get(key)
        return grant if grant is not None and grant.until > self._clock() else None

    def use(self, action: Action, parts: Parts) -> None:
        """Remove the grants that an action uses."""
        if action.line is not None:
            self._grants.pop(_line_key(action, parts), None)
        for part in parts.parts:
            for key in _done_keys(part, action):
                self._grants.pop(key, None)

    def end_session(self, session: str) -> None:
        self._grants = {key: grant for key, grant in self._grants.items() if key[0] != session}


def _is_protected(decision: Decision | None) -> bool:
    return decision is not None and decision.by == "protection"


def _asked_keys(part: Part, action: Action) -> Iterator[Key]:
    """Return the keys that the answer to a request grants."""
    if part.what == "path" and action.tool_kind in CHANGING_TOOLS | READING_TOOLS:
        yield action.session, "path", "read", part.names
        if action.tool_kind in CHANGING_TOOLS:
            yield action.session, "path", "write", part.names
    elif part.what == "url":
        yield action.session, "url", part.text


def _done_keys(part: Part, action: Action) -> Iterator[Key]:
    """Return the keys that a call needs."""
    if part.what == "path" and action.line is None:
        yield action.session, "path", part.access, part.names
    elif part.what == "url":
        yield action.session, "url", part.text


def _line_key(action: Action, parts: Parts) -> Key:
    """Return the key for a whole command. Agents ask about a line, and then run it as a line, as arguments, or in a
    shell."""
    env = tuple(commands.risky_variables(action.env, action.line))
    place = parts.cwd or action.cwd
    script = parts.script
    if script is not None and script.is_plain:
        [command] = script.commands
        words = tuple(word.text for word in (*command.assignments, *command.words))
        return action.session, "words", place, words, env
    match action.argv:
        case (shell, "-c", line) if shell in SHELLS:
            return action.session, "line", place, line.strip(), env
    return action.session, "line", place, action.line, env


def _shown_changes(part: Part, action: Action) -> tuple[FileChange, ...]:
    base = action.cwd or action.project
    return tuple(
        change
        for diff in action.changes
        for change in diff.changes
        if change.new_text is not None and os.path.normpath(os.path.join(base, change.path)) in part.names
    )


def _is_as_shown(shown: Sequence[FileChange], action: Action) -> bool:
    """Return whether a write makes the change that the user saw. Agents show whole files or the replaced fragments."""
    if action.kind != "write" or not shown:
        return True
    change = next((change for diff in action.changes for change in diff.changes), None)
    if change is None or change.new_text is None:
        return False
    before = change.old_text or ""
    # A fragment isn't the whole file: writing only the fragment would delete everything around it.
    expected = [
        each.new_text
        for each in shown
        if each.new_text is not None and (not each.old_text or each.old_text.rstrip("\n") == before.rstrip("\n"))
    ]
    for count in (1, -1):  # agents replace the first occurrence, or all
        text = before
        for each in shown:
            if each.old_text and each.new_text is not None:
                text = text.replace(each.old_text, each.new_text, count)
        expected.append(text)
    return change.new_text.rstrip("\n") in {text.rstrip("\n") for text in expected}
