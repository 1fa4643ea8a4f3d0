"""What is written to a file of sessions, as functions of an open connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from accord.errors import LocalProtocolError
from accord.model.session import SessionInfo
from accord.store.codec import Pack
from accord.store.hand import transaction
from accord.store.schema import PLACES

if TYPE_CHECKING:
    from sqlite3 import Connection

LAST = (1 << PLACES) - 1

# The place after the last one of the session; nothing is written for a session that was deleted meanwhile.
_SAY = f"""INSERT INTO said (place, data) SELECT 1 + coalesce(
    (SELECT place FROM said WHERE place BETWEEN s.key << {PLACES} AND (s.key << {PLACES}) + {LAST}
     ORDER BY place DESC LIMIT 1),
    s.key << {PLACES}), ?2 FROM sessions s WHERE s.id = ?1"""
_NEXT_CHANGE = "(SELECT 1 + coalesce(max(changed), 0) FROM sessions)"
_ENTRY = f"""INSERT INTO sessions (id, cwd, title, updated_at, directories, archived, meta, changed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, {_NEXT_CHANGE})"""
_UPDATE = f"""UPDATE sessions SET cwd = ?2, title = ?3, updated_at = ?4, directories = ?5, archived = ?6, meta = ?7,
    changed = {_NEXT_CHANGE} WHERE id = ?1"""


def batch(packs: Mapping[str, Pack], entries: Mapping[str, SessionInfo]) -> Callable[[Connection], None]:
    """Everything that was said and changed since the last time, in one transaction."""
    said = [(id, pack.encoded(), pack.options) for id, pack in packs.items()]

    def write(connection: Connection) -> None:
        for id, data, options in said:
            connection.execute(_SAY, (id, data))
            if options is not None:
                connection.execute("UPDATE sessions SET options = ? WHERE id = ?", (options.decode(), id))
        for info in entries.values():
            connection.execute(_UPDATE, _row(info))

    if len(said) == 1 and not entries and said[0][2] is None:
        return write  # one statement is a transaction by itself
    return lambda connection: transaction(connection, write)


def create(info: SessionInfo) -> Callable[[Connection], None]:
    """A new session."""
    return lambda connection: transaction(connection, lambda _: _begin(connection, info))


def _begin(connection: Connection, info: SessionInfo) -> None:
    import sqlite3

    try:
        connection.execute(_ENTRY, _row(info))
    except sqlite3.IntegrityError:
        raise LocalProtocolError(f"session {info.id} is kept already; a new one needs an id of its own") from None


def copy(source: str, info: SessionInfo) -> Callable[[Connection], None]:
    """A new session with the history of another."""

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
    """Forgets a session, and every word of it in the index."""

    def write(connection: Connection) -> bool:
        from accord.store.indexing import forget

        found = connection.execute("SELECT key FROM sessions WHERE id = ?", (id,)).fetchone()
        if found is None:
            return False
        (key,) = found
        forget(connection, key)
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
