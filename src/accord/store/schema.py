"""The tables of a file of sessions, its version, and how it is opened.

The version of a file is a number in its header. Each step of `STEPS` makes the next version from the one before, so a
file of any age is brought up to date when it is opened; one that is newer than this program is left alone."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from accord.errors import StoreFailed

if TYPE_CHECKING:
    from sqlite3 import Connection

APPLICATION = 0x41435244  # "ACRD", so that other programs can tell whose file it is
PLACES = 32
"""A statement's place is its session's key, shifted by so many bits, and its number in the session."""

# `changed` is the order of the list: a number that grows with every change of an entry. Keys are never used twice, so
# that a process that has not heard of a deletion cannot write into another session. A session in `stale` has said what
# is not in the index yet. `first` of a passage is where those of its session begin that stand before it without a gap.
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
# A session that says something is stale: by itself, so that one statement is a whole save.
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
"""The index. Not part of a version: a Python without FTS5 does without, and one with it makes it."""


def connect(path: str) -> Connection:
    """Opens a file of sessions, makes it when there is none, and brings it up to date. Waits for nobody else's lock."""
    import sqlite3

    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    if not os.path.exists(path):  # what people say to their agents is nobody else's to read
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
            f"{path} was written by a newer accord (its format is {version}, this one knows up to {VERSION}); "
            "update accord, or set ACCORD_DATA_HOME to keep sessions elsewhere"
        )
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # done where nobody waits for it: see `tending`
    if version == VERSION:
        return
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise StoreFailed(f"{path}: this file system cannot keep a shared log (WAL); set ACCORD_DATA_HOME to another")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _bring_up(connection, path)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _bring_up(connection: Connection, path: str) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()  # another process may have been quicker
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not version and tables:
        raise StoreFailed(f"{path} is a database of another program; give the path of another file")
    for step in STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    if not version:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("INSERT INTO facts VALUES ('salt', ?)", (secrets.token_hex(8),))
    connection.execute(f"PRAGMA user_version = {VERSION}")


def has_index(connection: Connection) -> bool:
    """Whether words can be looked up: this Python has FTS5, and the index has been made."""
    import sqlite3

    try:
        connection.execute("SELECT rowid FROM words LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True
