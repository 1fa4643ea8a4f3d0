"""The search index, updated in the background, one session at a time.

It holds passages: a message, a thought, the title and paths of a tool call, a session title. Long ones are split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import UnsetType

from accord.model.content import Content, TextContent, text_of, uri_of
from accord.model.statement import MessageChunk, SetInfo, Statement, ToolPatch, WholeMessage
from accord.store.database import PLACES, WORDS, has_index
from accord.store.packs import Unpacker
from accord.store.queries import last_place
from accord.store.worker import transaction

if TYPE_CHECKING:
    from sqlite3 import Connection

MAX_PASSAGE = 16_000
"""Characters in a passage."""
BATCH_BYTES = 1024 * 1024
"""Bytes indexed in one transaction, which limits how long writers wait."""
_WORDS_OF = "INSERT INTO words (words, rowid, text, thought) VALUES"
_RECENT = 4  # passages of a session that may still grow


def update(connection: Connection, stop: Callable[[], bool]) -> None:
    """Add all statements of this and other processes that aren't indexed yet."""
    make(connection)
    for (key,) in connection.execute("SELECT session FROM stale").fetchall():
        while not stop() and _some(connection, key):
            pass


def make(connection: Connection) -> bool:
    """Create the index if it doesn't exist. Returns False without FTS5."""
    import sqlite3

    if not has_index(connection):
        try:
            connection.execute("CREATE VIRTUAL TABLE temp.probe USING fts5(text)")
            connection.execute("DROP TABLE temp.probe")
        except sqlite3.OperationalError:
            return False

        def write(connection: Connection) -> None:
            connection.execute(WORDS)
            connection.execute("INSERT INTO words (words) VALUES ('rebuild')")

        transaction(connection, write)
    elif connection.execute("SELECT 1 FROM facts WHERE name = 'words missing'").fetchone() is not None:

        def again(connection: Connection) -> None:
            connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
            connection.execute("DELETE FROM facts WHERE name = 'words missing'")

        transaction(connection, again)
    return True


def _some(connection: Connection, key: int) -> bool:
    """Index part of a session. Returns whether there may be more."""
    found = connection.execute("SELECT indexed FROM sessions WHERE key = ?", (key,)).fetchone()
    start = max(found[0], key << PLACES) if found is not None else 0
    end, size, unpacker, statements = start, 0, Unpacker(), list[Statement]()
    rows = connection.execute(
        "SELECT place, data FROM said WHERE place > ? AND place <= ? ORDER BY place",
        (start, last_place(connection, key)),
    )
    for place, data in rows:
        statements += unpacker.read(data)
        end = place
        size += len(data)
        if size >= BATCH_BYTES:
            break
    rows.close()

    def write(connection: Connection) -> bool:
        now = connection.execute("SELECT indexed FROM sessions WHERE key = ?", (key,)).fetchone()
        if now is not None and max(now[0], key << PLACES) != start:
            return True  # another process has indexed it meanwhile
        if now is not None and statements:
            _add(connection, key, passages(statements))
            connection.execute("UPDATE sessions SET indexed = ? WHERE key = ?", (end, key))
        if now is not None and last_place(connection, key) > end:
            return True
        connection.execute("DELETE FROM stale WHERE session = ?", (key,))
        return False

    return transaction(connection, write)


def _add(connection: Connection, key: int, found: Iterable[tuple[str, str, str]]) -> None:
    indexed = has_index(connection)
    if not indexed:
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('words missing', '1')")
    recent = {
        (kind, name): (id, text or thought)
        for id, kind, name, text, thought in reversed(
            connection.execute(
                "SELECT id, kind, name, text, thought FROM passages WHERE session = ? ORDER BY id DESC LIMIT ?",
                (key, _RECENT),
            ).fetchall()
        )
    }
    last = connection.execute("SELECT session, first FROM passages ORDER BY id DESC LIMIT 1").fetchone()
    first = last[1] if last is not None and last[0] == key else None
    for kind, name, text in found:
        id, before = recent.get((kind, name), (None, ""))
        if id is not None and kind != "tool" and len(before) + len(text) <= MAX_PASSAGE:
            if indexed:
                connection.execute(f"{_WORDS_OF} ('delete', ?, ?, ?)", (id, *_columns(kind, before)))
            text = before + text
            connection.execute("UPDATE passages SET text = ?, thought = ? WHERE id = ?", (*_columns(kind, text), id))
        else:
            id = connection.execute(
                "INSERT INTO passages (session, first, kind, name, text, thought) VALUES (?, ?, ?, ?, ?, ?)",
                (key, first or 0, kind, name, *_columns(kind, text)),
            ).lastrowid
            if first is None:
                first = id
                connection.execute("UPDATE passages SET first = id WHERE id = ?", (id,))
        if indexed:
            connection.execute("INSERT INTO words (rowid, text, thought) VALUES (?, ?, ?)", (id, *_columns(kind, text)))


def _columns(kind: str, text: str) -> tuple[str, str]:
    """Put thoughts into a separate column, so that they are searched only on request."""
    return ("", text) if kind == "thought" else (text, "")


def remove(connection: Connection, key: int) -> None:
    """Remove a session from the index."""
    if has_index(connection):
        connection.execute(
            "INSERT INTO words (words, rowid, text, thought) "
            "SELECT 'delete', id, text, thought FROM passages WHERE session = ?",
            (key,),
        )
    else:
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('words missing', '1')")
    connection.execute("DELETE FROM passages WHERE session = ?", (key,))


def passages(statements: Iterable[Statement]) -> Iterator[tuple[str, str, str]]:
    """Yield the passages of statements: kind, id of the message or call, and text."""
    found: dict[tuple[str, str], list[str]] = {}
    for statement in statements:
        match statement:
            case MessageChunk(role=role, message_id=id, content=TextContent(text=text)):
                found.setdefault((role, id), []).append(text)
            case MessageChunk(role=role, message_id=id, content=content):
                found.setdefault((role, id), []).append(_uris([content]))
            case WholeMessage(role=role, message_id=id, content=contents) if not isinstance(contents, UnsetType):
                found[role, id] = [text_of(contents or []), _uris(contents or [])]
            case ToolPatch(id=id):
                words = [statement.title] if isinstance(statement.title, str) else []
                words += [place.path for place in statement.locations] if isinstance(statement.locations, list) else []
                if words:
                    found.setdefault(("tool", id), []).extend(f"{word}\n" for word in words)
            case SetInfo(title=str(title)):
                found["title", ""] = [title]
    for (kind, name), pieces in found.items():
        text = "".join(pieces).replace("\0", " ")
        for start in range(0, len(text), MAX_PASSAGE):
            yield kind, name, text[start : start + MAX_PASSAGE]


def _uris(contents: list[Content]) -> str:
    """Return the URIs of links and embedded resources, one per line."""
    return "".join(f"\n{uri}" for uri in map(uri_of, contents) if uri)
