"""Open the session database and find sessions in it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from accord.cli.support.errors import CommandError

if TYPE_CHECKING:
    from accord.model.session import SessionInfo
    from accord.store.sqlite import SqliteStore
    from accord.transcript.transcript import Transcript

T = TypeVar("T")


def with_store(file: Path | None, work: Callable[[SqliteStore], Awaitable[T]], otherwise: T) -> T:
    """Run `work` with the session database. Return `otherwise` if there is none; it isn't created."""
    import asyncio

    from accord.errors import StoreFailed

    async def do() -> T:
        async with _opened(file) as store:
            return await work(store) if store is not None else otherwise

    try:
        return asyncio.run(do())
    except StoreFailed as error:
        raise CommandError(error.message) from error


@asynccontextmanager
async def _opened(file: Path | None) -> AsyncIterator[SqliteStore | None]:
    from accord.store.sqlite import SqliteStore

    store = SqliteStore(file)
    if not os.path.exists(store.path):  # noqa: ASYNC240  # no other task runs in this loop
        if file is not None:
            raise CommandError(f"{file} doesn't exist")
        yield None
        return
    async with store:
        yield store


def read(file: Path | None, id: str) -> tuple[SessionInfo, Transcript, dict[str, int]]:
    """Return a session, its transcript, and how many entries of unknown kinds it has, by kind."""

    async def look(store: SqliteStore) -> tuple[SessionInfo, Transcript, dict[str, int]] | None:
        from accord.store.fold import fold

        info = await find_session(store, id)
        return info, await fold(info.id, store.history(info.id), info.cwd), store.skipped

    return with_store(file, look, None) or raise_unknown(id)


async def find_session(store: SqliteStore, id: str) -> SessionInfo:
    """Find a session by its id or by a unique prefix of it."""
    id = id.encode("utf-8", "replace").decode()
    info = await store.get(id)
    if info is None:
        found = await store.find_by_prefix(id, most=5) if id else []
        if len(found) > 1:
            raise CommandError(f"{id!r} is ambiguous: {', '.join(found)}{', …' if len(found) == 5 else ''}")
        info = await store.get(found[0]) if found else None
    return info if info is not None else raise_unknown(id, await store.find_by_prefix(""))


def raise_unknown(id: str, known: Iterable[str] = ()) -> NoReturn:
    """Raise an error for a session that doesn't exist, with a suggestion."""
    from accord.config.agents import nearest

    close = nearest(id, known)
    raise CommandError(f"no session {id!r}{f'; did you mean {close[0]}?' if close else ''}")
