"""Finding what was said, whatever is typed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from accord import SqliteStore
from accord.model.content import ResourceLink, TextContent
from accord.model.statement import MessageChunk, SetInfo, ToolPatch, WholeMessage
from accord.model.tool import Location
from accord.store import search, search_index
from accord.testing.stores import info, say


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "sessions.db") as store:
        yield store


@pytest.fixture(params=["index", "letters"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the index, and where Python's SQLite has none."""
    if request.param == "letters":
        monkeypatch.setattr(search_index, "WORDS", "CREATE VIRTUAL TABLE words USING nothing(text)")
        monkeypatch.setattr(search_index, "make", lambda connection: False)
    return str(request.param)


async def talk(store: SqliteStore, id: str, *said: Any, cwd: str = "/p") -> None:
    await store.create(info(id, cwd))
    for number, words in enumerate(said):
        store.append(id, say(words, f"m{number}") if isinstance(words, str) else words)


async def ids(store: SqliteStore, text: str, **how: Any) -> list[str]:
    return [hit.session.id for hit in await store.search(text, **how)]


async def test_sessions_are_found_by_their_messages_newest_first(store: SqliteStore, each_way: str) -> None:
    await talk(store, "a", "The parser reads tokens.")
    await talk(store, "b", "Nothing of note.")
    await talk(store, "c", "A token is a word; the PARSER knows.")
    assert await ids(store, "parser") == ["c", "a"]
    assert await ids(store, "parser tokens") == ["a"]
    assert await ids(store, "parser", limit=1) == ["c"]
    assert await ids(store, "absent") == []
    (hit,) = await store.search("tokens")
    assert (hit.before, hit.hit, hit.after, hit.kind) == ("The parser reads ", "tokens", ".", "agent")


async def test_pieces_of_a_message_are_one_text(store: SqliteStore) -> None:
    await store.create(info("a"))
    for piece in ("concat", "enation of ", "pie", "ces"):
        store.append("a", say(piece))
    assert await ids(store, "concatenation") == ["a"]
    assert await ids(store, '"of pieces"') == ["a"]
    store.append("a", say(" and mor"))
    assert await ids(store, "mor") == ["a"]
    store.append("a", say("etomorrow"))  # the message continues after it was indexed
    assert await ids(store, "moretomorrow") == ["a"]
    assert await ids(store, "concatenation moretomorrow") == ["a"]


async def test_all_messages_are_searched_and_thoughts_on_request(store: SqliteStore, each_way: str) -> None:
    await talk(
        store,
        "a",
        WholeMessage(
            role="user", message_id="u", content=[TextContent("wish"), ResourceLink(uri="file:///linked.md", name="n")]
        ),
        MessageChunk(role="thought", message_id="t", content=TextContent("hidden musing")),
        ToolPatch(id="c", title="Compile everything", locations=[Location(path="/p/src/engine.rs")]),
        ToolPatch(id="c", status="completed", raw_output={"secret": "rawoutput"}),
        SetInfo(title="About compilers"),
    )
    kinds = {
        word: [hit.kind for hit in await store.search(word)]
        for word in ("wish", "everything", "engine.rs", "compilers")
    }
    assert kinds == {"wish": ["user"], "everything": ["tool"], "engine.rs": ["tool"], "compilers": ["title"]}
    assert await ids(store, "linked.md") == ["a"]
    assert await ids(store, "musing") == []
    assert await ids(store, "musing", thoughts=True) == ["a"]
    assert await ids(store, "rawoutput") == []


async def test_a_search_can_be_limited_to_a_directory(store: SqliteStore) -> None:
    await talk(store, "a", "word", cwd="/p")
    await talk(store, "b", "word", cwd="/q")
    assert await ids(store, "word", cwd="/p") == ["a"]
    assert await ids(store, "word", cwd="/none") == []


STRANGE = [
    *(
        "",
        " ",
        "\n\t",
        '"',
        '""',
        '"""',
        "'",
        "''",
        "*",
        "(",
        ")",
        "()",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "a AND",
        "^a",
        "a:b",
    ),
    *(
        "text:word",
        "-word",
        "+word",
        "{a b}",
        "a*b",
        "\\",
        "%",
        "_",
        "\0",
        "a\0b",
        "\ud800",
        "🙂",
        "👩‍👩‍👧",
        "é",
        "漢字",
    ),
    *(
        "x" * 60_000,
        "many " * 2000,
        "# " * 2000,
        "(" * 2000,
        "; DROP TABLE said",
        "word NOT",
        '"unclosed',
        "NEAR(a b, 2)",
        "\u202e",
        "​",
        "ﬁ",
    ),
]


