"""Agents that keep their sessions in a file, looking into it as another process would, and disks that fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from accord import SqliteStore
from accord.model.statement import MessageChunk, Statement, WholeMessage
from accord.store.packs import Unpacker
from accord.testing import ScriptedAgent, WirePeer


class Filed(ScriptedAgent):
    """A scripted agent that keeps its sessions in a file."""

    def __init__(self, path: Path, *turns: Any) -> None:
        super().__init__(*turns)
        self.store: SqliteStore = SqliteStore(path)


def in_file(path: Path, session: str) -> list[Statement]:
    """Read a session from the file with a separate connection."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(
            "SELECT data FROM said JOIN sessions ON place >> 32 = key WHERE id = ? ORDER BY place", (session,)
        ).fetchall()
    finally:
        connection.close()
    unpacker = Unpacker()
    found = [statement for (data,) in rows for statement in unpacker.read(data)]
    assert not unpacker.skipped
    return found


def texts(statements: list[Statement]) -> list[str]:
    """The words of the agent, piece by piece."""
    return [s.content.text for s in statements if isinstance(s, MessageChunk) and s.role == "agent"]  # type: ignore[union-attr]


def list_prompts(statements: list[Statement]) -> list[str]:
    """Return the texts of the user."""
    return [s.content[0].text for s in statements if isinstance(s, WholeMessage)]  # type: ignore[union-attr]


def list_chunks(peer: WirePeer) -> list[str]:
    """Return the chunks of the agent's text that a client has received."""
    return [u["content"]["text"] for u in peer.updates if u["sessionUpdate"] == "agent_message_chunk"]


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program has the file for itself."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        if other.in_transaction:
            other.execute("ROLLBACK")
        other.close()


class Disk:
    """The disk under an open store, as large as we say."""

    def __init__(self, store: SqliteStore) -> None:
        connection = store._writer._connection
        assert connection is not None, "nothing has been kept yet"
        self._connection = connection

    def fill(self) -> None:
        """Leave no free page. SQLite reports this like a full disk."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        self._connection.execute(f"PRAGMA max_page_count = {pages}")

    def free(self) -> None:
        self._connection.execute("PRAGMA max_page_count = 1000000")
