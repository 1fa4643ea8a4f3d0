"""Sessions in one SQLite file: they outlive the process, also one that is killed.

`append` only notes what was said. `save` writes it, one transaction for everything said since the last one, on the
event loop itself: that takes some twenty microseconds, less than it takes to wake a thread. It never waits there: when
another process has the file, the thread of the writing hand waits in its place. In the same way nothing is read, no
index is filled and nothing is forced onto the disk but in threads.

Several processes may use one file, and several clients of one process one store, in one event loop at a time."""

from __future__ import annotations

import asyncio
import logging
import os
import weakref
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import suppress
from typing import Any

from accord.errors import StoreFailed
from accord.model.session import Option, SessionInfo
from accord.model.statement import Statement
from accord.store.base import Page, SessionStore
from accord.store.codec import Pack, Shown, Unpacker
from accord.store.hand import Hand
from accord.store.tending import Tending, is_stale

log = logging.getLogger("accord")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from accord.store.search import Hit


class SqliteStore(SessionStore):
    """Keeps sessions in a file; without a path, in `sessions.db` of the user's data folder.

    Nothing is opened, and SQLite not even imported, before the first session begins or is asked for."""

    durable = True

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._given = path
        self.unsaved = False
        self.skipped: dict[str, int] = {}
        """Of which kinds statements were met that this version does not know, and how many. They stay in the file."""
        self._packs: dict[str, Pack] = {}
        self._shown: dict[str, Shown] = {}
        self._entries: dict[str, SessionInfo] = {}
        self._saving: asyncio.Task[None] | None = None
        self._writer = Hand(self._where, "writer")
        self._reader = Hand(self._where, "reader")
        self._tender = Hand(self._where, "tender")
        self._tending = Tending(self._tender, self._where)
        self._end = weakref.finalize(self, _let_go, self._writer, self._reader, self._tender)

    @property
    def path(self) -> str:
        """The file."""
        return self._where()

    def _where(self) -> str:
        if self._given is None:
            from accord.config.folders import data_folder

            self._given = data_folder() / "sessions.db"
        return os.path.abspath(self._given)

    # -- what is said

    def append(self, session_id: str, statement: Statement) -> None:
        pack = self._packs.get(session_id)
        if pack is None:
            pack = self._packs[session_id] = Pack(self._shown.setdefault(session_id, {}))
        pack.add(statement)
        self.unsaved = True

    def save(self) -> Awaitable[None] | None:
        if not self.unsaved:
            return None
        if self._saving is None or self._saving.done():
            from accord.store.writing import batch

            packs, entries = self._packs, self._entries
            if self._writer.at_once(batch(packs, entries)):
                self._saved(packs, entries)
                return None
            self._saving = asyncio.get_running_loop().create_task(self._save_patiently())
            self._saving.add_done_callback(_look)
        return asyncio.shield(self._saving)

    async def _save_patiently(self) -> None:
        """In the thread, round by round until nothing is left: whoever waits has said something before."""
        from accord.store.writing import batch

        stopped = False
        while self._packs or self._entries:
            packs, self._packs = self._packs, {}
            entries, self._entries = self._entries, {}
            writing = self._writer.start(batch(packs, entries))
            while not writing.done():
                try:
                    await asyncio.wait({writing})
                except asyncio.CancelledError:
                    stopped = True  # the thread goes on; what it wrote must not be written once more
            if writing.exception() is not None:
                self._put_back(packs, entries)
                self._saving = None
                writing.result()
            self._tending.wrote(len(packs))
        self.unsaved = False
        self._saving = None
        if stopped:
            raise asyncio.CancelledError

    def _saved(self, packs: dict[str, Pack], entries: dict[str, SessionInfo]) -> None:
        self._packs, self._entries = {}, {}
        self.unsaved = False
        self._tending.wrote(len(packs))

    def _put_back(self, packs: dict[str, Pack], entries: dict[str, SessionInfo]) -> None:
        """Nothing is lost when it could not be written: it goes before what was said meanwhile."""
        for id, pack in packs.items():
            if id in self._packs:
                pack.put_before(self._packs[id])
            else:
                self._packs[id] = pack
        self._entries = {**entries, **self._entries}
        self.unsaved = True

    async def _settle(self) -> None:
        """What was said before is in the file."""
        while (waiting := self.save()) is not None:
            await waiting

    async def _settle_if_it_can_be(self) -> None:
        """The same, for those who can do without: a full disk can still be read."""
        with suppress(StoreFailed):
            await self._settle()

    # -- sessions

    async def create(self, info: SessionInfo) -> None:
        from accord.store.writing import create

        await self._settle()
        await self._writer.do(create(info))

    async def get(self, session_id: str) -> SessionInfo | None:
        from accord.store.reading import get

        await self._settle()
        return await self._reader.do(get(session_id))

    async def update(self, info: SessionInfo) -> None:
        """Called when a turn has ended, too: a good time to put the index in order, and what was said onto the disk."""
        self._entries[info.id] = info
        self.unsaved = True
        await self._settle()
        self._tending.rest()

    async def history(self, session_id: str) -> AsyncIterator[Statement]:
        from accord.store.reading import packs

        await self._settle()
        unpacker = Unpacker()
        after: int | None = None
        upto: int | None = None
        while after is None or after != upto:
            found, after, upto = await self._reader.do(packs(session_id, after, upto))
            for data in found:
                for statement in unpacker.read(data):
                    yield statement
        if unpacker.skipped:
            self._report(session_id, unpacker.skipped)

    def _report(self, session_id: str, skipped: dict[str, int]) -> None:
        for kind, count in skipped.items():
            self.skipped[kind] = self.skipped.get(kind, 0) + count
        words = ", ".join(f"{count} × {kind[:40]}" for kind, count in skipped.items())
        log.warning("session %s holds what this version of accord does not know (%s): skipped", session_id, words)

    async def options(self, session_id: str) -> list[Option]:
        from accord.store.reading import options

        await self._settle()
        return await self._reader.do(options(session_id))

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        from accord.store.reading import page

        await self._settle_if_it_can_be()
        return await self._reader.do(page(cwd, cursor, archived))

    async def starting(self, beginning: str, *, most: int = 1000) -> Sequence[str]:
        """The ids that begin so, newest first; `sess_` may be left out."""
        from accord.store.reading import starting

        await self._settle_if_it_can_be()
        return await self._reader.do(starting(beginning, most))

    async def delete(self, session_id: str) -> bool:
        from accord.store.writing import delete

        await self._settle()
        self._shown.pop(session_id, None)
        return await self._writer.do(delete(session_id))

    async def copy(self, session_id: str, info: SessionInfo) -> None:
        from accord.store.writing import copy

        await self._settle()
        await self._writer.do(copy(session_id, info))

    # -- finding

    async def search(
        self, text: str, *, cwd: str | None = None, limit: int = 20, thoughts: bool = False
    ) -> Sequence[Hit]:
        """The sessions in which these words were said (by the user, the agent, or as what a tool call was about).

        All words must be in one passage; those in quotes must stand together. What was said just now is found too."""
        from accord.store.search import find

        await self._settle_if_it_can_be()
        read = find(text, cwd, limit, thoughts)
        found = await self._reader.do(lambda connection: None if is_stale(connection) else read(connection))
        if found is None:
            with suppress(StoreFailed):  # what cannot be indexed now is found another time
                await self._tending.index()
            found = await self._reader.do(read)
        return found

    # -- the end

    async def close(self) -> None:
        await self._settle()
        hands = (self._tender, self._reader, self._writer)
        for hand in hands:
            await asyncio.get_running_loop().run_in_executor(None, hand.close)

    async def __aenter__(self) -> SqliteStore:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()


def _look(saving: asyncio.Task[None]) -> None:
    """A failure that nobody waited for is not worth a warning: it comes again with the next attempt."""
    if not saving.cancelled():
        saving.exception()


def _let_go(*hands: Hand) -> None:
    for hand in hands:
        hand.close()
