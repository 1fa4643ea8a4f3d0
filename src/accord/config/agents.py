"""The user's agents: resolve a name, registry id or command line, and edit the configured agents."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from accord.config.command import BUILT_IN, URLS, Resolved, built_in, command_line, remote
from accord.config.files import replace
from accord.config.settings import NAME, AgentEntry, ProjectRegistry, Settings, parse, user_config
from accord.config.toml import table_text, value_text
from accord.errors import ConfigError, LaunchError

if TYPE_CHECKING:
    from accord.config.registry import RegistryEntry
    from accord.config.well_known import WellKnownAgent


def argv(entry: AgentEntry) -> list[str]:
    """Split an agent's command."""
    if isinstance(entry.command, str):
        try:
            return shlex.split(entry.command)
        except ValueError as error:
            raise ConfigError(f"the command {entry.command!r} isn't a valid command line: {error}") from None
    return list(entry.command)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the most similar names."""
    import difflib

    names = {each.lower(): each for each in known}
    return [names[each] for each in difflib.get_close_matches(name.lower(), list(names), n=3, cutoff=0.5)]


def looks_like_name(target: str) -> bool:
    """Return whether a target could be a configured name or a registry id: one word without a path or arguments."""
    return NAME.fullmatch(target) is not None


class AgentFile:
    """The `[agents.…]` tables of the user's configuration. Edits change one table and leave the rest unchanged."""

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = path or user_config()

    def settings(self) -> Settings:
        return parse(self._text(), self.path)

    def put(self, name: str, entry: AgentEntry) -> None:
        """Add an agent, or replace the one with that name in place."""
        if not looks_like_name(name):
            raise ConfigError(f"{name!r} isn't a valid name: use letters, digits, - and _ only")
        if name == BUILT_IN:
            raise ConfigError(f"{name!r} is the name of the built-in agent; use another one")
        fields: dict[str, object] = {"command": entry.command}
        if entry.env:
            fields["env"] = entry.env
        if entry.environment != "inherit":
            fields["environment"] = entry.environment
        for key in ("registry", "version", "description"):
            value = getattr(entry, key)
            if value is not None:
                fields[key] = value
        changed = self.settings()
        changed.agents = {**changed.agents, name: entry}
        before, after, found = _cut(self._text(), name)
        block = table_text(f"agents.{name}", fields)
        if found:
            self._write(before + block + ("\n" if after.strip() else "") + after, changed)
        else:
            self._write(f"{before.rstrip()}\n\n{block}" if before.strip() else block, changed)

    def remove(self, name: str) -> None:
        changed = self.settings()
        if name not in changed.agents:
            close = nearest(name, changed.agents)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise ConfigError(f"{self.path}: no agent named {name!r}{hint}")
        changed.agents = {other: entry for other, entry in changed.agents.items() if other != name}
        before, after, _ = _cut(self._text(), name)
        if changed.default_agent == name:
            before = re.sub(r"(?m)^[ \t]*default_agent[ \t]*=.*\n?\n?", "", before, count=1)
            changed.default_agent = None
        if not after:
            before = before.rstrip("\n") + "\n" if before.strip() else ""
        self._write(before + after, changed)

    def set_default(self, name: str) -> None:
        """Make an agent the default."""
        changed = self.settings()
        changed.default_agent = name
        line = f"default_agent = {value_text(name)}\n"
        text, count = re.subn(r"(?m)^[ \t]*default_agent[ \t]*=.*\n?", lambda _: line, self._text(), count=1)
        self._write(text if count else line + ("\n" if text.strip() else "") + text, changed)

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise ConfigError(f"{self.path}: the file is not UTF-8 text") from None
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _write(self, text: str, changed: Settings) -> None:
        try:
            right = parse(text, self.path) == changed
        except ConfigError:
            right = False
        if not right:
            raise ConfigError(f"{self.path}: Accord can't edit the file in this form; edit it yourself")
        try:
            replace(self.path, text)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written: {error.strerror}") from None


def _cut(text: str, name: str) -> tuple[str, str, bool]:
    """Return the text before an agent's tables, the text after them, and whether they exist."""
    ours = re.compile(rf"\s*\[\s*agents\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*(\.[^\]]*)?\]\s*(#.*)?$")
    before: list[str] = []
    after: list[str] = []
    skipped: list[str] = []
    found = skipping = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            if skipping:
                after += _trailing_comments(skipped)
                skipped = []
            skipping = ours.match(line) is not None
            found = found or skipping
        (skipped if skipping else after if found else before).append(line)
    return "".join(before), "".join([*after, *_trailing_comments(skipped)]), found


