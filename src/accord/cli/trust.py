"""accord trust: which folders may bring agents, servers and permissions of their own."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--remove", is_flag=True, help="Trust the folder no longer.")
@click.option("--list", "listing", is_flag=True, help="Show the folders that are trusted.")
def trust(folder: Path | None, remove: bool, listing: bool) -> None:
    """Trust FOLDER (this one unless given), so that its accord.toml counts.

    Until then such a file may only narrow: ask more and deny more. A trusted one may also allow, add agents and MCP
    servers, and choose the default agent."""
    from accord.policy.trust import Trust

    known = Trust()
    for fault in known.faults:
        click.echo(str(fault), err=True)
    if listing:
        if folder is not None or remove:
            raise click.UsageError("--list goes with nothing else")
        for path in known.folders():
            click.echo(path)
        return
    where = folder or Path.cwd()
    if remove:
        was = known.trusts(where) or str(where.absolute()) in known.folders()
        known.remove(where)
        click.echo(f"{where} is {'not trusted any more' if was else 'not trusted, and was not before'}", err=True)
        return
    click.echo(f"{known.add(where)} is trusted", err=True)
