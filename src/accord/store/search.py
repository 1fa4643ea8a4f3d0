"""Finding what was said: any input is a question, and none is a mistake.

Words are looked up in the index, all of them, newest first; words in quotes must stand together. What the index cannot
tell apart (signs, scripts that put no space between words), and what it lacks where Python has no FTS5, is looked for
letter by letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from accord.model.noun import Noun
from accord.model.session import SessionInfo
from accord.store.reading import COLUMNS, entry
from accord.store.schema import has_index

if TYPE_CHECKING:
    from sqlite3 import Connection

LIMIT = 20
_LOOKED_AT = 5000  # passages at most, when very many of few sessions match
_LONGEST, _WORDS = 2000, 32  # of a question: the engine has limits, and nobody reads the answer to more
_BEFORE, _AFTER = 60, 120  # letters around a hit
_PIECES = re.compile(r'"([^"]+)"|([^\s"]+)')
# Scripts without spaces between words: the index takes a whole sentence of them for one word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Hit(Noun):
    """One session in which something was found, and the newest place in it: the words before, the hit, those after."""

    session: SessionInfo
    kind: str
    """Who said it: "user", "agent", "thought"; or "tool" (what a call was about), "title"."""
    before: str
    hit: str
    after: str


def find(text: str, cwd: str | None, limit: int, thoughts: bool) -> Callable[[Connection], list[Hit]]:
    """The sessions in which all the words were said in one passage, newest first."""
    text = text[:_LONGEST].encode("utf-8", "replace").decode().replace("\0", " ")
    pieces = [quoted or plain for quoted, plain in _PIECES.findall(text)]
    pieces = [" ".join(piece.split()) for piece in pieces if piece.strip()][:_WORDS]

    def read(connection: Connection) -> list[Hit]:
        if not pieces:
            return []
        if not has_index(connection) or any(_UNSPACED.search(piece) or not _has_word(piece) for piece in pieces):
            return _hits(connection, *_by_letters(pieces), cwd, limit, thoughts, pieces)
        return _hits(connection, *_by_words(pieces, ""), cwd, limit, thoughts, pieces) or _hits(
            connection, *_by_words(pieces, "*"), cwd, limit, thoughts, pieces
        )

    return read


def _has_word(piece: str) -> bool:
    return any(letter.isalnum() for letter in piece)


def _by_words(pieces: list[str], mark: str) -> tuple[str, list[Any]]:
    """In the index. Everything is quoted, so that nothing in it is taken for an operator; `*` finds beginnings."""
    question = " ".join('"' + piece.replace('"', '""') + '"' + mark for piece in pieces)
    return "words JOIN passages p ON p.id = words.rowid WHERE words MATCH ?", [question]


def _by_letters(pieces: list[str]) -> tuple[str, list[Any]]:
    like = [re.sub(r"([\\%_])", r"\\\1", piece) for piece in pieces]
    conditions = " AND ".join(["p.text LIKE ? ESCAPE '\\'"] * len(like))
    return f"passages p WHERE {conditions}", [f"%{piece}%" for piece in like]


def _hits(
    connection: Connection,
    source: str,
    values: list[Any],
    cwd: str | None,
    limit: int,
    thoughts: bool,
    pieces: list[str],
) -> list[Hit]:
    if not thoughts:
        source += " AND p.kind <> 'thought'"
    if cwd is not None:
        source += " AND p.session IN (SELECT key FROM sessions WHERE cwd = ?)"
        values = [*values, cwd]
    order = "words.rowid" if source.startswith("words") else "p.id"
    rows = connection.execute(f"SELECT p.id, p.session FROM {source} ORDER BY {order} DESC LIMIT {_LOOKED_AT}", values)
    newest: dict[int, int] = {}
    for id, session in rows:
        newest.setdefault(session, id)
        if len(newest) >= limit:
            break
    rows.close()
    return list(_shown(connection, newest, pieces))


def _shown(connection: Connection, newest: dict[int, int], pieces: list[str]) -> Iterator[Hit]:
    for session, id in newest.items():
        row = connection.execute(f"SELECT {COLUMNS} FROM sessions WHERE key = ?", (session,)).fetchone()
        found = connection.execute("SELECT kind, text FROM passages WHERE id = ?", (id,)).fetchone()
        if row is not None and found is not None:
            before, hit, after = around(found[1], pieces)
            yield Hit(session=entry(row), kind=found[0], before=before, hit=hit, after=after)


def around(text: str, pieces: list[str]) -> tuple[str, str, str]:
    """The first of the words in a text, with some of what stands around it, on one line."""
    start, end = _place(text, pieces) or _place_of_plain(text, pieces) or (0, 0)
    before, after = text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]
    if start > _BEFORE:
        before = "…" + before.partition(" ")[2] if " " in before.strip() else f"…{before}"
    if end + _AFTER < len(text):
        after = (after.rpartition(" ")[0] if " " in after.strip() else after) + "…"
    return _one_line(before), _one_line(text[start:end]), _one_line(after)


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _place(text: str, pieces: list[str]) -> tuple[int, int] | None:
    words = "|".join(re.escape(piece).replace(r"\ ", r"\s+") for piece in pieces)
    found = re.search(rf"(?<!\w)(?:{words})", text, re.IGNORECASE) or re.search(words, text, re.IGNORECASE)
    return None if found is None else found.span()


def _place_of_plain(text: str, pieces: list[str]) -> tuple[int, int] | None:
    """The same without accents, and whatever the signs between two words are: the index sees no difference either."""
    plain, places = [], []
    for place, letter in enumerate(text):
        for part in unicodedata.normalize("NFKD", letter):
            if not unicodedata.combining(part):
                plain.append(part if part.isalnum() else " ")
                places.append(place)
    folded = [re.findall(r"\w+", _bare(piece)) for piece in pieces]
    words = "|".join(r" +".join(map(re.escape, piece)) for piece in folded if piece)
    found = re.search(words, "".join(plain), re.IGNORECASE) if words else None
    return None if found is None else (places[found.start()], places[found.end() - 1] + 1)


def _bare(text: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part))
