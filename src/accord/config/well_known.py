"""Well-known agents: Claude Code, Codex, Gemini and others, each pinned to a version.

The table comes with Accord (`well_known.json`). `refresh` replaces its versions with those of the public registry, at
the user's request. Nothing here runs a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from accord.config.install import ensure_installed, is_installed, versions
from accord.config.registry import RegistryEntry, read_cached, read_registry
from accord.config.settings import AgentEntry

PUBLIC_REGISTRY = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
_INSTALLED_AS = "well-known/"
"""Prefix of the directory of an installed agent. It can't collide with a registry, because ids have no slash."""


class WellKnownAgent(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A named agent, and its distribution."""

    name: str
    entry: RegistryEntry
    """Its registry entry; the `id` is that of the public registry."""
    login: str
    """Instructions for logging in."""
    aliases: list[str] = []
    variables: list[str] = []
    """Environment variables that hold a login."""
    files: list[str] = []
    """Files that exist after a login."""

    @property
    def title(self) -> str:
        return self.entry.name

    @property
    def current(self) -> RegistryEntry:
        """The entry of the current version, under the id it is installed as."""
        listed = read_cached(PUBLIC_REGISTRY).get(self.entry.id, self.entry)
        return msgspec.structs.replace(listed, id=f"{_INSTALLED_AS}{self.name}")

    @property
    def installed(self) -> RegistryEntry | None:
        """The newest installed version."""
        current = self.current
        if is_installed(current):
            return current
        return max(versions(current.id).values(), key=_version, default=None)

    def find_login(self, env: Mapping[str, str] | None = None) -> str | None:
        """Return the variable or file that holds a login, if one is known; the content isn't read."""
        found = os.environ if env is None else env
        for name in self.variables:
            if found.get(name, "").strip():
                return name
        return next((path for path in self.files if os.path.isfile(os.path.expanduser(path))), None)


def _version(entry: RegistryEntry) -> tuple[int, ...]:
    return tuple(int(part) for part in entry.version.split("-")[0].split("+")[0].split("."))


@cache
def well_known_agents() -> dict[str, WellKnownAgent]:
    """Return the agents by name."""
    text = Path(__file__).with_suffix(".json").read_bytes()
    return {agent.name: agent for agent in msgspec.json.decode(text, type=list[WellKnownAgent])}


def find_well_known(name: str) -> WellKnownAgent | None:
    """Return the agent with this name or alias, in any case."""
    lowered = name.lower()
    agents = well_known_agents()
    return agents.get(lowered) or next((agent for agent in agents.values() if lowered in agent.aliases), None)


def is_well_known(entry: RegistryEntry) -> bool:
    """Return whether an entry belongs to a well-known agent, rather than to a configured registry."""
    return entry.id.startswith(_INSTALLED_AS)


def well_known_names() -> set[str]:
    """Return all names and aliases."""
    return {name for agent in well_known_agents().values() for name in (agent.name, *agent.aliases)}


def start_entry(agent: WellKnownAgent) -> AgentEntry | None:
    """Return how to start the installed version, or None if there is none."""
    installed = agent.installed
    return ensure_installed(installed) if installed is not None else None


def refresh() -> int:
    """Download the public registry. Returns the number of well-known agents that it lists."""
    entries = read_registry(PUBLIC_REGISTRY, refresh=True).entries
    return sum(agent.entry.id in entries for agent in well_known_agents().values())
