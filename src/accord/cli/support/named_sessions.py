"""The names that `accord run --name` gave to sessions, for each agent and project."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from accord.config.directories import data_directory
from accord.config.files import replace
from accord.config.locking import hold

MAX_NAMES = 1000
"""The oldest names are forgotten; their sessions stay."""


class NamedSession(msgspec.Struct, frozen=True):
    """A name, where it applies, and the session."""

    agent: str
    cwd: str
    name: str
    session_id: str


class NamedSessions:
    """Reads and writes the file of names."""

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = path or data_directory() / "session_names.json"

    def find(self, agent: str, cwd: Path, name: str) -> str | None:
        """Return the id of a named session."""
        found = [each for each in self._read() if (each.agent, each.cwd, each.name) == (agent, str(cwd), name)]
        return found[-1].session_id if found else None

    def save(self, agent: str, cwd: Path, name: str, session_id: str) -> None:
        """Save the name of a session; it replaces an earlier session of this name."""
        new = NamedSession(agent, str(cwd), name, session_id)
        os.makedirs(self.path.parent, mode=0o700, exist_ok=True)
        with hold(self.path.with_suffix(".lock")):
            others = [each for each in self._read() if (each.agent, each.cwd, each.name) != (agent, str(cwd), name)]
            replace(self.path, msgspec.json.encode([*others, new][-MAX_NAMES:]).decode())

    def _read(self) -> list[NamedSession]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=list[NamedSession])
        except (OSError, msgspec.DecodeError):  # none yet, or damaged
            return []
