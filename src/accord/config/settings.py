"""What the user and the project configured: read, checked, merged.

The user's `config.toml` comes first, then the project's `accord.toml`, then the environment. A project's own file may
only narrow until the user has trusted that folder: its agents, servers and default agent are ignored till then, and
said so."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from accord.config.folders import config_folder
from accord.errors import AccordError

USER_FILE = "config.toml"
PROJECT_FILE = "accord.toml"


class ConfigError(AccordError):
    """A configuration file cannot be used. The message says which, where, and what was expected."""


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
    agents: dict[str, AgentEntry] = {}
    mcp_servers: dict[str, ServerEntry] = {}
    permissions: dict[str, Any] = {}
    """Rules for the policy engine, which reads them itself."""
    deadlines: dict[str, float] = {}


class Loaded(msgspec.Struct, kw_only=True):
    """What was found: the merged settings, the rules of each source apart, and what was ignored and why."""

    settings: Settings
    user_rules: dict[str, Any] = {}
    project_rules: dict[str, Any] = {}
    notes: list[str] = []
    files: list[Path] = []


def load(project: Path | None = None, *, trusted: bool = False, user_file: Path | None = None) -> Loaded:
    """Reads the user's file and the project's, and merges them."""
    path = user_file or Path(os.environ.get("ACCORD_CONFIG") or config_folder() / USER_FILE)
    loaded = Loaded(settings=Settings())
    if path.is_file():
        loaded.settings = read(path)
        loaded.user_rules = loaded.settings.permissions
        loaded.files.append(path)
    own = project / PROJECT_FILE if project is not None else None
    if own is not None and own.is_file() and own.resolve() != path.resolve():
        _add_project(loaded, read(own), own, trusted)
    if chosen := os.environ.get("ACCORD_AGENT"):
        loaded.settings.default_agent = chosen
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
        )
        if value
    ]
    if not trusted:
        if widening:
            loaded.notes.append(f"{path}: {', '.join(widening)} ignored until you trust this folder")
        return
    settings = loaded.settings
    settings.agents = {**settings.agents, **project.agents}
    settings.mcp_servers = {**settings.mcp_servers, **project.mcp_servers}
    settings.default_agent = project.default_agent or settings.default_agent
    settings.deadlines = {**settings.deadlines, **project.deadlines}


def read(path: Path) -> Settings:
    """One file, or `ConfigError` with the file, the line and what was expected."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: the file is not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {_at_line(str(error))}") from None
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}{_where(text, str(error))}") from None


def _at_line(said: str) -> str:
    found = re.search(r"\(at line (\d+), column (\d+)\)", said)
    if found is None:
        return said
    return f"line {found[1]}, column {found[2]}: {said[: found.start()].strip()}"


def _where(text: str, said: str) -> str:
    """The line of the key that a complaint is about, as far as it can be found, and the complaint in our words."""
    what, _, path = said.partition(" - at `$")
    keys = [key for key in re.split(r"[.\[\]`]+", path) if key and key != "..."]
    unknown = re.match(r"Object contains unknown field `(.+)`", what)
    if unknown:
        keys.append(unknown[1])
        what = f"there is no setting {unknown[1]!r} here"
    line = _line_of(text, keys)
    place = f", line {line}" if line else ""
    name = ".".join(keys)
    return f"{place}: {name}: {what.replace('`', '')}" if name else f"{place}: {what.replace('`', '')}"


def _line_of(text: str, keys: list[str]) -> int | None:
    """The first line where the last of these keys is named, after the tables of the others."""
    start, found = 0, None
    lines = text.splitlines()
    for key in keys:
        pattern = re.compile(rf"(^|[\[.\s{{,]){re.escape(key)}\s*([\].=]|$)|\"{re.escape(key)}\"")
        for number in range(start, len(lines)):
            if pattern.search(lines[number].split("#")[0]):
                start, found = number, number + 1
                break
    return found
