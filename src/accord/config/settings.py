"""What the user and the project configured: read, checked, merged.

The user's `config.toml` comes first, then the project's `accord.toml`, then the environment. A project's own file may
only narrow until the user has trusted that folder: its agents, servers and default agent are ignored till then, and
said so."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from accord.config.coder import CoderSettings, ProviderEntry
from accord.config.folders import config_folder
from accord.errors import ConfigError

USER_FILE = "config.toml"
PROJECT_FILE = "accord.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""What an agent may be called: it cannot be taken for a command line."""
WAITS = ("first byte", "initialize", "session", "call", "login", "extension")
"""The waits for machines that have a deadline."""


class AgentEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to start one agent."""

    command: str | list[str]
    env: dict[str, str] = {}
    environment: Literal["inherit", "minimal", "login-shell"] = "inherit"
    """Where its environment comes from: ours, the bare necessities, or what the user's login shell has."""
    registry: str | None = None
    """The registry entry it was made from, and the version that is pinned."""
    version: str | None = None
    description: str | None = None


class ServerEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An MCP server for every session: a command, or a URL."""

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    url: str | None = None
    type: Literal["stdio", "http", "sse"] | None = None
    headers: dict[str, str] = {}


class Settings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The configuration as a whole."""

    default_agent: str | None = None
    registry: str | None = None
    """A registry, by its path or URL, whose agents can be named by their ids."""
    agents: dict[str, AgentEntry] = {}
    mcp_servers: dict[str, ServerEntry] = {}
    permissions: dict[str, Any] = {}
    """Rules for the policy engine, which reads them itself."""
    deadlines: dict[str, float] = {}
    """How long machines may take, in seconds, by the name of the wait; 0 is without end."""
    coder: CoderSettings = msgspec.field(default_factory=CoderSettings)
    """What the built-in coding agent works with."""

    @property
    def chosen_agent(self) -> str | None:
        """The agent that is meant when none is named: the default one, or the only one."""
        if self.default_agent is None and len(self.agents) == 1:
            return next(iter(self.agents))
        return self.default_agent

    @property
    def waits(self) -> dict[str, float | None]:
        """The deadlines as a connection takes them."""
        return {name: seconds or None for name, seconds in self.deadlines.items()}


class Loaded(msgspec.Struct, kw_only=True):
    """What was found: the merged settings, the rules of each source apart, and what was ignored and why."""

    settings: Settings
    user_rules: dict[str, Any] = {}
    project_rules: dict[str, Any] = {}
    notes: list[str] = []
    files: list[Path] = []
    trusted: bool = False


def user_config() -> Path:
    """The user's own file."""
    return Path(os.environ.get("ACCORD_CONFIG") or config_folder() / USER_FILE)


def has_project_file(project: Path) -> bool:
    """Whether a folder has a configuration of its own, so that it matters whether it is trusted."""
    return os.path.isfile(project / PROJECT_FILE)


def load(project: Path | None = None, *, trusted: bool = False, user_file: Path | None = None) -> Loaded:
    """Reads the user's file and the project's, and merges them."""
    path = user_file or user_config()
    loaded = Loaded(settings=Settings(), trusted=trusted)
    if _is_there(path):
        loaded.settings = read(path)
        loaded.user_rules = loaded.settings.permissions
        loaded.files.append(path)
    elif os.environ.get("ACCORD_CONFIG") and user_file is None:
        loaded.notes.append(f"there is no file {path}, which ACCORD_CONFIG names")
    own = project / PROJECT_FILE if project is not None else None
    if own is not None and os.path.isfile(own) and own.resolve() != path.resolve():
        _add_project(loaded, read(own), own, trusted)
    if chosen := os.environ.get("ACCORD_AGENT"):
        loaded.settings.default_agent = chosen
    if model := os.environ.get("ACCORD_MODEL"):
        loaded.settings.coder.model = model
    return loaded


def _add_project(loaded: Loaded, project: Settings, path: Path, trusted: bool) -> None:
    loaded.files.append(path)
    loaded.project_rules = project.permissions
    widening = [
        name
        for name, value in (
            ("agents", project.agents),
            ("mcp_servers", project.mcp_servers),
            ("default_agent", project.default_agent),
            ("registry", project.registry),
            ("deadlines", project.deadlines),
            ("coder", project.coder != CoderSettings()),
        )
        if value
    ]
    if not trusted:
        if widening:
            loaded.notes.append(
                f"{path}: {', '.join(widening)} ignored until you trust this folder (accord trust {path.parent})"
            )
        return
    settings = loaded.settings
    settings.agents = {**settings.agents, **project.agents}
    settings.mcp_servers = {**settings.mcp_servers, **project.mcp_servers}
    settings.default_agent = project.default_agent or settings.default_agent
    settings.registry = project.registry or settings.registry
    settings.deadlines = {**settings.deadlines, **project.deadlines}
    settings.coder = settings.coder.with_those_of(project.coder)


def read(path: Path) -> Settings:
    """One file, or `ConfigError` with the file, the line and what was expected."""
    return parse(_text(path), path)


def parse(text: str, path: Path) -> Settings:
    """The settings that a text holds; `path` names it in faults."""
    import tomllib

    from accord.config import faults
    from accord.config.checks import wrong

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {faults.syntax(str(error))}") from None
    except RecursionError:
        raise ConfigError(f"{path}: it is nested too deeply; expected plain tables") from None

    def checked(value: Any, kind: Any, keys: list[str]) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            inner, words = faults.complaint(str(error), kind)
            raise ConfigError(f"{path}: {faults.place(text, [*keys, *inner])}: {words}") from None

    # One at a time: a fault in a table of tables does not say by itself in which of them it is.
    for group, kind in (("agents", AgentEntry), ("mcp_servers", ServerEntry), ("deadlines", float)):
        if isinstance(table.get(group), dict):
            table[group] = {name: checked(value, kind, [group, name]) for name, value in table[group].items()}
    if isinstance(coder := table.get("coder"), dict):
        if isinstance(named := coder.get("providers"), dict):
            place = ["coder", "providers"]
            coder["providers"] = {name: checked(value, ProviderEntry, [*place, name]) for name, value in named.items()}
        table["coder"] = checked(coder, CoderSettings, ["coder"])
    settings: Settings = checked(table, Settings, [])
    for keys, words in wrong(settings):
        raise ConfigError(f"{path}: {faults.place(text, keys)}: {words}")
    return settings


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a folder that may not be entered: what is in it must not be passed over
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}: line {line}: the file is not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
