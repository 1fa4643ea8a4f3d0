"""accord agents: which agents there are, and how each is started."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from accord.config.settings import AgentEntry


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def agents() -> None:
    """List, add, pin, update and run agents."""


@agents.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with all of them.")
def list_agents(as_json: bool) -> None:
    """Show the configured agents; the default one is marked."""
    from accord.config.agents import argv
    from accord.config.mask import masked, masked_env
    from accord.config.settings import load

    loaded = load(Path.cwd())
    for note in loaded.notes:
        click.echo(note, err=True)
    found = loaded.settings.agents
    if as_json:
        import msgspec

        rows = {
            name: {
                "command": [masked(word, entry.env) for word in argv(entry)],
                "env": masked_env(entry.env),
                "environment": entry.environment,
                "registry": entry.registry,
                "version": entry.version,
                "default": name == loaded.settings.default_agent,
            }
            for name, entry in found.items()
        }
        click.echo(msgspec.json.encode(rows))
        return
    if not found:
        click.echo("No agent is configured yet. Add one: accord agents add NAME -- COMMAND", err=True)
        return
    width = max(map(len, found))
    for name, entry in sorted(found.items()):
        mark = "*" if name == loaded.settings.default_agent else " "
        pinned = f"  ({entry.registry} {entry.version})" if entry.version else ""
        click.echo(f"{mark} {name:{width}}  {masked(' '.join(argv(entry)), entry.env)}{pinned}")


@agents.command()
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--registry", type=click.Path(exists=True, path_type=Path), help="Take it from this registry file.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable for its environment.")
@click.option("--environment", type=click.Choice(["inherit", "minimal", "login-shell"]), default="inherit")
def add(
    name: str, command: tuple[str, ...], registry: Path | None, variables: tuple[str, ...], environment: str
) -> None:
    """Add an agent by its COMMAND, or, with --registry, by its id there (NAME)."""
    from accord.config.agents import AgentFile
    from accord.config.settings import AgentEntry

    env = dict(_variable(each) for each in variables)
    if registry is not None:
        entry = _from_registry(registry, name)
        entry.env = {**entry.env, **env}
        entry.environment = environment  # type: ignore[assignment]
    elif command:
        entry = AgentEntry(command=list(command), env=env, environment=environment)  # type: ignore[arg-type]
    else:
        raise click.UsageError("give the agent's command after --, or a registry file with --registry")
    file = AgentFile()
    file.put(name, entry)
    click.echo(f"{name} is in {file.path}", err=True)


@agents.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove a configured agent."""
    from accord.config.agents import AgentFile

    AgentFile().remove(name)


@agents.command()
@click.argument("name")
@click.argument("version")
@click.option("--registry", type=click.Path(exists=True, path_type=Path), required=True, help="The registry file.")
def pin(name: str, version: str, registry: Path) -> None:
    """Pin an agent of the registry to a VERSION, which is installed if it is not there."""
    _reinstall(name, registry, version)


@agents.command()
@click.argument("name")
@click.option("--registry", type=click.Path(exists=True, path_type=Path), required=True, help="The registry file.")
def update(name: str, registry: Path) -> None:
    """Take the version that the registry file has now."""
    _reinstall(name, registry, None)


@agents.command()
@click.argument("name")
def run(name: str) -> None:
    """Start an agent on this terminal's standard input and output, as an editor would."""
    import os

    from accord.config.environment import environment
    from accord.config.resolve import resolve
    from accord.config.settings import load

    found = resolve(name, load(Path.cwd()).settings)
    try:
        os.execvpe(found.argv[0], found.argv, environment(found.environment, found.env))
    except OSError as error:
        raise click.ClickException(f"{found.argv[0]}: {error.strerror}") from None


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--env takes NAME=VALUE, not {text!r}")
    return name, value


def _from_registry(path: Path, id: str, version: str | None = None) -> AgentEntry:
    from accord.config.agents import nearest
    from accord.config.install import installed
    from accord.config.registry import read_registry

    registry = read_registry(path)
    for fault in registry.faults:
        click.echo(fault, err=True)
    entry = registry.entries.get(id)
    if entry is None:
        close = nearest(id, registry.entries)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise click.ClickException(f"{path} has no agent {id!r}{hint}")
    if version is not None and version != entry.version:
        raise click.ClickException(f"{path} has {id} {entry.version}, not {version}")
    return installed(entry, progress=_Bar())


def _reinstall(name: str, registry: Path, version: str | None) -> None:
    from accord.config.agents import AgentFile

    file = AgentFile()
    old = file.settings().agents.get(name)
    if old is None or old.registry is None:
        raise click.ClickException(f"{name!r} is no configured agent that came from a registry")
    entry = _from_registry(registry, old.registry, version)
    file.put(name, entry)
    click.echo(f"{name}: {old.version} → {entry.version}", err=True)


class _Bar:
    """Progress on one line of standard error, when a person is looking."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, what: str, done: int, of: int) -> None:
        if not sys.stderr.isatty():
            if what != self._last:
                click.echo(f"{what} …", err=True)
            self._last = what
            return
        share = f" {100 * done // of:3d} %" if of else ""
        click.echo(f"\r\x1b[K{what}{share}", err=True, nl=done == of and bool(of))
