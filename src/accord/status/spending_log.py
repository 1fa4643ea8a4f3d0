"""The tokens and costs of each agent by day, counted by all clients of this user together."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from accord.config.budget import Spent
from accord.config.directories import data_directory

KEPT_DAYS = 400
_TIMEOUT_SECONDS = 5.0
_TABLE = """CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, agent TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL NOT NULL, PRIMARY KEY (day, agent)
) WITHOUT ROWID"""
_ADD = """INSERT INTO spent VALUES (?, ?, ?, ?)
    ON CONFLICT (day, agent) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost"""


class SpendingLog:
    """The counters. Each use opens the file, so that it isn't held open while an agent works. Blocks."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path: Path = path or data_directory() / "spending.sqlite"
        self._clock = clock

    @property
    def today(self) -> str:
        """The current day in the local time zone."""
        return time.strftime("%Y-%m-%d", time.localtime(self._clock()))

    def add(self, agent: str, spent: Spent) -> None:
        """Add the usage of an agent. Raises `OSError` if it can't be saved."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.touch(mode=0o600)
        with self._open() as database:
            database.execute(_TABLE)
            database.execute(_ADD, (self.today, agent, spent.tokens, spent.cost))
            oldest = time.strftime("%Y-%m-%d", time.localtime(self._clock() - KEPT_DAYS * 86400))
            database.execute("DELETE FROM spent WHERE day < ?", (oldest,))

    def read_today(self) -> dict[str, Spent]:
        """Return the usage of each agent today; empty if it can't be read."""
        if not self.path.exists():
            return {}
        try:
            with self._open() as database:
                rows = database.execute("SELECT agent, tokens, cost FROM spent WHERE day = ?", (self.today,))
                return {agent: Spent(tokens, cost) for agent, tokens, cost in rows}
        except OSError:
            return {}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=_TIMEOUT_SECONDS)) as database, database:
                yield database
        except sqlite3.Error as error:
            raise OSError(None, f"{self.path}: {error}") from error
