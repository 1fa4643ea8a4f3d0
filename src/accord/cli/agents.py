"""accord agents: list, add, pin, update and run agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import click

from accord.cli.support.complete import complete_agents
from accord.cli.support.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accord.config.registry import RegistryEntry
    from accord.config.settings import AgentEntry
    from accord.config.well_known import WellKnownAgent


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False, invoke_without_command=True
)
@click.pass_context
def agents(ctx: click.Context) -> None:
    """List, install, add, pin, update and run agents. Without a command, lists them.

    \b
    Examples:
      accord agents
      accord agents install claude
      accord agents add mine --default -- python my_agent.py
      accord agents update
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_agents, as_json=False)


@agents.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_agents(as_json: bool) -> None:
    """List agents: installed, outdated, logged in.

    Shows the configured and the well-known agents. Runs none of them.

    \b
    Examples:
      accord agents list
      accord agents list --json | jq 'keys'
    """
    import shlex

    from accord.config.agents import argv
    from accord.config.command import BUILT_IN
    from accord.config.redaction import redact_env, redact_text
    from accord.policy.project import load_configuration
    from accord.terminal_text import escape_line

    loaded = load_configuration(Path.cwd())
    for note in loaded.notes:
        click.echo(note, err=True)
    found = loaded.settings.agents
    chosen = loaded.settings.chosen_agent
    if as_json:
        import msgspec

        rows: dict[str, dict[str, object]] = {
            name: {
                "command": [redact_text(word, entry.env) for word in argv(entry)],
                "env": redact_env(entry.env),
                "environment": entry.environment,
                "registry": entry.registry,
                "version": entry.version,
                "default": name == chosen,
            }
            for name, entry in found.items()
        }
        click.echo(msgspec.json.encode({**_well_known_rows(found, chosen), **rows}))
        return
    known = _well_known_rows(found, chosen)
    is_built_in = chosen == BUILT_IN or (chosen is None and not found)
    width = max(map(len, [*found, *known, BUILT_IN]))
    click.echo(f"{'*' if is_built_in else ' '} {BUILT_IN:{width}}  (comes with Accord)")
    for name, entry in sorted(found.items()):
        mark = "*" if name == chosen else " "
        pinned = f"  ({entry.registry} {entry.version})" if entry.version else ""
        click.echo(f"{mark} {name:{width}}  {escape_line(redact_text(shlex.join(argv(entry)), entry.env))}{pinned}")
    for name, row in known.items():
        mark = "*" if row["default"] else " "
        click.echo(f"{mark} {name:{width}}  {_describe_well_known(row)}")


def _well_known_rows(configured: Iterable[str], chosen: str | None) -> dict[str, dict[str, object]]:
    """Describe the well-known agents whose names the user hasn't configured otherwise."""
    from accord.config.install import describe_source
    from accord.config.well_known import well_known_agents

    rows: dict[str, dict[str, object]] = {}
    for name, agent in well_known_agents().items():
        if name in configured:
            continue
        installed, current = agent.installed, agent.current
        rows[name] = {
            "title": agent.title,
            "source": describe_source(current),
            "version": current.version,
            "installed": installed.version if installed is not None else None,
            "outdated": installed is not None and installed.version != current.version,
            "login": agent.find_login(),
            "login_hint": agent.login,
            "default": name == chosen,
        }
    return rows


def _describe_well_known(row: dict[str, object]) -> str:
    if row["installed"] is None:
        return f"{row['title']} {row['version']}, not installed"
    update = f" ({row['version']} is available)" if row["outdated"] else ""
    login = f"login found ({row['login']})" if row["login"] else f"no login found. {row['login_hint']}"
    return f"{row['title']} {row['installed']}, installed{update}, {login}"


