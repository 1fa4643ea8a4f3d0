"""The SQL of the session database. Each function returns a function that runs on an open connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from accord.errors import LocalProtocolError
from accord.model.session import Option, SessionInfo
from accord.store import cursor as cursors
from accord.store.base import PAGE, Page
from accord.store.database import PLACES
from accord.store.packs import Pack
from accord.store.worker import transaction

if TYPE_CHECKING:
    from sqlite3 import Connection


LAST = (1 << PLACES) - 1

# Use plain placeholders: Python 3.12.0 to 3.12.3 warn about numbered ones (`?1`) bound by position.

# The place after the last one of the session; nothing is written for a session that was deleted meanwhile.
_SAY = f"""INSERT INTO said (place, data) SELECT 1 + coalesce(
    (SELECT place FROM said WHERE place BETWEEN s.key << {PLACES} AND (s.key << {PLACES}) + {LAST}
     ORDER BY place DESC LIMIT 1),
    s.key << {PLACES}), ? FROM sessions s WHERE s.id = ?"""
_NEXT_CHANGE = "(SELECT 1 + coalesce(max(changed), 0) FROM sessions)"
_ENTRY = f"""INSERT INTO sessions (id, cwd, title, updated_at, directories, archived, meta, changed)
    VALUES (?, ?, ?, ?, ?, ?, ?, {_NEXT_CHANGE})"""
_UPDATE = f"""UPDATE sessions SET cwd = ?, title = ?, updated_at = ?, directories = ?, archived = ?, meta = ?,
    changed = {_NEXT_CHANGE} WHERE id = ?"""


def batch(packs: Mapping[str, Pack], entries: Mapping[str, SessionInfo]) -> Callable[[Connection], None]:
    """Save packs and entries in one transaction."""
    said = [(id, pack.encode(), pack.options) for id, pack in packs.items()]

    def write(connection: Connection) -> None:
        for id, data, options in said:
            connection.execute(_SAY, (data, id))
            if options is not None:
                connection.execute("UPDATE sessions SET options = ? WHERE id = ?", (options.decode(), id))
        for info in entries.values():
            id, *values = _row(info)
            connection.execute(_UPDATE, (*values, id))

    if len(said) == 1 and not entries and said[0][2] is None:
        return write  # a single statement is a transaction
    return lambda connection: transaction(connection, write)


def create(info: SessionInfo) -> Callable[[Connection], None]:
    """Add a session."""
    return lambda connection: transaction(connection, lambda _: _begin(connection, info))


def _begin(connection: Connection, info: SessionInfo) -> None:
    import sqlite3

    try:
        connection.execute(_ENTRY, _row(info))
    except sqlite3.IntegrityError:
        raise LocalProtocolError(f"session {info.id} already exists; use another id") from None


def copy(source: str, info: SessionInfo) -> Callable[[Connection], None]:
    """Add a session with a copy of another one's history."""

    def write(connection: Connection) -> None:
        _begin(connection, info)
        (key,) = connection.execute("SELECT key FROM sessions WHERE id = ?", (info.id,)).fetchone()
        found = connection.execute("SELECT key, options FROM sessions WHERE id = ?", (source,)).fetchone()
        if found is None:
            return
        old, options = found
        connection.execute(
            "INSERT INTO said SELECT place + ?, data FROM said WHERE place BETWEEN ? AND ? ORDER BY place",
            ((key - old) << PLACES, old << PLACES, (old << PLACES) + LAST),
        )
        connection.execute("UPDATE sessions SET options = ? WHERE key = ?", (options, key))

    return lambda connection: transaction(connection, write)


def delete(id: str) -> Callable[[Connection], bool]:
    """Delete a session and its entries in the search index."""

    def write(connection: Connection) -> bool:
        from accord.store.search_index import remove

        found = connection.execute("SELECT key FROM sessions WHERE id = ?", (id,)).fetchone()
        if found is None:
            return False
        (key,) = found
        remove(connection, key)
        connection.execute("DELETE FROM said WHERE place BETWEEN ? AND ?", (key << PLACES, (key << PLACES) + LAST))
        connection.execute("DELETE FROM stale WHERE session = ?", (key,))
        connection.execute("DELETE FROM sessions WHERE key = ?", (key,))
        return True

    return lambda connection: transaction(connection, write)


def _row(info: SessionInfo) -> tuple[Any, ...]:
    return (
        info.id,
        info.cwd,
        info.title,
        info.updated_at,
        msgspec.json.encode(info.additional_directories).decode(),
        int(bool(info.archived)),
        None if info.meta is None else msgspec.json.encode(info.meta).decode(),
    )


COLUMNS = "id, cwd, title, updated_at, directories, archived, meta"
BATCH_ROWS = 2000
BATCH_BYTES = 256 * 1024
"""Histories are read in batches of this size, so that long sessions don't block others."""


def get(id: str) -> Callable[[Connection], SessionInfo | None]:
    """Return the entry of a session."""

    def read(connection: Connection) -> SessionInfo | None:
        row = connection.execute(f"SELECT {COLUMNS} FROM sessions WHERE id = ?", (id,)).fetchone()
        return None if row is None else entry(row)

    return read


def options(id: str) -> Callable[[Connection], list[Option]]:
    """Return the last options of a session."""

    def read(connection: Connection) -> list[Option]:
        row = connection.execute("SELECT options FROM sessions WHERE id = ?", (id,)).fetchone()
        return [] if row is None or row[0] is None else msgspec.json.decode(row[0], type=list[Option])

    return read


def page(cwd: str | None, cursor: str | None, archived: str) -> Callable[[Connection], Page]:
    """Return a page of sessions, newest first. Each filter has a database index, so the cost is constant."""

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
            values.append(cursors.decode(cursor, salt))
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = connection.execute(
            f"SELECT {COLUMNS}, changed FROM sessions {where} ORDER BY changed DESC LIMIT {PAGE + 1}", values
        ).fetchall()
        following = None
        if len(rows) > PAGE:
            following = cursors.encode(rows[PAGE][7], salt or _salt(connection))
        return Page(sessions=[entry(row) for row in rows[:PAGE]], next_cursor=following)

    return read


def find_by_prefix(beginning: str, most: int) -> Callable[[Connection], list[str]]:
    """Return the ids with a prefix, newest first; `sess_` may be omitted."""

    def read(connection: Connection) -> list[str]:
        rows = connection.execute(
            "SELECT id FROM sessions "
            "WHERE substr(id, 1, :size) = :start OR substr(id, 1, :size + 5) = 'sess_' || :start "
            "ORDER BY changed DESC LIMIT :most",
            {"size": len(beginning), "start": beginning, "most": most},
        )
        return [id for (id,) in rows.fetchall()]

    return read


def packs(id: str, after: int | None, upto: int | None) -> Callable[[Connection], tuple[list[bytes], int, int]]:
    """Return some packs of a session, the position of the last one, and the end of the session at the first call."""

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
    """Return the position of the last pack of a session."""
    row = connection.execute(
        "SELECT place FROM said WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1",
        (key << PLACES, (key << PLACES) + LAST),
    ).fetchone()
    return int(row[0]) if row is not None else key << PLACES


def entry(row: tuple[Any, ...]) -> SessionInfo:
    """Convert a row of `COLUMNS` into an entry."""
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
