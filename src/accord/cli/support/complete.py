"""Values for shell completion."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def complete_agents(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the names of the configured and the well-known agents that begin like this."""
    from pathlib import Path

    from accord.config.command import BUILT_IN
    from accord.config.well_known import well_known_agents
    from accord.errors import ConfigError
    from accord.policy.project import load_configuration

    names = {BUILT_IN, *well_known_agents()}
    with suppress(ConfigError):  # reported when a command runs
        names |= set(load_configuration(Path.cwd()).settings.agents)
    return sorted(name for name in names if name.startswith(start))
