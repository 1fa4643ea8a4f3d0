"""The first steps of a run: find the agent and start it, with as little loaded as possible.

An agent needs a while to start. So it is started first, and what it takes to talk to it is loaded meanwhile; where the
agent was given by its command line, even the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from accord.config.command import BUILT_IN, Resolved, built_in, command_line, is_command_line
from accord.config.environment import environment
from accord.process.start import Started, start

if TYPE_CHECKING:
    from pathlib import Path

    from accord.config.registry import RegistryEntry
    from accord.config.resolve import Install
    from accord.config.settings import AgentEntry, Loaded


class Begun(NamedTuple):
    """An agent that was started, and everything that is known of it."""

    found: Resolved
    env: dict[str, str]
    """Its whole environment."""
    started: Started
    loaded: Loaded | None
    """The configuration, where it was needed."""


def begin(target: str | None, cwd: Path, get: Install | None = None) -> Begun:
    """Starts the agent that was named, the default one, or ours when none is configured.

    `get` installs an agent of the registry that is not there yet; if it is not given, with a bar on the terminal."""
    loaded = None
    if target == BUILT_IN:
        found = built_in()
    elif target is not None and is_command_line(target):
        found = command_line(target)
    else:
        found, loaded = _configured(target, cwd, get or install)
    env = environment(found.environment, found.env)
    return Begun(found, env, start(found.argv, cwd=cwd, env=env), loaded)


def _configured(target: str | None, cwd: Path, get: Install) -> tuple[Resolved, Loaded]:
    import click

    from accord.config.resolve import resolve
    from accord.policy.project import configuration

    loaded = configuration(cwd)
    name = target or loaded.settings.chosen_agent
    if name is None:
        if loaded.settings.agents:
            configured = ", ".join(loaded.settings.agents)
            raise click.UsageError(f"name an agent with --agent, or make one the default (configured: {configured})")
        return built_in(), loaded
    return resolve(name, loaded.settings, install=get), loaded


def install(entry: RegistryEntry) -> AgentEntry:
    """Installs an agent of the registry, with a bar for whoever is watching."""
    from accord.cli.progress import Bar
    from accord.config.install import installed

    with Bar() as bar:
        return installed(entry, progress=bar)