@agents.command("install")
@click.argument("name", shell_complete=complete_agents)
def install_agent(name: str) -> None:
    """Install an agent by its well-known NAME.

    Names of agents in the configured registry work too.

    \b
    Examples:
      accord agents install claude
      accord agents install gemini
    """
    from accord.config.agents import AgentFile, nearest
    from accord.config.install import is_installed
    from accord.config.well_known import find_well_known, well_known_names

    source = _registry()
    known = find_well_known(name)
    listed = None
    if source is not None:
        from accord.config.registry import read_registry

        listed = read_registry(source).entries.get(name)
    if listed is None and known is None:
        close = nearest(name, well_known_names() | set(AgentFile().settings().agents))
        hint = f"did you mean {' or '.join(close)}?" if close else "accord agents lists those you can name"
        raise CommandError(f"no agent named {name!r} to install: {hint}")
    entry = listed if listed is not None else known.current if known is not None else None
    assert entry is not None
    if is_installed(entry):
        click.echo(f"{entry.name} {entry.version} is already installed", err=True)
        return
    _install(entry)
    click.echo(f"Installed {entry.name} {entry.version}. Start it with: accord chat {name}", err=True)
    if known is not None and listed is None and known.find_login() is None:
        click.echo(known.login, err=True)


@agents.command()
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--registry", help="Registry to install from, a file or URL (default: the configured one).")
@click.option("--id", "id", help="ID in the registry, if it differs from NAME.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="Environment variable for the agent.")
@click.option(
    "--environment",
    type=click.Choice(["inherit", "minimal", "login-shell"]),
    default="inherit",
    show_default=True,
    help="Base environment of the agent.",
)
@click.option("--default", "as_default", is_flag=True, help="Make it the default agent.")
def add(
    name: str,
    command: tuple[str, ...],
    registry: str | None,
    id: str | None,
    variables: tuple[str, ...],
    environment: Literal["inherit", "minimal", "login-shell"],
    as_default: bool,
) -> None:
    """Add an agent by COMMAND (after --), or from a registry by ID.

    \b
    Examples:
      accord agents add mine -- python my_agent.py
      accord agents add mine --default --env DEBUG=1 -- python my_agent.py
      accord agents add example --registry registry.json
    """
    from accord.config.agents import AgentFile, looks_like_name
    from accord.config.settings import AgentEntry
    from accord.config.well_known import find_well_known

    env = dict(_variable(each) for each in variables)
    if not looks_like_name(name):
        raise click.UsageError(f"{name!r} isn't a valid agent name: use letters, digits, - and _")
    file = AgentFile()
    known = file.settings()
    if command:
        if registry is not None or id is not None:
            raise click.UsageError("use a command or a registry, not both")
        entry = AgentEntry(command=list(command), env=env)
    else:
        source = registry or known.registry
        if source is None and find_well_known(id or name) is not None:
            raise click.UsageError(f"{name} is a well-known agent; install it with: accord agents install {name}")
        if source is None:
            raise click.UsageError("pass the agent's command after --, or a registry with --registry")
        entry = _install(_find_entry(source, id or name))
        entry.env = {**entry.env, **env}
    entry.environment = environment
    file.put(name, entry)
    if as_default:
        file.set_default(name)
    click.echo(f"{'Replaced' if name in known.agents else 'Added'} {name} in {file.path}", err=True)


@agents.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove a configured agent. Installed files stay in the cache.

    \b
    Examples:
      accord agents remove mine
    """
    from accord.config.agents import AgentFile

    file = AgentFile()
    file.remove(name)
    click.echo(f"Removed {name} from {file.path}", err=True)


@agents.command()
@click.argument("name")
@click.argument("version")
@click.option("--registry", help="Registry, a file or URL (default: the configured one).")
def pin(name: str, version: str, registry: str | None) -> None:
    """Keep a registry agent at VERSION.

    VERSION is an installed one, or the registry's current one.

    \b
    Examples:
      accord agents pin example 1.2.0
    """
    from accord.config.install import versions

    known = versions(_registry_id(name))
    source = registry or _registry()
    if version in known:
        entry = known[version]
    elif source is not None:
        entry = _find_entry(source, _registry_id(name), refresh=True)
        if entry.version != version:
            _refuse(f"{source} has {entry.id} {entry.version}, not {version}", known)
    else:
        _refuse(f"{name} {version} isn't installed, and no registry is configured; use --registry", known)
    _change(name, entry)


@agents.command()
@click.argument("name", required=False)
@click.option("--registry", help="Registry, a file or URL (default: the configured one).")
def update(name: str | None, registry: str | None) -> None:
    """Update an installed agent. Without NAME, check for new versions of the well-known agents.

    \b
    Examples:
      accord agents update
      accord agents update claude
    """
    from accord.config.agents import AgentFile
    from accord.config.well_known import find_well_known

    if name is None:
        _refresh_well_known()
        return
    known = find_well_known(name)
    if known is not None and registry is None and name not in AgentFile().settings().agents:
        _update_well_known(known)
        return
    source = registry or _registry()
    if source is None:
        raise click.UsageError("no registry is configured; use --registry")
    _change(name, _find_entry(source, _registry_id(name), refresh=True))


@agents.command()
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(name: str, arguments: tuple[str, ...]) -> None:
    """Run an agent on standard input and output, as an editor would. ARGUMENTS (after --) are appended.

    \b
    Examples:
      accord agents run mine
      accord agents run mine -- --debug
    """
    import os

    from accord.cli.support.launch import ask_and_install
    from accord.config.agents import resolve
    from accord.config.environment import environment
    from accord.policy.project import load_configuration
    from accord.process.launch import explain_launch_error
    from accord.process.python import environment_for

    found = resolve(name, load_configuration(Path.cwd()).settings, install=ask_and_install)
    env = environment_for(found.argv, environment(found.environment, found.env), None)
    try:
        os.execvpe(found.argv[0], [*found.argv, *arguments], env)
    except OSError as error:
        raise CommandError(f"can't start {name}: {explain_launch_error(error, found.argv[0], None, env)}") from None


def _refresh_well_known() -> None:
    from accord.config.well_known import refresh, well_known_agents

    click.echo(f"Downloaded the versions of {refresh()} agents from the public registry.", err=True)
    for name, agent in well_known_agents().items():
        installed, current = agent.installed, agent.current
        if installed is not None and installed.version != current.version:
            news = f"{agent.title}: {installed.version} installed, {current.version} available"
            click.echo(f"{news}; update with: accord agents update {name}", err=True)


def _update_well_known(agent: WellKnownAgent) -> None:
    installed, current = agent.installed, agent.current
    if installed is None:
        raise CommandError(f"{agent.title} isn't installed; run: accord agents install {agent.name}")
    if installed.version == current.version:
        click.echo(
            f"{agent.title} is already at {current.version}; accord agents update looks for a newer one", err=True
        )
        return
    _install(current)
    click.echo(f"{agent.title}: {installed.version} → {current.version}", err=True)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--env takes NAME=VALUE, not {text!r}")
    return name, value


def _registry() -> str | None:
    from accord.config.agents import AgentFile

    return AgentFile().settings().registry


def _registry_id(name: str) -> str:
    """Return the registry ID of a configured agent."""
    from accord.config.agents import AgentFile, nearest

    known = AgentFile().settings().agents
    entry = known.get(name)
    if entry is None:
        close = nearest(name, known)
        raise CommandError(f"no agent named {name!r}{f'; did you mean {close[0]}?' if close else ''}")
    if entry.registry is None:
        raise CommandError(f"{name} doesn't come from a registry, so its version can't be changed")
    return entry.registry


def _find_entry(source: str, id: str, *, refresh: bool = False) -> RegistryEntry:
    from accord.config.agents import nearest
    from accord.config.registry import read_registry

    registry = read_registry(source, refresh=refresh)
    entry = registry.entries.get(id)
    if entry is None:
        for problem in registry.problems:
            click.echo(problem, err=True)
        close = nearest(id, registry.entries)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise CommandError(f"{source} has no agent {id!r}{hint}")
    return entry


def _install(entry: RegistryEntry) -> AgentEntry:
    from accord.cli.support.launch import install

    return install(entry)


def _change(name: str, entry: RegistryEntry) -> None:
    """Install another version under the same name, with the user's settings."""
    from accord.config.agents import AgentFile

    file = AgentFile()
    old = file.settings().agents[name]
    new = _install(entry)
    new.env = {**new.env, **old.env}
    new.environment = old.environment
    if new != old:
        file.put(name, new)
    done = f"{name}: {old.version} → {new.version}" if new != old else f"{name} is already at {new.version}"
    click.echo(done, err=True)


def _refuse(message: str, known: Iterable[str]) -> NoReturn:
    installed = ", ".join(known)
    raise CommandError(f"{message}{f' (installed: {installed})' if installed else ''}")
