"""What every store of sessions must do, as tests. Whoever writes an engine runs them:

    from accord.testing.stores import StoreSuite

    class TestMyStore(StoreSuite):
        def new_store(self):
            return MyStore("somewhere", "fresh")

pytest finds the tests by their names; they need nothing of it but that coroutines are run (pytest-asyncio in its
automatic mode does). An engine whose sessions outlive the process gives them back in `reopened`."""

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
    """An entry."""
    return SessionInfo(id=id, cwd=cwd, **more)


def say(text: str, message_id: str = "m") -> s.Said:
    """A piece of an answer."""
    return s.Said(role="agent", message_id=message_id, content=c.TextContent(text))


async def listed(store: SessionStore, **how: Any) -> list[str]:
    """The ids of all sessions, page after page."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.list(cursor=cursor, **how)
        ids += [entry.id for entry in page.sessions]
        cursor = page.next_cursor
        if cursor is None:
            return ids


async def told(store: SessionStore, id: str) -> list[s.Statement]:
    """All that a session holds."""
    return [statement async for statement in store.history(id)]


class StoreSuite:
    """The behaviour of a store."""

    def new_store(self) -> SessionStore:
        """A store without sessions, for each test anew."""
        raise NotImplementedError

    async def reopened(self, store: SessionStore) -> SessionStore:
        """The same sessions as another process finds them; the store itself where they live in memory."""
        return store

    # -- entries

    async def test_a_session_is_kept_as_it_was_given(self) -> None:
        store = self.new_store()
        given = info(
            "a", "/p", title="T", updated_at="2026-01-01T00:00:00Z", additional_directories=["/q"], meta={"x": 1}
        )
        await store.create(given)
        again = await self.reopened(store)
        assert await again.get("a") == given
        assert await again.get("b") is None
        await again.close()

    async def test_an_id_is_given_once(self) -> None:
        store = self.new_store()
        await store.create(info("a", title="first"))
        store.append("a", say("kept"))
        with raising(LocalProtocolError):
            await store.create(info("a", title="second"))
        assert await told(store, "a") == [say("kept")]
        await store.close()

    async def test_a_changed_entry_is_kept_and_becomes_the_newest(self) -> None:
        store = self.new_store()
        for id in "abc":
            await store.create(info(id))
        await store.update(info("a", title="new"))
        await store.update(info("nobody"))
        again = await self.reopened(store)
        assert await listed(again) == ["a", "c", "b"]
        entry = await again.get("a")
        assert entry is not None
        assert entry.title == "new"
        await again.close()

    async def test_a_deleted_session_is_forgotten(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("gone"))
        assert await store.delete("a") is True
        assert await store.delete("a") is False
        store.append("a", say("too late"))
        again = await self.reopened(store)
        assert (await again.get("a"), await told(again, "a"), await listed(again)) == (None, [], [])
        await again.close()

    async def test_an_id_that_was_deleted_begins_anew(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("before"))
        await store.delete("a")
        await store.create(info("a"))
        store.append("a", say("after"))
        assert await told(store, "a") == [say("after")]
        await store.close()

    # -- what was said

    async def test_everything_that_can_be_said_is_told_again_exactly(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        for statement in EVERYTHING:
            store.append("a", statement)
        again = await self.reopened(store)
        found = await told(again, "a")
        for was, now in zip(EVERYTHING, found, strict=True):
            assert now == was, f"{type(was).__name__} came back as {now}"
        await again.close()

    async def test_it_makes_no_difference_when_it_was_saved(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        for statement in EVERYTHING:
            store.append("a", statement)
            await saved(store)
            assert store.unsaved is False
        again = await self.reopened(store)
        assert await told(again, "a") == EVERYTHING
        await again.close()

    async def test_what_changes_after_it_was_said_is_kept_as_it_was_said(self) -> None:
        store = self.new_store()
        if not store.durable:
            return  # what is kept in memory is what was given
        await store.create(info("a"))
        arguments = {"path": "/p"}
        store.append("a", s.ToolPatch(id="c", raw_input=arguments))
        arguments["path"] = "/other"
        assert await told(store, "a") == [s.ToolPatch(id="c", raw_input={"path": "/p"})]
        await store.close()

    async def test_sessions_do_not_hear_each_other(self) -> None:
        store = self.new_store()
        for id in "ab":
            await store.create(info(id))
        for number in range(30):
            store.append("ab"[number % 2], say(str(number)))
            if number % 7 == 0:
                await saved(store)
        again = await self.reopened(store)
        assert await told(again, "a") == [say(str(number)) for number in range(0, 30, 2)]
        assert await told(again, "b") == [say(str(number)) for number in range(1, 30, 2)]
        assert await told(again, "c") == []
        await again.close()

    async def test_a_long_history_comes_whole(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        for number in range(5000):
            store.append("a", say(str(number), f"m{number // 300}"))
            if number % 2 == 0:
                await saved(store)
        store.append("a", say("x" * 2_000_000))
        assert await told(store, "a") == [
            *(say(str(number), f"m{number // 300}") for number in range(5000)),
            say("x" * 2_000_000),
        ]
        await store.close()

    async def test_what_is_said_while_it_is_told_is_not_told(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("before"))
        heard = []
        async for statement in store.history("a"):
            heard.append(statement)
            store.append("a", say("meanwhile"))
        assert heard == [say("before")]
        await store.close()

    async def test_the_options_are_those_last_told(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        assert await store.options("a") == []
        for value in ("x", "y"):
            store.append("a", s.OptionsAre(options=[m.Option(id="o", name="O", value=value)]))
            store.append("a", say("between"))
        again = await self.reopened(store)
        assert [option.value for option in await again.options("a")] == ["y"]
        assert await again.options("nobody") == []
        await again.close()

    async def test_a_copy_has_the_history_and_a_life_of_its_own(self) -> None:
        store = self.new_store()
        await store.create(info("a"))
        store.append("a", say("both"))
        store.append("a", s.OptionsAre(options=[m.Option(id="o", name="O", value="v")]))
        shared = [say("both"), s.OptionsAre(options=[m.Option(id="o", name="O", value="v")])]
        await store.copy("a", info("b", "/elsewhere", title="Copy"))
        store.append("a", say("only a"))
        store.append("b", say("only b"))
        await store.copy("nobody", info("c"))
        again = await self.reopened(store)
        assert await told(again, "a") == [*shared, say("only a")]
        assert await told(again, "b") == [*shared, say("only b")]
        assert await told(again, "c") == []
        assert [option.value for option in await again.options("b")] == ["v"]
        assert await again.get("b") == info("b", "/elsewhere", title="Copy")
        assert await again.delete("a")
        assert await told(again, "b") == [*shared, say("only b")]
        await again.close()

    # -- lists

    async def test_pages_follow_one_another(self) -> None:
        store = self.new_store()
        for number in range(120):
            await store.create(info(f"s{number}"))
        first = await store.list()
        again = await self.reopened(store)
        assert len(first.sessions) == 50
        assert await listed(again) == [f"s{number}" for number in reversed(range(120))]
        await again.close()

    async def test_what_comes_between_two_pages_shifts_nothing(self) -> None:
        store = self.new_store()
        for number in range(60):
            await store.create(info(f"s{number}"))
        first = await store.list()
        await store.create(info("new"))
        await store.update(info("s59", title="moved"))
        await store.delete("s9")  # the one with which the next page would have begun
        second = await store.list(cursor=first.next_cursor)
        assert [entry.id for entry in second.sessions] == [f"s{number}" for number in reversed(range(9))]
        assert second.next_cursor is None
        await store.close()

    async def test_a_cursor_that_was_made_up_is_refused(self) -> None:
        store = self.new_store()
        for number in range(51):
            await store.create(info(f"s{number}"))
        good = (await store.list()).next_cursor
        assert good is not None
        for bad in ("", "zzz", "1", "1-", "-1", good + "0", "0" + good, "ff-00000000", "\0", "é" * 5, "1" * 500):
            with raising(InvalidParams):
                await store.list(cursor=bad)
        assert [entry.id for entry in (await store.list(cursor=good)).sessions] == ["s0"]
        await store.close()

    async def test_lists_are_of_one_folder_exactly(self) -> None:
        store = self.new_store()
        for number in range(130):
            await store.create(info(f"s{number}", ["/p", "/p/", "/P"][number % 3]))
        assert await listed(store, cwd="/p") == [f"s{number}" for number in reversed(range(0, 130, 3))]
        assert await listed(store, cwd="/p/sub") == []
        assert await listed(store, cwd="%") == []
        await store.close()

    async def test_archived_sessions_are_listed_when_they_are_asked_for(self) -> None:
        store = self.new_store()
        for id in "abcd":
            await store.create(info(id, "/p" if id < "c" else "/q"))
        await store.update(info("b", "/p", archived=True))
        await store.update(info("c", "/q", archived=True))
        await store.update(info("c", "/q", archived=False))
        assert await listed(store) == ["c", "d", "a"]
        assert await listed(store, archived="only") == ["b"]
        assert await listed(store, archived="include") == ["c", "b", "d", "a"]
        assert await listed(store, archived="include", cwd="/p") == ["b", "a"]
        assert await listed(store, cwd="/p") == ["a"]
        await store.close()


@contextmanager
def raising(kind: type[Exception]) -> Iterator[None]:
    """Something must fail in this way."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"nothing raised {kind.__name__}")


async def saved(store: SessionStore) -> None:
    """Waits until what was appended is durable."""
    waiting = store.save()
    if waiting is not None:
        await waiting
