"""From what a user typed to a command that can be started: a configured name, a registry id, or a command line."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from accord.config.agents import argv, looks_like_name, nearest
from accord.config.environment import Source
from accord.config.settings import AgentEntry, Settings
from accord.errors import LaunchError

if TYPE_CHECKING:
    from accord.config.registry import RegistryEntry

URLS = ("http://", "https://", "ws://", "wss://")
Install = Callable[["RegistryEntry"], AgentEntry]


class Resolved(NamedTuple):
    """An agent that can be started."""

    name: str
    argv: list[str]
    env: dict[str, str]
    environment: Source
    how: str
    """Where it was found, in words."""


def resolve(target: str, settings: Settings, *, install: Install | None = None) -> Resolved:
    """Finds what a target names. `LaunchError` says what was tried, and which names are nearest.

    `install` gets an agent of the registry that is not on this machine yet; without it, that is an error."""
    target = target.strip()
    if not target:
        raise LaunchError("no agent was named: the target is empty", stage="resolve")
    if target.startswith(URLS):
        raise LaunchError(
            f"{target}: agents behind a URL cannot be reached by this version; name one by its command", stage="resolve"
        )
    entry = settings.agents.get(target)
    if entry is not None:
        return _configured(target, entry)
    if settings.registry is not None and looks_like_name(target):
        listed = _listed(target, settings.registry, install)
        if listed is not None:
            return Resolved(target, argv(listed), dict(listed.env), listed.environment, f"from {settings.registry}")
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise LaunchError(f"{target!r} is no command line: {error}", command=target, stage="resolve") from None
    if not words:
        raise LaunchError(f"{target!r} names no program", command=target, stage="resolve")
    if len(words) == 1 and looks_like_name(target) and shutil.which(target) is None:
        raise LaunchError(_unknown(target, settings), command=target, stage="resolve")
    return Resolved(os.path.basename(words[0]), words, {}, "inherit", "a command line")


def _configured(name: str, entry: AgentEntry) -> Resolved:
    words = argv(entry)
    if not words:
        raise LaunchError(f"agent {name!r} has an empty command; see the configuration", stage="resolve")
    if entry.registry is not None and os.path.isabs(words[0]) and not os.path.exists(words[0]):
        raise LaunchError(
            f"agent {name!r} ({entry.registry} {entry.version}) is not installed any more; "
            f"install it again: accord agents update {name} --registry FILE",
            command=words[0],
            stage="resolve",
        )
    return Resolved(name, words, dict(entry.env), entry.environment, "configured")


def _listed(id: str, source: str, install: Install | None) -> AgentEntry | None:
    """The agent of the registry with this id; None when there is none."""
    from accord.config.install import installed, is_installed
    from accord.config.registry import read_registry

    entry = read_registry(source).entries.get(id)
    if entry is None:
        return None
    if is_installed(entry):
        return installed(entry)
    if install is None:
        raise LaunchError(f"agent {id!r} is not installed yet: accord agents add {id}", command=id, stage="install")
    return install(entry)


def _unknown(name: str, settings: Settings) -> str:
    known = set(settings.agents)
    if settings.registry is not None:
        from accord.config.registry import read_registry

        known |= set(read_registry(settings.registry).entries)
    close = nearest(name, known)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    elif settings.agents:
        hint = f"configured are {', '.join(sorted(settings.agents))}"
    else:
        hint = "none is configured yet; add one with: accord agents add NAME -- COMMAND"
    return f"there is no agent {name!r}, and no program of that name: {hint}"
