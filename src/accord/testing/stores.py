"""Tests that every session store must pass. To run them for your own store:

    from accord.testing.stores import StoreSuite

    class TestMyStore(StoreSuite):
        def new_store(self):
            return MyStore("somewhere", "fresh")

pytest finds the tests by their names. They are coroutines, so use a plugin such as pytest-asyncio in automatic mode. If
sessions outlive the process, override `reopen` too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from accord.errors import InvalidParams, LocalProtocolError
from accord.model import content as c
from accord.model import session as m
from accord.model import statement as s
from accord.model.session import SessionInfo
from accord.store.base import SessionStore
from accord.testing.statements import EVERYTHING


def info(id: str, cwd: str = "/project", **more: Any) -> SessionInfo:
    """Create the list entry of a session."""
    return SessionInfo(id=id, cwd=cwd, **more)


def say(text: str, message_id: str = "m") -> s.MessageChunk:
    """Create a chunk of an agent message."""
    return s.MessageChunk(role="agent", message_id=message_id, content=c.TextContent(text))


async def list_ids(store: SessionStore, **how: Any) -> list[str]:
    """Return the ids of all sessions, page by page."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.list(cursor=cursor, **how)
        ids += [entry.id for entry in page.sessions]
        cursor = page.next_cursor
        if cursor is None:
            return ids


async def read_history(store: SessionStore, id: str) -> list[s.Statement]:
    """Return all statements of a session."""
    return [statement async for statement in store.history(id)]


