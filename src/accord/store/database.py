"""The session database: its tables, its format version, and opening it.

The format version is a number in the header of the file. Each step of `STEPS` upgrades a file by one version, so an
older file is upgraded when it is opened. A file with a newer version is refused."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from accord.errors import StoreFailed

if TYPE_CHECKING:
    from sqlite3 import Connection

APPLICATION = 0x41435244  # "ACRD", which identifies the file type
PLACES = 32
"""The position of a pack is its session's key, shifted by this many bits, plus its number in the session."""

# `changed` is the order of the list: a number that grows with every change of an entry. Keys are never reused, so a
# process that doesn't know about a deletion can't write into another session. Sessions in `stale` have statements that
# aren't in the search index yet. `first` of a passage is the start of the run of passages of its session before it.
_FIRST = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        cwd TEXT NOT NULL,
        title TEXT,
        updated_at TEXT,
        directories TEXT NOT NULL,
        archived INTEGER NOT NULL,
        meta TEXT,
        options TEXT,
        changed INTEGER NOT NULL,
        indexed INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE UNIQUE INDEX by_change ON sessions (changed)",
    "CREATE INDEX by_archive ON sessions (archived, changed)",
    "CREATE INDEX by_folder ON sessions (cwd, archived, changed)",
    "CREATE TABLE said (place INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE stale (session INTEGER PRIMARY KEY)",
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL,
        first INTEGER NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        thought TEXT NOT NULL
    )""",
    "CREATE INDEX passages_of ON passages (session)",
)
# A trigger marks sessions as stale, so that a save is a single statement.
_SECOND = (
    f"""CREATE TRIGGER said_is_stale AFTER INSERT ON said
        WHEN NOT EXISTS (SELECT 1 FROM stale WHERE session = NEW.place >> {PLACES})
        BEGIN INSERT INTO stale VALUES (NEW.place >> {PLACES}); END""",
)
STEPS = (_FIRST, _SECOND)
VERSION = len(STEPS)

WORDS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5("
    "text, thought, content='passages', content_rowid='id', tokenize='unicode61 remove_diacritics 2')"
)
"""The search index. Not part of the format version: it is created if Python's SQLite has FTS5."""


def connect(path: str) -> Connection:
    """Open a session database; create or upgrade it if necessary. Doesn't wait for locks of other processes."""
    import sqlite3

    directory = os.path.dirname(path)
    if directory:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    if not os.path.exists(path):  # sessions are private
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=64)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: Connection, path: str) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise StoreFailed(
            f"{path} was written by a newer version of Accord (format {version}; this one supports up to {VERSION}); "
            "update Accord, or set ACCORD_DATA_HOME to another directory"
        )
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # done in the background: see `maintenance`
    if version == VERSION:
        return
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise StoreFailed(f"{path}: no write-ahead log on this file system; set ACCORD_DATA_HOME to another one")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _upgrade(connection, path)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _upgrade(connection: Connection, path: str) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()  # another process may have done it
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not version and tables:
        raise StoreFailed(f"{path} is a database of another program; choose another path")
    for step in STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    if not version:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("INSERT INTO facts VALUES ('salt', ?)", (secrets.token_hex(8),))
    connection.execute(f"PRAGMA user_version = {VERSION}")


def has_index(connection: Connection) -> bool:
    """Return whether the search index exists: Python's SQLite has FTS5, and the index has been created."""
    import sqlite3

    try:
        connection.execute("SELECT rowid FROM words LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True
