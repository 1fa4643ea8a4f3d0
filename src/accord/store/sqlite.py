"""A store in one SQLite file. Sessions survive the process, even `kill -9`.

`append` only collects statements. `save` writes them in one transaction on the event loop itself: that takes about
twenty microseconds, less than waking a thread. It never blocks the loop: if another process holds the file, the writer
thread waits instead. Reading, indexing and syncing to disk always happen in threads.

Several processes may use one file, and several clients of one process one store, in one event loop at a time."""

from __future__ import annotations

import asyncio
import logging
import os
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from accord.errors import StoreFailed
from accord.model.session import Option, SessionInfo
from accord.model.statement import Statement
from accord.store.base import Page, SessionStore
from accord.store.maintenance import Maintenance, is_stale
from accord.store.packs import Pack, Shown, Unpacker
from accord.store.worker import Worker

log: logging.Logger = logging.getLogger("accord")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from accord.store.search import Hit
    from accord.store.summary import Summary

T = TypeVar("T")


class SqliteStore(SessionStore):
    """Saves sessions in a file; the default is `sessions.db` in the user's data directory.

    The file is opened, and SQLite imported, when the first session is created or requested."""

    durable = True

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._given = path
        self.unsaved = False
        self.skipped: dict[str, int] = {}
        """The number of statements of unknown kinds, by kind. They stay in the file."""
        self._packs: dict[str, Pack] = {}
        self._shown: dict[str, Shown] = {}
        self._entries: dict[str, SessionInfo] = {}
        self._saving: asyncio.Task[None] | None = None
        self._writer = Worker(self._where, "writer")
        self._reader = Worker(self._where, "reader")
        self._maintainer = Worker(self._where, "maintenance")
        self._maintenance = Maintenance(self._maintainer, self._where)
        self._end = weakref.finalize(self, _close, self._writer, self._reader, self._maintainer)

    @property
    def path(self) -> str:
        """The file."""
        return self._where()

    def _where(self) -> str:
        if self._given is None:
            from accord.config.directories import data_directory

            self._given = data_directory() / "sessions.db"
        return os.path.abspath(self._given)

    # -- statements

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
            from accord.store.queries import batch

            packs, entries = self._packs, self._entries
            if self._writer.try_now(batch(packs, entries)):
                self._mark_saved(packs, entries)
                return None
            self._saving = asyncio.get_running_loop().create_task(self._save_in_thread())
            self._saving.add_done_callback(_ignore_error)
        return asyncio.shield(self._saving)

    async def _save_in_thread(self) -> None:
        """Save in the thread until nothing is left, because every waiting caller has appended something."""
        from accord.store.queries import batch

        stopped = False
        while self._packs or self._entries:
            packs, self._packs = self._packs, {}
            entries, self._entries = self._entries, {}
            writing = self._writer.start(batch(packs, entries))
            while not writing.done():
                try:
                    await asyncio.wait({writing})
                except asyncio.CancelledError:
                    stopped = True  # the thread continues, and its work must not be written twice
            if writing.exception() is not None:
                self._put_back(packs, entries)
                self._saving = None
                writing.result()
            self._maintenance.note_saved(len(packs))
        self.unsaved = False
        self._saving = None
        if stopped:
            raise asyncio.CancelledError

    def _mark_saved(self, packs: dict[str, Pack], entries: dict[str, SessionInfo]) -> None:
        self._packs, self._entries = {}, {}
        self.unsaved = False
        self._maintenance.note_saved(len(packs))

    def _put_back(self, packs: dict[str, Pack], entries: dict[str, SessionInfo]) -> None:
        """Restore statements after a failed write, before those appended meanwhile."""
        for id, pack in packs.items():
            if id in self._packs:
                pack.prepend_to(self._packs[id])
            else:
                self._packs[id] = pack
        self._entries = {**entries, **self._entries}
        self.unsaved = True

    async def _flush(self) -> None:
        """Save everything that was appended."""
        while (waiting := self.save()) is not None:
            await waiting

    async def _try_flush(self) -> None:
        """Save if possible. Used before reads, which must work even if the disk is full."""
        with suppress(StoreFailed):
            await self._flush()

    # -- sessions

    async def create(self, info: SessionInfo) -> None:
        from accord.store.queries import create

        await self._flush()
        await self._writer.do(create(info))

    async def get(self, session_id: str) -> SessionInfo | None:
        from accord.store.queries import get

        await self._flush()
        return await self._reader.do(get(session_id))

    async def update(self, info: SessionInfo) -> None:
        """Update a session's entry, and start maintenance: this is also called when a turn has ended."""
        self._entries[info.id] = info
        self.unsaved: bool = True
        await self._flush()
        self._maintenance.run_soon()

    async def history(self, session_id: str) -> AsyncIterator[Statement]:
        from accord.store.queries import packs

        await self._flush()
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
        counts = ", ".join(f"{count} × {kind[:40]}" for kind, count in skipped.items())
        log.warning("session %s: skipped entries that this version of Accord doesn't know (%s)", session_id, counts)

    async def options(self, session_id: str) -> list[Option]:
        from accord.store.queries import options

        await self._flush()
        return await self._reader.do(options(session_id))

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, archived: str = "exclude") -> Page:
        from accord.store.queries import page

        await self._try_flush()
        return await self._reader.do(page(cwd, cursor, archived))

    async def find_by_prefix(self, beginning: str, *, most: int = 1000) -> Sequence[str]:
        """Return the ids with a prefix, newest first; `sess_` may be omitted."""
        from accord.store.queries import find_by_prefix

        await self._try_flush()
        return await self._reader.do(find_by_prefix(beginning, most))

    async def delete(self, session_id: str) -> bool:
        from accord.store.queries import delete

        await self._flush()
        self._shown.pop(session_id, None)
        return await self._writer.do(delete(session_id))

    async def copy(self, session_id: str, info: SessionInfo) -> None:
        from accord.store.queries import copy

        await self._flush()
        await self._writer.do(copy(session_id, info))

    # -- search

    async def search(
        self, text: str, *, cwd: str | None = None, limit: int = 20, thoughts: bool = False
    ) -> Sequence[Hit]:
        """Find sessions by words in messages, titles, and the titles and paths of tool calls.

        All words must occur in one passage; a quoted phrase must occur as written. Unsaved statements are included."""
        from accord.store.search import find

        return await self._read_indexed(find(text, cwd, limit, thoughts))

    async def summarize(self, session_ids: Sequence[str]) -> dict[str, Summary]:
        """Count the messages of sessions and find the latest prompt of each. Sessions without any are left out."""
        from accord.store.summary import summarize

        return await self._read_indexed(summarize(session_ids))

    async def _read_indexed(self, read: Callable[[Connection], T]) -> T:
        """Read the search index; update it before that if statements are missing."""
        await self._try_flush()
        found = await self._reader.do(lambda connection: None if is_stale(connection) else read(connection))
        if found is None:
            with suppress(StoreFailed):  # use the index as it is
                await self._maintenance.index()
            found = await self._reader.do(read)
        return found

    # -- the end

    async def close(self) -> None:
        await self._flush()
        workers = (self._maintainer, self._reader, self._writer)
        for worker in workers:
            await asyncio.get_running_loop().run_in_executor(None, worker.close)

    async def __aenter__(self) -> SqliteStore:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()


def _ignore_error(saving: asyncio.Task[None]) -> None:
    """Retrieve the exception, so that asyncio doesn't log it: the next attempt raises it again."""
    if not saving.cancelled():
        saving.exception()


def _close(*workers: Worker) -> None:
    for worker in workers:
        worker.close()
