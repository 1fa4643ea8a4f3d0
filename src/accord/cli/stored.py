"""The stored sessions, for commands that work on them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from accord.cli.failing import Failure

if TYPE_CHECKING:
    from accord.model.session import SessionInfo
    from accord.store.sqlite import SqliteStore
    from accord.transcript.transcript import Transcript

T = TypeVar("T")


def with_store(file: Path | None, work: Callable[[SqliteStore], Awaitable[T]], otherwise: T) -> T:
    """Does something with the stored sessions. Where there is no file, none is made."""
    import asyncio

    from accord.errors import StoreFailed

    async def do() -> T:
        async with _opened(file) as store:
            return await work(store) if store is not None else otherwise

    try:
        return asyncio.run(do())
    except StoreFailed as error:
        raise Failure(error.message) from error


@asynccontextmanager
async def _opened(file: Path | None) -> AsyncIterator[SqliteStore | None]:
    from accord.store.sqlite import SqliteStore

    store = SqliteStore(file)
    if not os.path.exists(store.path):  # noqa: ASYNC240  # nothing else runs in this loop
        if file is not None:
            raise Failure(f"there is no file {file}")
        yield None
        return
    async with store:
        yield store


def read(file: Path | None, id: str) -> tuple[SessionInfo, Transcript, dict[str, int]]:
    """A session, what it looks like, and what in it is of no known kind."""

    async def look(store: SqliteStore) -> tuple[SessionInfo, Transcript, dict[str, int]] | None:
        from accord.store.picture import picture

        info = await one(store, id)
        return info, await picture(info.id, store.history(info.id), info.cwd), store.skipped

    return with_store(file, look, None) or unknown(id)


async def one(store: SqliteStore, id: str) -> SessionInfo:
    """The session that is meant: by its id, or by its beginning when no other begins so."""
    id = id.encode("utf-8", "replace").decode()
    info = await store.get(id)
    if info is None:
        found = await store.starting(id, most=5) if id else []
        if len(found) > 1:
            raise Failure(
                f"{id!r} is the beginning of {', '.join(found)}{' …' if len(found) == 5 else ''}; say more of it"
            )
        info = await store.get(found[0]) if found else None
    return info if info is not None else unknown(id, await store.starting(""))


def unknown(id: str, known: Iterable[str] = ()) -> NoReturn:
    """Says that there is no such session, and which one may be meant."""
    from accord.config.agents import nearest

    close = nearest(id, known)
    raise Failure(f"there is no session {id!r}{f'; did you mean {close[0]}?' if close else ''}")