class StoreSuite:
    """Tests of one kind of store."""

    def new_store(self) -> SessionStore:
        """Return a new store without sessions. Called once per test."""
        raise NotImplementedError

    async def reopen(self, store: SessionStore) -> SessionStore:
        """Open the sessions of a store as another process would. By default, the store itself."""
        return store

    # -- entries

    async def test_a_session_is_saved_unchanged(self) -> None:
        store = self.new_store()
        given = info(
            "a", "/p", title="T", updated_at="2026-01-01T00:00:00Z", additional_directories=["/q"], meta={"x": 1}
        )
        await store.create(given)
        again = await self.reopen(store)
        assert await again.get("a") == given
        assert await again.get("b") is None
        await again.close()

    async def test_an_id_can_be_used_only_once(self) -> None:
        store = self.new_store()
        await store.create(info("a", title="first"))
        store.append("a", say("kept"))
        with expect_error(LocalProtocolError):
            await store.create(info("a", title="second"))
        assert await read_history(store, "a") == [say("kept")]
        await store.close()

    async def test_an_updated_entry_is_saved_and_listed_first(self) -> None:
        store = self.new_store()
        for id in "abc":
            await store.create(info(id))
        await store.update(info("a", title="new"))
        await store.update(info("nobody"))
        again = await self.reopen(store)
        assert await list_ids(again) == ["a", "c", "b"]
        entry = await again.get("a")
        assert entry is not None
        assert entry.title == "new"
        await again.close()

    async def test_a_deleted_session_is_gone(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("gone"))
        assert await store.delete("a") is True
        assert await store.delete("a") is False
        store.append("a", say("too late"))
        again = await self.reopen(store)
        assert (await again.get("a"), await read_history(again, "a"), await list_ids(again)) == (None, [], [])
        await again.close()

    async def test_the_id_of_a_deleted_session_can_be_used_again(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("before"))
        await store.delete("a")
        await store.create(info("a"))
        store.append("a", say("after"))
        assert await read_history(store, "a") == [say("after")]
        await store.close()

    # -- history

    async def test_every_kind_of_statement_is_read_back_unchanged(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        for statement in EVERYTHING:
            store.append("a", statement)
        again = await self.reopen(store)
        found = await read_history(again, "a")
        for was, now in zip(EVERYTHING, found, strict=True):
            assert now == was, f"{type(was).__name__} came back as {now}"
        await again.close()

    async def test_saving_after_every_statement_changes_nothing(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        for statement in EVERYTHING:
            store.append("a", statement)
            await save(store)
            assert store.unsaved is False
        again = await self.reopen(store)
        assert await read_history(again, "a") == EVERYTHING
        await again.close()

    async def test_data_that_changes_later_is_saved_as_it_was(self) -> None:
        store = self.new_store()
        if not store.durable:
            return  # a store in memory holds references to the same objects
        await store.create(info("a"))
        arguments = {"path": "/p"}
        store.append("a", s.ToolPatch(id="c", raw_input=arguments))
        arguments["path"] = "/other"
        assert await read_history(store, "a") == [s.ToolPatch(id="c", raw_input={"path": "/p"})]
        await store.close()

    async def test_sessions_do_not_mix(self) -> None:
        store = self.new_store()
        for id in "ab":
            await store.create(info(id))
        for number in range(30):
            store.append("ab"[number % 2], say(str(number)))
            if number % 7 == 0:
                await save(store)
        again = await self.reopen(store)
        assert await read_history(again, "a") == [say(str(number)) for number in range(0, 30, 2)]
        assert await read_history(again, "b") == [say(str(number)) for number in range(1, 30, 2)]
        assert await read_history(again, "c") == []
        await again.close()

    async def test_a_long_history_is_complete(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        for number in range(5000):
            store.append("a", say(str(number), f"m{number // 300}"))
            if number % 2 == 0:
                await save(store)
        store.append("a", say("x" * 2_000_000))
        assert await read_history(store, "a") == [
            *(say(str(number), f"m{number // 300}") for number in range(5000)),
            say("x" * 2_000_000),
        ]
        await store.close()

    async def test_statements_added_while_reading_are_not_read(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("before"))
        read = []
        async for statement in store.history("a"):
            read.append(statement)
            store.append("a", say("meanwhile"))
        assert read == [say("before")]
        await store.close()

    async def test_the_options_are_the_latest_ones(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        assert await store.options("a") == []
        for value in ("x", "y"):
            store.append("a", s.SetOptions(options=[m.Option(id="o", name="O", value=value)]))
            store.append("a", say("between"))
        again = await self.reopen(store)
        assert [option.value for option in await again.options("a")] == ["y"]
        assert await again.options("nobody") == []
        await again.close()

    async def test_a_copy_has_the_history_and_then_its_own_statements(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("both"))
        store.append("a", s.SetOptions(options=[m.Option(id="o", name="O", value="v")]))
        shared = [say("both"), s.SetOptions(options=[m.Option(id="o", name="O", value="v")])]
        await store.copy("a", info("b", "/elsewhere", title="Copy"))
        store.append("a", say("only a"))
        store.append("b", say("only b"))
        await store.copy("nobody", info("c"))
        again = await self.reopen(store)
        assert await read_history(again, "a") == [*shared, say("only a")]
        assert await read_history(again, "b") == [*shared, say("only b")]
        assert await read_history(again, "c") == []
        assert [option.value for option in await again.options("b")] == ["v"]
        assert await again.get("b") == info("b", "/elsewhere", title="Copy")
        assert await again.delete("a")
        assert await read_history(again, "b") == [*shared, say("only b")]
        await again.close()

    # -- lists

    async def test_pages_follow_one_another(self) -> None:
        store = self.new_store()
        for number in range(120):
            await store.create(info(f"s{number}"))
        first = await store.list()
        again = await self.reopen(store)
        assert len(first.sessions) == 50
        assert await list_ids(again) == [f"s{number}" for number in reversed(range(120))]
        await again.close()

    async def test_changes_between_two_pages_shift_nothing(self) -> None:
        store = self.new_store()
        for number in range(60):
            await store.create(info(f"s{number}"))
        first = await store.list()
        await store.create(info("new"))
        await store.update(info("s59", title="moved"))
        await store.delete("s9")  # the first session of the next page
        second = await store.list(cursor=first.next_cursor)
        assert [entry.id for entry in second.sessions] == [f"s{number}" for number in reversed(range(9))]
        assert second.next_cursor is None
        await store.close()

    async def test_an_invalid_cursor_is_rejected(self) -> None:
        store = self.new_store()
        for number in range(51):
            await store.create(info(f"s{number}"))
        good = (await store.list()).next_cursor
        assert good is not None
        for bad in ("", "zzz", "1", "1-", "-1", good + "0", "0" + good, "ff-00000000", "\0", "é" * 5, "1" * 500):
            with expect_error(InvalidParams):
                await store.list(cursor=bad)
        assert [entry.id for entry in (await store.list(cursor=good)).sessions] == ["s0"]
        await store.close()

    async def test_a_list_matches_its_directory_exactly(self) -> None:
        store = self.new_store()
        for number in range(130):
            await store.create(info(f"s{number}", ["/p", "/p/", "/P"][number % 3]))
        assert await list_ids(store, cwd="/p") == [f"s{number}" for number in reversed(range(0, 130, 3))]
        assert await list_ids(store, cwd="/p/sub") == []
        assert await list_ids(store, cwd="%") == []
        await store.close()

    async def test_archived_sessions_are_listed_on_request(self) -> None:
        store = self.new_store()
        for id in "abcd":
            await store.create(info(id, "/p" if id < "c" else "/q"))
        await store.update(info("b", "/p", archived=True))
        await store.update(info("c", "/q", archived=True))
        await store.update(info("c", "/q", archived=False))
        assert await list_ids(store) == ["c", "d", "a"]
        assert await list_ids(store, archived="only") == ["b"]
        assert await list_ids(store, archived="include") == ["c", "b", "d", "a"]
        assert await list_ids(store, archived="include", cwd="/p") == ["b", "a"]
        assert await list_ids(store, cwd="/p") == ["a"]
        await store.close()


@contextmanager
def expect_error(kind: type[Exception]) -> Iterator[None]:
    """Fail unless the block raises this exception."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"nothing raised {kind.__name__}")


async def save(store: SessionStore) -> None:
    """Wait until all statements are durable."""
    waiting = store.save()
    if waiting is not None:
        await waiting