def _trailing_comments(lines: list[str]) -> list[str]:
    """Return the comments at the end of a table, which belong to the next one."""
    start = len(lines)
    while start > 1 and (not lines[start - 1].strip() or lines[start - 1].lstrip().startswith("#")):
        start -= 1
    rest = lines[start:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    return rest


Install = Callable[["RegistryEntry"], AgentEntry]


def resolve(target: str, settings: Settings, *, install: Install | None = None) -> Resolved:
    """Find the agent that a target names. The `LaunchError` lists the attempts and suggests similar names.

    Tries the configured names, the registry, the well-known agents and programs, in this order. `install` is called for
    an agent of the registry, or a well-known one, that isn't installed yet. Without it, such an agent is an error."""
    target = target.strip()
    if not target:
        raise LaunchError("the agent's name is empty", stage="resolve")
    if target.startswith(URLS):
        return remote(target)
    if target == BUILT_IN:
        return built_in()
    entry = settings.agents.get(target)
    if entry is not None:
        return _resolve_configured(target, entry)
    listed = find_listed(target, settings)
    if listed is not None:
        entry = _resolve_listed(listed, install)
        return Resolved(target, argv(entry), dict(entry.env), entry.environment, f"from {settings.registry}")
    known = _find_well_known(target)
    if known is not None:
        return _resolve_well_known(known, install)
    if looks_like_name(target) and shutil.which(target) is None:
        raise LaunchError(_describe_unknown(target, settings), command=target, stage="resolve")
    return command_line(target)


def _resolve_configured(name: str, entry: AgentEntry) -> Resolved:
    command = argv(entry)
    if not command:
        raise LaunchError(f"agent {name!r} has an empty command; check the configuration", stage="resolve")
    if entry.registry is not None and os.path.isabs(command[0]) and not os.path.exists(command[0]):
        raise LaunchError(
            f"agent {name!r} ({entry.registry} {entry.version}) is no longer installed; "
            f"install it again: accord agents update {name} --registry FILE",
            command=command[0],
            stage="resolve",
        )
    return Resolved(name, command, dict(entry.env), entry.environment, "configured")


def find_listed(target: str, settings: Settings) -> RegistryEntry | None:
    """Return the agent of the registry with this id, if any. A project's registry can't replace well-known agents."""
    if settings.registry is None or not looks_like_name(target):
        return None
    if isinstance(settings.registry, ProjectRegistry) and _find_well_known(target) is not None:
        return None
    from accord.config.registry import read_registry

    return read_registry(settings.registry).entries.get(target)


def _resolve_listed(entry: RegistryEntry, install: Install | None) -> AgentEntry:
    from accord.config.install import ensure_installed, is_installed

    if is_installed(entry):
        return ensure_installed(entry)
    if install is None:
        raise not_installed(entry)
    return install(entry)


def _find_well_known(target: str) -> WellKnownAgent | None:
    if not looks_like_name(target):
        return None
    from accord.config.well_known import find_well_known

    return find_well_known(target)


def _resolve_well_known(agent: WellKnownAgent, install: Install | None) -> Resolved:
    from accord.config.well_known import start_entry

    entry = start_entry(agent)
    if entry is None:
        if install is None:
            raise not_installed(agent.current)
        entry = install(agent.current)
    return Resolved(agent.name, argv(entry), dict(entry.env), entry.environment, f"{agent.title} {entry.version}")


def not_installed(entry: RegistryEntry) -> LaunchError:
    """Return the error for an agent that must be installed first."""
    name = entry.id.rsplit("/", 1)[-1]
    message = f"{entry.name} isn't installed; run: accord agents install {name} (or use --install with run and chat)"
    return LaunchError(message, command=name, stage="install")


def _describe_unknown(name: str, settings: Settings) -> str:
    from accord.config.well_known import well_known_agents, well_known_names

    known = set(settings.agents) | well_known_names()
    if settings.registry is not None:
        from accord.config.registry import read_registry

        known |= set(read_registry(settings.registry).entries)
    close = nearest(name, known)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    elif settings.agents:
        hint = f"configured agents: {', '.join(sorted(settings.agents))}"
    else:
        hint = f"known agents: {', '.join(well_known_agents())}; add another with: accord agents add NAME -- COMMAND"
    return f"no agent or program named {name!r}: {hint}"
