"""From what a user typed to a command that can be started: a configured name, a registry id, or a command line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.config.agents import argv, looks_like_name, nearest
from accord.config.command import BUILT_IN, URLS, Resolved, built_in, command_line
from accord.config.settings import AgentEntry, Settings
from accord.errors import LaunchError

if TYPE_CHECKING:
    from accord.config.registry import RegistryEntry

Install = Callable[["RegistryEntry"], AgentEntry]


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
    if target == BUILT_IN:
        return built_in()
    entry = settings.agents.get(target)
    if entry is not None:
        return _configured(target, entry)
    if settings.registry is not None and looks_like_name(target):
        listed = _listed(target, settings.registry, install)
        if listed is not None:
            return Resolved(target, argv(listed), dict(listed.env), listed.environment, f"from {settings.registry}")
    if looks_like_name(target) and shutil.which(target) is None:
        raise LaunchError(_unknown(target, settings), command=target, stage="resolve")
    return command_line(target)


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
