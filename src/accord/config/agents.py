"""The agents that the user has configured: found by name, added, removed, pinned."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from accord.config.command import BUILT_IN
from accord.config.settings import NAME, AgentEntry, Settings, parse, user_config
from accord.config.toml import table_text, value_text
from accord.config.writing import replace
from accord.errors import ConfigError


def argv(entry: AgentEntry) -> list[str]:
    """The words of an agent's command."""
    if isinstance(entry.command, str):
        try:
            return shlex.split(entry.command)
        except ValueError as error:
            raise ConfigError(f"the command {entry.command!r} is no command line: {error}") from None
    return list(entry.command)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The names that look most like this one."""
    import difflib

    names = {each.lower(): each for each in known}
    return [names[each] for each in difflib.get_close_matches(name.lower(), list(names), n=3, cutoff=0.5)]


def looks_like_name(target: str) -> bool:
    """Whether a target could be a configured name or a registry id: one word without a path or arguments."""
    return NAME.fullmatch(target) is not None


class AgentFile:
    """The `[agents.…]` tables of the user's configuration, changed one table at a time; the rest stays as written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_config()

    def settings(self) -> Settings:
        return parse(self._text(), self.path)

    def put(self, name: str, entry: AgentEntry) -> None:
        """Adds an agent, or replaces the one of that name where it stands."""
        if not looks_like_name(name):
            raise ConfigError(f"{name!r} is no name for an agent: letters, digits, - and _ only")
        if name == BUILT_IN:
            raise ConfigError(f"{name!r} is the name of the agent that comes with Accord; take another one")
        fields: dict[str, object] = {"command": entry.command}
        if entry.env:
            fields["env"] = entry.env
        if entry.environment != "inherit":
            fields["environment"] = entry.environment
        for key in ("registry", "version", "description"):
            value = getattr(entry, key)
            if value is not None:
                fields[key] = value
        wanted = self.settings()
        wanted.agents = {**wanted.agents, name: entry}
        before, after, found = _cut(self._text(), name)
        block = table_text(f"agents.{name}", fields)
        if found:
            self._write(before + block + ("\n" if after.strip() else "") + after, wanted)
        else:
            self._write(f"{before.rstrip()}\n\n{block}" if before.strip() else block, wanted)

    def remove(self, name: str) -> None:
        wanted = self.settings()
        if name not in wanted.agents:
            close = nearest(name, wanted.agents)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise ConfigError(f"{self.path}: there is no agent {name!r}{hint}")
        wanted.agents = {other: entry for other, entry in wanted.agents.items() if other != name}
        before, after, _ = _cut(self._text(), name)
        if wanted.default_agent == name:
            before = re.sub(r"(?m)^[ \t]*default_agent[ \t]*=.*\n?\n?", "", before, count=1)
            wanted.default_agent = None
        if not after:
            before = before.rstrip("\n") + "\n" if before.strip() else ""
        self._write(before + after, wanted)

    def set_default(self, name: str) -> None:
        """Makes an agent the one that is meant when none is named."""
        wanted = self.settings()
        wanted.default_agent = name
        line = f"default_agent = {value_text(name)}\n"
        text, count = re.subn(r"(?m)^[ \t]*default_agent[ \t]*=.*\n?", lambda _: line, self._text(), count=1)
        self._write(text if count else line + ("\n" if text.strip() else "") + text, wanted)

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise ConfigError(f"{self.path}: the file is not UTF-8 text") from None
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _write(self, text: str, wanted: Settings) -> None:
        try:
            right = parse(text, self.path) == wanted
        except ConfigError:
            right = False
        if not right:
            raise ConfigError(f"{self.path}: it is written in a way that cannot be changed from here; edit it yourself")
        try:
            replace(self.path, text)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written: {error.strerror}") from None


def _cut(text: str, name: str) -> tuple[str, str, bool]:
    """The text before one agent's tables, what comes after them, and whether they were there."""
    ours = re.compile(rf"\s*\[\s*agents\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*(\.[^\]]*)?\]\s*(#.*)?$")
    before: list[str] = []
    after: list[str] = []
    skipped: list[str] = []
    found = skipping = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            if skipping:
                after += _remarks(skipped)
                skipped = []
            skipping = ours.match(line) is not None
            found = found or skipping
        (skipped if skipping else after if found else before).append(line)
    return "".join(before), "".join([*after, *_remarks(skipped)]), found


def _remarks(lines: list[str]) -> list[str]:
    """The comments at the end of a table, which belong to what follows it."""
    start = len(lines)
    while start > 1 and (not lines[start - 1].strip() or lines[start - 1].lstrip().startswith("#")):
        start -= 1
    rest = lines[start:]
    while rest and not rest[0].strip():
        rest = rest[1:]
    return rest
