"""accord agents: which agents there are, and how each is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from accord.cli.failing import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accord.config.registry import RegistryEntry
    from accord.config.settings import AgentEntry


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False, invoke_without_command=True
)
@click.pass_context
def agents(ctx: click.Context) -> None:
    """List, add, pin, update and run agents."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@agents.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with all of them.")
def list_agents(as_json: bool) -> None:
    """Show the configured agents; the default one is marked."""
    import shlex

    from accord.cli.words import one_line
    from accord.config.agents import argv
    from accord.config.command import BUILT_IN
    from accord.config.mask import masked, masked_env
    from accord.policy.project import configuration

    loaded = configuration(Path.cwd())
    for note in loaded.notes:
        click.echo(note, err=True)
    found = loaded.settings.agents
    chosen = loaded.settings.chosen_agent
    if as_json:
        import msgspec

        rows = {
            name: {
                "command": [masked(word, entry.env) for word in argv(entry)],
                "env": masked_env(entry.env),
                "environment": entry.environment,
                "registry": entry.registry,
                "version": entry.version,
                "default": name == chosen,
            }
            for name, entry in found.items()
        }
        click.echo(msgspec.json.encode(rows))
        return
    if not found:
        click.echo("no agent is configured yet; add one with: accord agents add NAME -- COMMAND", err=True)
        return
    width = max(map(len, [*found, *([BUILT_IN] if chosen == BUILT_IN else [])]))
    if chosen == BUILT_IN:
        click.echo(f"* {BUILT_IN:{width}}  (comes with Accord)")
    for name, entry in sorted(found.items()):
        mark = "*" if name == chosen else " "
        pinned = f"  ({entry.registry} {entry.version})" if entry.version else ""
        click.echo(f"{mark} {name:{width}}  {one_line(masked(shlex.join(argv(entry)), entry.env))}{pinned}")


@agents.command()
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--registry", help="Take it from this registry, a file or a URL; the configured one unless given.")
@click.option("--id", "id", help="Its id in the registry, when NAME is another.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable for its environment.")
@click.option(
    "--environment",
    type=click.Choice(["inherit", "minimal", "login-shell"]),
    default="inherit",
    show_default=True,
    help="Where its environment comes from.",
)
@click.option("--default", "as_default", is_flag=True, help="Make it the default agent.")
def add(
    name: str,
    command: tuple[str, ...],
    registry: str | None,
    id: str | None,
    variables: tuple[str, ...],
    environment: str,
    as_default: bool,
) -> None:
    """Add an agent by its COMMAND (after --), or from a registry by its id."""
    from accord.config.agents import AgentFile, looks_like_name
    from accord.config.settings import AgentEntry

    env = dict(_variable(each) for each in variables)
    if not looks_like_name(name):
        raise click.UsageError(f"{name!r} is no name for an agent: letters, digits, - and _ only")
    file = AgentFile()
    known = file.settings()
    if command:
        if registry is not None or id is not None:
            raise click.UsageError("give the agent's command, or a registry, not both")
        entry = AgentEntry(command=list(command), env=env)
    else:
        source = registry or known.registry
        if source is None:
            raise click.UsageError("give the agent's command after --, or a registry with --registry")
        entry = _installed(_listed(source, id or name))
        entry.env = {**entry.env, **env}
    entry.environment = environment  # type: ignore[assignment]  # click has checked it
    file.put(name, entry)
    if as_default:
        file.set_default(name)
    click.echo(f"{name} is {'replaced' if name in known.agents else 'added'} in {file.path}", err=True)


@agents.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove a configured agent. What was installed of it stays in the cache."""
    from accord.config.agents import AgentFile

    file = AgentFile()
    file.remove(name)
    click.echo(f"{name} is removed from {file.path}", err=True)


@agents.command()
@click.argument("name")
@click.argument("version")
@click.option("--registry", help="The registry, a file or a URL; the configured one unless given.")
def pin(name: str, version: str, registry: str | None) -> None:
    """Pin an agent of a registry to a VERSION: one that is installed, or the one that the registry has."""
    from accord.config.install import versions

    known = versions(_came_from(name))
    source = registry or _registry()
    if version in known:
        entry = known[version]
    elif source is not None:
        entry = _listed(source, _came_from(name), anew=True)
        if entry.version != version:
            _refuse(f"{source} has {entry.id} {entry.version}, not {version}", known)
    else:
        _refuse(f"{name} {version} is not installed, and no registry is configured or given with --registry", known)
    _change(name, entry)


@agents.command()
@click.argument("name")
@click.option("--registry", help="The registry, a file or a URL; the configured one unless given.")
def update(name: str, registry: str | None) -> None:
    """Take the version that the registry has now."""
    source = registry or _registry()
    if source is None:
        raise click.UsageError("no registry is configured: give one with --registry")
    _change(name, _listed(source, _came_from(name), anew=True))


@agents.command()
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(name: str, arguments: tuple[str, ...]) -> None:
    """Start an agent on this standard input and output, as an editor would. ARGUMENTS (after --) are added."""
    import os

    from accord.cli.begin import install
    from accord.config.environment import environment
    from accord.config.resolve import resolve
    from accord.policy.project import configuration
    from accord.process.launch import explain

    found = resolve(name, configuration(Path.cwd()).settings, install=install)
    env = environment(found.environment, found.env)
    try:
        os.execvpe(found.argv[0], [*found.argv, *arguments], env)
    except OSError as error:
        raise Failure(f"cannot start {name}: {explain(error, found.argv[0], None, env)}") from None


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--env takes NAME=VALUE, not {text!r}")
    return name, value


def _registry() -> str | None:
    from accord.config.agents import AgentFile

    return AgentFile().settings().registry


def _came_from(name: str) -> str:
    """The id that a configured agent has in the registry."""
    from accord.config.agents import AgentFile, nearest

    known = AgentFile().settings().agents
    entry = known.get(name)
    if entry is None:
        close = nearest(name, known)
        raise Failure(f"there is no agent {name!r}{f'; did you mean {close[0]}?' if close else ''}")
    if entry.registry is None:
        raise Failure(f"{name} did not come from a registry, so it has no versions to choose from")
    return entry.registry


def _listed(source: str, id: str, *, anew: bool = False) -> RegistryEntry:
    from accord.config.agents import nearest
    from accord.config.registry import read_registry

    registry = read_registry(source, anew=anew)
    entry = registry.entries.get(id)
    if entry is None:
        for fault in registry.faults:
            click.echo(fault, err=True)
        close = nearest(id, registry.entries)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise Failure(f"{source} has no agent {id!r}{hint}")
    return entry


def _installed(entry: RegistryEntry) -> AgentEntry:
    from accord.cli.begin import install
    from accord.config.registry import this_platform

    binary = (entry.distribution.binary or {}).get(this_platform())
    if binary is not None and binary.sha256 is None:
        click.echo(f"the registry has no checksum for {entry.id} {entry.version}; it is taken as it comes", err=True)
    return install(entry)


def _change(name: str, entry: RegistryEntry) -> None:
    """Another version, in the same place, with what the user has set."""
    from accord.config.agents import AgentFile

    file = AgentFile()
    old = file.settings().agents[name]
    new = _installed(entry)
    new.env = {**new.env, **old.env}
    new.environment = old.environment
    if new != old:
        file.put(name, new)
    click.echo(f"{name}: {old.version} → {new.version}" if new != old else f"{name} is at {new.version}", err=True)


def _refuse(words: str, known: Iterable[str]) -> NoReturn:
    installed = ", ".join(known)
    raise Failure(f"{words}{f' (installed: {installed})' if installed else ''}")