@pytest.mark.parametrize("text", STRANGE)
async def test_no_input_is_a_mistake(store: SqliteStore, text: str, each_way: str) -> None:
    await talk(store, "a", "word word AND NOT more")
    await store.search(text)
    assert await ids(store, "word") == ["a"]


async def test_operators_are_words(store: SqliteStore) -> None:
    await talk(store, "a", "this AND that")
    await talk(store, "b", "this that")
    await talk(store, "c", "near(miss)")
    assert await ids(store, "this AND") == ["a"]
    assert await ids(store, "NEAR(miss") == ["c"]


async def test_accents_scripts_and_signs_are_found(store: SqliteStore) -> None:
    await talk(store, "a", "Ein schöner Café-Besuch")
    await talk(store, "b", "今日は良い天気ですね")
    await talk(store, "c", "if (a != b) return x->y;")
    await talk(store, "d", "100% of _all_ files")
    (hit,) = await store.search("cafe")
    assert (hit.session.id, hit.hit) == ("a", "Café")
    assert [(hit.session.id, hit.hit) for hit in await store.search("天気")] == [("b", "天気")]
    assert await ids(store, "!=") == ["c"]
    assert await ids(store, "->") == ["c"]
    assert await ids(store, "%") == ["d"]
    assert await ids(store, "_all_") == ["d"]


async def test_the_beginning_of_a_word_finds_it_when_no_whole_word_does(store: SqliteStore) -> None:
    await talk(store, "a", "refactoring")
    await talk(store, "b", "the factor")
    assert await ids(store, "refac") == ["a"]
    assert await ids(store, "factor") == ["b"]


async def test_a_match_is_shown_with_its_context_on_one_line(store: SqliteStore) -> None:
    await talk(store, "a", "start " * 100 + "\nbefore it the needle\nand after " + "end " * 100)
    (hit,) = await store.search("needle")
    assert hit.before.startswith("…") and hit.before.endswith("before it the ")
    assert hit.hit == "needle"
    assert hit.after.startswith(" and after end") and hit.after.endswith("…")
    assert len(hit.before) < 80 and len(hit.after) < 140


async def test_a_deleted_session_is_not_found_but_its_copy_is(store: SqliteStore, each_way: str) -> None:
    await talk(store, "a", "unique")
    assert await ids(store, "unique") == ["a"]
    await store.copy("a", info("b"))
    assert await ids(store, "unique") == ["b", "a"]
    await store.delete("a")
    assert await ids(store, "unique") == ["b"]


async def test_a_very_long_message_is_found_by_its_end(store: SqliteStore) -> None:
    await talk(store, "a", "filler " * 20_000 + "lastword")
    (hit,) = await store.search("lastword")
    assert hit.hit == "lastword"


async def test_a_session_with_many_hits_does_not_hide_the_others(store: SqliteStore) -> None:
    await talk(store, "a", "word")
    await talk(store, "b", *["word"] * 300)
    assert await ids(store, "word", limit=5) == ["b", "a"]


async def test_the_index_is_filled_when_a_turn_has_ended(store: SqliteStore) -> None:
    await talk(store, "a", "word")
    await store.update(info("a"))

    async def stale() -> Any:
        return await store._reader.do(lambda connection: connection.execute("SELECT * FROM stale").fetchall())

    for _ in range(1000):
        if not await stale():
            break
    assert await stale() == []
    assert await store._reader.do(search.find("word", None, 5, False)) != []


async def test_sessions_saved_without_an_index_are_found_once_it_exists(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(search_index, "make", lambda connection: False)
        await talk(store, "a", "early")
        assert await ids(store, "early") == ["a"]
    await talk(store, "b", "late")
    assert await ids(store, "late") == ["b"]
    assert await ids(store, "early") == ["a"]
    assert await store._reader.do(lambda connection: search_index.has_index(connection))


async def test_another_process_finds_messages_saved_by_this_one(store: SqliteStore) -> None:
    await talk(store, "a", "word")
    async with SqliteStore(store.path) as other:
        assert await ids(other, "word") == []  # nothing is in the file before it is saved
        waiting = store.save()
        assert waiting is None
        assert await ids(other, "word") == ["a"]
