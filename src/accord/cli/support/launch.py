"""Find the agent and start its process, with as little imported as possible.

An agent takes a while to start. So it is started first, and the client is imported meanwhile; if the agent was given as
a command line, so is the configuration."""

from __future__ import annotations

import re
import shutil
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from accord.config.command import BUILT_IN, Resolved, built_in, command_line, is_command_line
from accord.config.environment import environment
from accord.process.launch import StartedProgram, start
from accord.process.supervision import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from accord.config.agents import Install
    from accord.config.registry import RegistryEntry
    from accord.config.settings import AgentEntry, Loaded


class FoundAgent(NamedTuple):
    """An agent that can be started."""

    found: Resolved
    env: dict[str, str]
    """The whole environment of the process."""
    loaded: Loaded | None
    """The configuration, if it was needed to find the agent."""
    unsaved: str = ""
    """Why the session can't be saved; empty if it can."""

    def start(self, cwd: Path) -> StartedAgent:
        """Start its process, and wait until it runs."""
        started = start(self.found.argv, cwd=cwd, env=self.env)
        return StartedAgent(self.found, self.env, started, self.loaded, self.unsaved)


class StartedAgent(NamedTuple):
    """A started agent process, and how it was found."""

    found: Resolved
    env: dict[str, str]
    """The whole environment of the process."""
    started: StartedProgram
    loaded: Loaded | None
    """The configuration, if it was needed to find the agent."""
    unsaved: str = ""
    """Why the session can't be saved; empty if it can."""


def start_agent(
    target: str | None, cwd: Path, get: Install | None = None, *, once: bool = False, save: bool = True
) -> StartedAgent:
    """Start the named agent, the default one, or the built-in one if none is configured. See `find_agent`."""
    return find_agent(target, cwd, get, once=once, save=save).start(cwd)


def find_agent(
    target: str | None, cwd: Path, get: Install | None = None, *, once: bool = False, save: bool = True
) -> FoundAgent:
    """Find the agent to start, and start the supervisor meanwhile.

    `get` installs a missing agent (default: after asking, with a progress bar on the terminal). `once` is for sessions
    that needn't outlive the process: the built-in agent then works without a writable data directory.
    `save` is whether the built-in agent saves its sessions."""
    prepare()
    loaded = None
    if target == BUILT_IN:
        found = built_in()
    elif target is not None and is_command_line(target):
        found = command_line(target)
    else:
        found, loaded = _resolve_configured(target, cwd, get or ask_and_install)
    unsaved = _why_unsaved() if once and save and found == built_in() else ""
    if unsaved or (not save and found == built_in()):
        found = found._replace(argv=[*found.argv, "--memory"])
    env = environment(found.environment, found.env)
    return FoundAgent(found, env, loaded, unsaved)


def _why_unsaved() -> str:
    """Return why the built-in agent couldn't save sessions; empty if it can."""
    from accord.config.directories import data_directory, why_not_writable
    from accord.errors import ConfigError

    try:
        directory = data_directory()
    except ConfigError as error:
        return str(error)
    why = why_not_writable(directory)
    return f"{directory} isn't writable ({why})" if why else ""


def _resolve_configured(target: str | None, cwd: Path, get: Install) -> tuple[Resolved, Loaded]:
    import click

    from accord.config.agents import resolve
    from accord.policy.project import load_configuration

    loaded = load_configuration(cwd)
    name = target or loaded.settings.chosen_agent
    if name is None:
        if loaded.settings.agents:
            configured = ", ".join(loaded.settings.agents)
            raise click.UsageError(f"name an agent with --agent, or make one the default (configured: {configured})")
        return built_in(), loaded
    return resolve(name, loaded.settings, install=get), loaded


def install(entry: RegistryEntry) -> AgentEntry:
    """Install an agent from the registry, with a progress bar on a terminal. Tells the user about risks first."""
    _warn(entry)
    return _install(entry)


def _warn(entry: RegistryEntry) -> None:
    import click

    from accord.config.install import describe_risks
    from accord.terminal_text import escape_line

    for risk in describe_risks(entry):
        click.echo(escape_line(risk, 2000), err=True)


def _install(entry: RegistryEntry) -> AgentEntry:
    from accord.config.install import ensure_installed

    with Bar() as bar:
        return ensure_installed(entry, progress=bar)


def ask_and_install(entry: RegistryEntry) -> AgentEntry:
    """Install an agent if the user agrees. Without a terminal, nobody can agree, so nothing is installed."""
    import click

    from accord.cli.support.errors import CommandError
    from accord.config.agents import not_installed
    from accord.config.install import describe_source

    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise not_installed(entry)
    click.echo(f"{entry.name} {entry.version} isn't installed. It comes from {describe_source(entry)}.", err=True)
    _warn(entry)
    if not click.confirm("Install it?", default=True, err=True):
        raise CommandError(f"{entry.name} was not installed")
    return _install(entry)


_GEMINI = re.compile(r"(^|[/\\])gemini-cli(@[^/\\]*)?($|[/\\.])|(^|[/\\])gemini(\.\w+)?$")


def cannot_create_files(agent: Resolved) -> bool:
    """Return whether an agent can't create files while it is offered `fs/read_text_file`.

    Gemini CLI reads a file before it writes it, and takes the error for a missing file for a failure of the tool (its
    check expects a Node.js error, so no code or message helps). Without the offer, it reads the disk directly."""
    return any(_GEMINI.search(word) for word in (agent.name, *agent.argv))


_WIDTH = 24


class Bar:
    """A progress bar on one line of standard error; without a terminal, one line per step."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last = ""
        self._drawn = False
        self._began = time.monotonic()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._drawn:
            print(file=sys.stderr, flush=True)

    def __call__(self, what: str, done: int, of: int) -> None:
        if sys.stderr is None:
            return
        if not self._is_terminal:
            if what != self._last:
                print(f"{what}…", file=sys.stderr, flush=True)
            self._last = what
            return
        columns = shutil.get_terminal_size().columns - 1
        text = (
            f"{what} {_bar(done, of)}"
            if of
            else f"{what} {_size(done)}"
            if done
            else f"{what}…{self._format_elapsed()}"
        )
        if text != self._last:
            self._last = text
            self._drawn = True
            print(f"\r\x1b[K{text[:columns]}", end="", file=sys.stderr, flush=True)

    def _format_elapsed(self) -> str:
        """Format the elapsed time, from the first second on. Nothing else changes while npm installs."""
        seconds = int(time.monotonic() - self._began)
        return f" {seconds} s" if seconds else ""


def _bar(done: int, of: int) -> str:
    full = _WIDTH * done // of
    return f"[{'#' * full}{'.' * (_WIDTH - full)}] {100 * done // of:3d} % of {_size(of)}"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
