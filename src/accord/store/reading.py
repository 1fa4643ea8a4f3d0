"""What is read from a file of sessions, as functions of an open connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from accord.model.session import Option, SessionInfo
from accord.store import cursor as cursors
from accord.store.base import PAGE, Page
from accord.store.schema import PLACES
from accord.store.writing import LAST

if TYPE_CHECKING:
    from sqlite3 import Connection

COLUMNS = "id, cwd, title, updated_at, directories, archived, meta"
BATCH_ROWS = 2000
BATCH_BYTES = 256 * 1024
"""A history is read so much at a time: no session is too long to be told, and others get their turn."""


def get(id: str) -> Callable[[Connection], SessionInfo | None]:
    """A session's entry."""

    def read(connection: Connection) -> SessionInfo | None:
        row = connection.execute(f"SELECT {COLUMNS} FROM sessions WHERE id = ?", (id,)).fetchone()
        return None if row is None else entry(row)

    return read


def options(id: str) -> Callable[[Connection], list[Option]]:
    """A session's options as they were last told."""

    def read(connection: Connection) -> list[Option]:
        row = connection.execute("SELECT options FROM sessions WHERE id = ?", (id,)).fetchone()
        return [] if row is None or row[0] is None else msgspec.json.decode(row[0], type=list[Option])

    return read


def page(cwd: str | None, cursor: str | None, archived: str) -> Callable[[Connection], Page]:
    """Some sessions, newest first. What it costs does not depend on how many there are: each filter has its index."""

    def read(connection: Connection) -> Page:
        conditions: list[str] = []
        values: list[Any] = []
        if cwd is not None:
            conditions.append("cwd = ?")
            values.append(cwd)
        if archived != "include":
            conditions.append("archived = ?")
            values.append(int(archived == "only"))
        salt: str | None = None
        if cursor is not None:
            salt = _salt(connection)
            conditions.append("changed <= ?")
            values.append(cursors.read(cursor, salt))
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = connection.execute(
            f"SELECT {COLUMNS}, changed FROM sessions {where} ORDER BY changed DESC LIMIT {PAGE + 1}", values
        ).fetchall()
        following = None
        if len(rows) > PAGE:
            following = cursors.written(rows[PAGE][7], salt or _salt(connection))
        return Page(sessions=[entry(row) for row in rows[:PAGE]], next_cursor=following)

    return read


def starting(beginning: str, most: int) -> Callable[[Connection], list[str]]:
    """The ids that begin so, newest first; `sess_` may be left out."""

    def read(connection: Connection) -> list[str]:
        rows = connection.execute(
            "SELECT id FROM sessions WHERE substr(id, 1, ?1) = ?2 OR substr(id, 1, ?1 + 5) = 'sess_' || ?2 "
            "ORDER BY changed DESC LIMIT ?3",
            (len(beginning), beginning, most),
        )
        return [id for (id,) in rows.fetchall()]

    return read


def packs(id: str, after: int | None, upto: int | None) -> Callable[[Connection], tuple[list[bytes], int, int]]:
    """Some packs of a session, where they end, and where the session ended when it was first looked at."""

    def read(connection: Connection) -> tuple[list[bytes], int, int]:
        start, end = after, upto
        if start is None or end is None:
            found = connection.execute("SELECT key FROM sessions WHERE id = ?", (id,)).fetchone()
            if found is None:
                return [], 0, 0
            start = found[0] << PLACES
            end = last_place(connection, found[0])
        found_packs: list[bytes] = []
        size = 0
        rows = connection.execute(
            "SELECT place, data FROM said WHERE place > ? AND place <= ? ORDER BY place", (start, end)
        )
        for place, data in rows:
            found_packs.append(data)
            start = place
            size += len(data)
            if size >= BATCH_BYTES or len(found_packs) >= BATCH_ROWS:
                break
        else:
            start = end
        rows.close()
        return found_packs, start, end

    return read


def last_place(connection: Connection, key: int) -> int:
    """Where what was said in a session ends for now."""
    row = connection.execute(
        "SELECT place FROM said WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1",
        (key << PLACES, (key << PLACES) + LAST),
    ).fetchone()
    return int(row[0]) if row is not None else key << PLACES


def entry(row: tuple[Any, ...]) -> SessionInfo:
    """A row of `COLUMNS`."""
    return SessionInfo(
        id=row[0],
        cwd=row[1],
        title=row[2],
        updated_at=row[3],
        additional_directories=[] if row[4] == "[]" else msgspec.json.decode(row[4]),
        archived=True if row[5] else None,
        meta=None if row[6] is None else msgspec.json.decode(row[6]),
    )


def _salt(connection: Connection) -> str:
    return str(connection.execute("SELECT value FROM facts WHERE name = 'salt'").fetchone()[0])
