"""accord registry: check an agent's entry for the ACP registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=HELP)
def registry() -> None:
    """Check an agent's entry for the ACP registry.

    \b
    Examples:
      accord registry lint agent.json
    """


@registry.command(
    "lint",
    context_settings=HELP,
    epilog="""\b
Examples:
  accord registry lint agent.json
  accord registry lint agent.json --agent "uv run my-agent"
  accord registry lint registry/my-agent/agent.json --directory
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--agent", metavar="AGENT", help="Also start this agent, and check that it offers a login method.")
@click.option("--directory", is_flag=True, help="Also check that the directory is named after the agent's id.")
def lint_entry(file: Path, agent: str | None, directory: bool) -> int:
    """Check FILE, an agent.json, against the rules of the registry.

    The exit status is 0 if the entry is valid and 1 if there are problems."""
    from accord.config.registry_lint import check_directory, lint

    problems = lint(file)
    if directory:
        problems += check_directory(file)
    if agent is not None:
        problems += _check_agent(agent)
    for problem in problems:
        click.echo(f"{file}: {problem}")
    if not problems:
        click.echo(f"{file} is valid", err=True)
    return 1 if problems else 0


def _check_agent(command: str) -> list[str]:
    """Start an agent and return the problems of its handshake."""
    import asyncio

    from accord.client.connect import connect
    from accord.config.registry_lint import check_handshake

    async def start() -> ConnectedAgent:
        async with connect(command) as agent:
            return agent

    return check_handshake([method.kind for method in asyncio.run(start()).auth_methods])
