"""Hints for `accord doctor` about rules that may never match. Hints don't affect decisions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from datetime import UTC, datetime

from accord.policy.patterns import commands, glob
from accord.policy.rule import Rule

# Shell builtins, which don't need a program of that name.
_BUILT_IN = frozenset({
    ".", ":", "alias", "bg", "break", "builtin", "cd", "command", "continue", "eval", "exec", "exit", "export", "fg",
    "getopts", "hash", "jobs", "local", "read", "readonly", "return", "set", "shift", "source", "times", "trap", "type",
    "ulimit", "umask", "unalias", "unset", "wait",
})  # fmt: skip


def explain_unmatched(rule: Rule, *, project: str, home: str, agents: Collection[str], now: float) -> str:
    """Explain why a rule may never match; empty if there is no obvious reason."""
    if rule.expires is not None and rule.is_expired(now):
        return f"it expired on {datetime.fromtimestamp(rule.expires, UTC):%Y-%m-%d %H:%M} UTC"
    if rule.agent and "*" not in rule.agent and rule.agent not in agents:
        return f"no agent named {rule.agent} is configured"
    odd = [words for text in rule.path if (words := _no_directory(text, project, home))]
    odd += [words for text in rule.command if (words := _no_program(text))]
    # A rule with several patterns is valid if one of them can match.
    return odd[0] if odd and len(odd) == len(rule.path) + len(rule.command) else ""


def _no_directory(pattern: str, project: str, home: str) -> str:
    read = glob.read(pattern)
    names: list[str] = []
    for segment in read.segments:
        if segment is None or not all(isinstance(token, str) for token in segment):
            break
        names.append("".join(str(token) for token in segment))
    if read.is_exact:
        names = names[:-1]  # the file itself may not exist yet
    base = {"/": os.sep, "~": home}.get(read.anchor, project)
    directory = base
    for name in names:
        directory = os.path.join(directory, name)
        if not os.path.exists(directory):
            shown = directory if read.anchor else os.path.relpath(directory, project)
            return f"{shown} doesn't exist" + ("" if read.anchor else " in the project")
    return ""


def _no_program(pattern: str) -> str:
    first = commands.read(pattern).words[:1]
    if not first or len(first[0]) != 1 or not first[0][0] or first[0][0] in _BUILT_IN:
        return ""
    name = first[0][0]
    return "" if shutil.which(name) else f"{name} isn't on the PATH"
