"""Why a rule may never match: what it names is not there. For `accord doctor`; nothing is decided by this."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from datetime import UTC, datetime

from accord.policy import commands, glob
from accord.policy.rule import Rule

# What a shell does by itself, so that there need be no program of that name.
_BUILT_IN = frozenset({
    ".", ":", "alias", "bg", "break", "builtin", "cd", "command", "continue", "eval", "exec", "exit", "export", "fg",
    "getopts", "hash", "jobs", "local", "read", "readonly", "return", "set", "shift", "source", "times", "trap", "type",
    "ulimit", "umask", "unalias", "unset", "wait",
})  # fmt: skip


def hint(rule: Rule, *, project: str, home: str, agents: Collection[str], now: float) -> str:
    """What is odd about a rule, in words; nothing when nothing is."""
    if rule.expires is not None and rule.expired(now):
        return f"it expired on {datetime.fromtimestamp(rule.expires, UTC):%Y-%m-%d %H:%M} UTC"
    if rule.agent and "*" not in rule.agent and rule.agent not in agents:
        return f"no agent is configured by the name {rule.agent}"
    odd = [words for text in rule.path if (words := _no_folder(text, project, home))]
    odd += [words for text in rule.command if (words := _no_program(text))]
    # Of several that are named, each may be the one that is meant.
    return odd[0] if odd and len(odd) == len(rule.path) + len(rule.command) else ""


def _no_folder(pattern: str, project: str, home: str) -> str:
    read = glob.read(pattern)
    names: list[str] = []
    for segment in read.segments:
        if segment is None or not all(isinstance(token, str) for token in segment):
            break
        names.append("".join(str(token) for token in segment))
    if read.is_exact:
        names = names[:-1]  # the file itself may be yet to come
    base = {"/": os.sep, "~": home}.get(read.anchor, project)
    folder = base
    for name in names:
        folder = os.path.join(folder, name)
        if not os.path.exists(folder):
            shown = folder if read.anchor else os.path.relpath(folder, project)
            return f"there is no {shown}" + ("" if read.anchor else " in the project")
    return ""


def _no_program(pattern: str) -> str:
    first = commands.read(pattern).words[:1]
    if not first or len(first[0]) != 1 or not first[0][0] or first[0][0] in _BUILT_IN:
        return ""
    name = first[0][0]
    return "" if shutil.which(name) else f"there is no program {name} on the PATH"
