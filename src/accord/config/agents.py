"""The agents that the user has configured: found by name, added, removed, pinned."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from accord.config.folders import config_folder
from accord.config.settings import USER_FILE, AgentEntry, ConfigError, Settings, read
from accord.config.toml import table_text

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]*$")


def argv(entry: AgentEntry) -> list[str]:
    """The words of an agent's command."""
    if isinstance(entry.command, str):
        try:
            return shlex.split(entry.command)
        except ValueError as error:
            raise ConfigError(f"the command {entry.command!r} is no command line: {error}") from None
    return list(entry.command)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The configured names that look most like this one."""
    return difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)


def looks_like_name(target: str) -> bool:
    """Whether a target could be a configured name or a registry id: one word without a path or arguments."""
    return NAME.match(target) is not None


class AgentFile:
    """The `[agents.…]` tables of the user's configuration, changed one table at a time; the rest stays as written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or config_folder() / USER_FILE

    def settings(self) -> Settings:
        return read(self.path) if self.path.is_file() else Settings()

    def put(self, name: str, entry: AgentEntry) -> None:
        """Adds an agent, or replaces the one of that name."""
        if not NAME.match(name):
            raise ConfigError(f"{name!r} is no name for an agent: letters, digits, - and _ only")
        fields: dict[str, object] = {"command": entry.command}
        if entry.env:
            fields["env"] = entry.env
        if entry.environment != "inherit":
            fields["environment"] = entry.environment
        for key in ("registry", "version", "description"):
            value = getattr(entry, key)
            if value is not None:
                fields[key] = value
        text = self._without(name)
        block = table_text(f"agents.{name}", fields)
        self._write(f"{text.rstrip()}\n\n{block}" if text.strip() else block)

    def remove(self, name: str) -> None:
        known = self.settings().agents
        if name not in known:
            close = nearest(name, known)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise ConfigError(f"{self.path}: there is no agent {name!r}{hint}")
        self._write(self._without(name))

    def _without(self, name: str) -> str:
        """The file's text without one agent's table (and the tables below it)."""
        if not self.path.is_file():
            return ""
        read(self.path)  # a broken file is reported, not rewritten
        kept, skipping = [], False
        ours = re.compile(rf"^\s*\[agents\.\"?{re.escape(name)}\"?(\.[^\]]*)?\]\s*(#.*)?$")
        for line in self.path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.lstrip().startswith("["):
                skipping = ours.match(line) is not None
            if not skipping:
                kept.append(line)
        return "".join(kept)

    def _write(self, text: str) -> None:
        """Replaces the file in one step, so that nobody ever sees half of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f".{self.path.name}.new")
        temporary.write_text(text, encoding="utf-8")
        read(temporary)
        if self.path.exists():
            temporary.chmod(self.path.stat().st_mode & 0o777)
        temporary.replace(self.path)
