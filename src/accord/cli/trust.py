"""accord trust: which directories may configure agents, MCP servers and permissions."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@click.option("--remove", is_flag=True, help="Stop trusting the directory.")
@click.option("--list", "listing", is_flag=True, help="List trusted directories.")
def trust(directory: Path | None, remove: bool, listing: bool) -> None:
    """Trust DIRECTORY (default: the current one), so that its accord.toml applies in full.

    The accord.toml of an untrusted directory can only add ask and deny rules. A trusted one can also allow actions, add
    agents and MCP servers, and set the default agent.

    \b
    Examples:
      accord trust
      accord trust ../other --remove
      accord trust --list
    """
    from accord.policy.trust import Trust

    known = Trust()
    for problem in known.problems:
        click.echo(str(problem), err=True)
    if listing:
        if directory is not None or remove:
            raise click.UsageError("--list can't be combined with other arguments")
        for path in known.directories():
            click.echo(path)
        return
    where = directory or Path.cwd()
    if remove:
        was = known.trusts(where) or str(where.absolute()) in known.directories()
        known.remove(where)
        click.echo(f"{where} {'is no longer trusted' if was else 'was not trusted'}", err=True)
        return
    click.echo(f"Trusted {known.add(where)}", err=True)
