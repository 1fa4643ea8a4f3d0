"""From what a user typed to a command that can be started: a configured name, a registry entry, or a command line."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import NamedTuple

from accord.config.agents import argv, looks_like_name, nearest
from accord.config.environment import Source
from accord.config.settings import Settings
from accord.errors import LaunchError

URLS = ("http://", "https://", "ws://", "wss://")


class Resolved(NamedTuple):
    """An agent that can be started."""

    name: str
    argv: list[str]
    env: dict[str, str]
    environment: Source
    how: str
    """Where it was found, in words."""


def resolve(target: str, settings: Settings) -> Resolved:
    """Finds what a target names. `LaunchError` says what was tried, and which configured names are nearest."""
    target = target.strip()
    if not target:
        raise LaunchError("no agent was named: the target is empty", stage="resolve")
    if target.startswith(URLS):
        raise LaunchError(
            f"{target}: agents behind a URL cannot be reached by this version; name one by its command", stage="resolve"
        )
    entry = settings.agents.get(target)
    if entry is not None:
        words = argv(entry)
        if not words:
            raise LaunchError(f"agent {target!r} has an empty command; see the configuration", stage="resolve")
        return Resolved(target, words, dict(entry.env), entry.environment, "configured")
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise LaunchError(f"{target!r} is no command line: {error}", command=target, stage="resolve") from None
    if len(words) == 1 and looks_like_name(target) and shutil.which(target) is None:
        raise LaunchError(_unknown(target, settings), command=target, stage="resolve")
    return Resolved(os.path.basename(words[0]), words, {}, "inherit", "a command line")


def _unknown(name: str, settings: Settings) -> str:
    close = nearest(name, settings.agents)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    elif settings.agents:
        hint = f"configured are {', '.join(sorted(settings.agents))}"
    else:
        hint = "none is configured yet; add one with: accord agents add NAME -- COMMAND"
    return f"there is no agent {name!r}, and no program of that name: {hint}"
