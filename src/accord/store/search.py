"""Search stored sessions. Any input is a valid query.

All words must match, newest first; quoted words must be adjacent. Symbols, scripts without spaces between words, and
everything if Python's SQLite has no FTS5, are searched by substring instead of in the index."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.model.record import Record
from accord.model.session import SessionInfo
from accord.store.database import has_index
from accord.store.queries import COLUMNS, entry

if TYPE_CHECKING:
    from sqlite3 import Connection, Cursor

_MAX_PASSAGES = 5000  # passages, if many passages of few sessions match
_MAX_QUERY, _MAX_WORDS = 2000, 32  # of a query: FTS5 has limits
_BEFORE, _AFTER = 60, 120  # characters of context around a hit
_SPACE = re.compile(r"\s+")
_PIECES = re.compile(r'"([^"]+)"|([^\s"]+)')
# Scripts without spaces between words: the index treats a whole sentence as one word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Hit(Record):
    """A session with a match, and the text around its latest match."""

    session: SessionInfo
    kind: str
    """The kind of passage: "user", "agent", "thought", "tool" (title and paths of a call) or "title"."""
    before: str
    hit: str
    after: str


def find(text: str, cwd: str | None, limit: int, thoughts: bool) -> Callable[[Connection], list[Hit]]:
    """Find the sessions with a passage that contains all words, newest first."""
    text = text[:_MAX_QUERY].encode("utf-8", "replace").decode().replace("\0", " ")
    pieces = [quoted or plain for quoted, plain in _PIECES.findall(text)]
    pieces = [" ".join(piece.split()) for piece in pieces if piece.strip()][:_MAX_WORDS]

    def read(connection: Connection) -> list[Hit]:
        if not pieces:
            return []
        if not any(_UNSPACED.search(piece) or not _has_word(piece) for piece in pieces):
            for mark in ("", "*"):
                ids = _by_words(connection, pieces, mark, thoughts)
                if ids is None:
                    break
                if found := _hits(connection, ids, cwd, limit, pieces):
                    return found
            else:
                return []
        return _hits(connection, _by_substring(connection, pieces, thoughts), cwd, limit, pieces)

    return read


def _has_word(piece: str) -> bool:
    return any(letter.isalnum() for letter in piece)


def _by_words(connection: Connection, pieces: list[str], mark: str, thoughts: bool) -> Cursor | None:
    """Search the index; None if there is none. All words are quoted, so that none is an operator. The `mark` `*`
    matches prefixes."""
    import sqlite3

    question = " ".join('"' + piece.replace('"', '""') + '"' + mark for piece in pieces)
    if not thoughts:
        question = f"text : ({question})"
    try:
        return connection.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC", (question,))
    except sqlite3.OperationalError:
        if has_index(connection):
            raise
        return None


def _by_substring(connection: Connection, pieces: list[str], thoughts: bool) -> Cursor:
    like = ["%" + re.sub(r"([\\%_])", r"\\\1", piece) + "%" for piece in pieces]
    where = "text || thought" if thoughts else "text"
    conditions = " AND ".join([f"{where} LIKE ? ESCAPE '\\'"] * len(like))
    return connection.execute(f"SELECT id FROM passages WHERE {conditions} ORDER BY id DESC", like)


_ENTRY = ", ".join(f"s.{name}" for name in COLUMNS.split(", "))
_PASSAGE = f"""SELECT p.session, p.first, p.kind, p.text, p.thought, {_ENTRY}
    FROM passages p JOIN sessions s ON s.key = p.session WHERE p.id = ?"""


def _hits(connection: Connection, ids: Cursor, cwd: str | None, limit: int, pieces: list[str]) -> list[Hit]:
    """Return the latest match of each session. Passages of a session are mostly adjacent and skipped together."""
    found: list[Hit] = []
    sessions: set[int] = set()
    first: int | None = None
    looked_at = 0
    for (id,) in ids:
        if first is not None and id >= first:
            continue
        row = connection.execute(_PASSAGE, (id,)).fetchone()
        looked_at += 1
        if row is None:
            continue
        first = row[1]
        if row[0] not in sessions:
            sessions.add(row[0])
            if cwd is None or row[6] == cwd:
                before, hit, after = find_excerpt(row[3] or row[4], pieces)
                found.append(Hit(session=entry(row[5:]), kind=row[2], before=before, hit=hit, after=after))
        if len(found) >= limit or looked_at >= _MAX_PASSAGES:
            break
    ids.close()
    return found


def find_excerpt(text: str, pieces: list[str]) -> tuple[str, str, str]:
    """Return the first match in a text with its context, each on one line."""
    start, end = _place(text, pieces) or _find_folded(text, pieces) or (0, 0)
    before, after = text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]
    if start > _BEFORE:
        before = "…" + before.partition(" ")[2] if " " in before.strip() else f"…{before}"
    if end + _AFTER < len(text):
        after = (after.rpartition(" ")[0] if " " in after.strip() else after) + "…"
    return _one_line(before), _one_line(text[start:end]), _one_line(after)


def _one_line(text: str) -> str:
    return text if text.isprintable() and "  " not in text else _SPACE.sub(" ", text)


def _place(text: str, pieces: list[str]) -> tuple[int, int] | None:
    """Find one of the words, ignoring case; at the start of a word if possible."""
    low = text.lower()
    if len(low) != len(text):
        return None
    inside = None
    for piece in pieces:
        lowered = piece.lower()
        start = low.find(lowered)
        while start >= 0:
            if start == 0 or not low[start - 1].isalnum():
                return start, start + len(lowered)
            inside = inside or (start, start + len(lowered))
            start = low.find(lowered, start + 1)
    return inside


def _find_folded(text: str, pieces: list[str]) -> tuple[int, int] | None:
    """Find one of the words, ignoring accents and punctuation, as the index does."""
    plain, places = [], []
    for place, letter in enumerate(text):
        for part in unicodedata.normalize("NFKD", letter):
            if not unicodedata.combining(part):
                plain.append(part if part.isalnum() else " ")
                places.append(place)
    folded = [re.findall(r"\w+", _fold_text(piece)) for piece in pieces]
    words = "|".join(r" +".join(map(re.escape, piece)) for piece in folded if piece)
    found = re.search(words, "".join(plain), re.IGNORECASE) if words else None
    return None if found is None else (places[found.start()], places[found.end() - 1] + 1)


def _fold_text(text: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part))
