"""Files served to an agent, or used by one: inside the roots, as they are on screen, replaced whole.

    files = Files(Roots("/srv/app"))
    text = await files.read("/srv/app/notes.txt", line=10, limit=5)
    await files.write("/srv/app/notes.txt", text)

What a write keeps: permissions (but not set-user-id), owner and attributes where the system lets us, a byte order mark,
and a symbolic link on the way: the link stays and the file that it points to is replaced, provided that it lies in the
roots and exists. Other names of a file (hard links) keep the old content. Missing parent directories are made.

All of it happens in threads beside the event loop. A call that is cancelled before its last step changes nothing, and
whoever cancelled it goes on when that is settled. `disk` has the same calls for those who do not await."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from accord.workspace.changes import Change, Guard, Listener
from accord.workspace.disk import Disk
from accord.workspace.looking import MAX_READ_BYTES, Call, Entry
from accord.workspace.overlay import Buffer, Overlay
from accord.workspace.roots import Roots

T = TypeVar("T")

log = logging.getLogger("accord.workspace")


class Files:
    """Text files in the roots."""

    def __init__(
        self,
        roots: Roots,
        overlay: Overlay | None = None,
        *,
        max_read_bytes: int = MAX_READ_BYTES,
        sync: bool = True,
    ) -> None:
        """`max_read_bytes` is the most that one read gives. With `sync` the content is on the disk itself before it
        takes over the name, so that a power cut leaves the old file or the new one; without, only a kill is sure to."""
        self.roots = roots
        self.overlay = overlay if overlay is not None else Overlay()
        self.disk = Disk(roots, self.overlay, max_read_bytes=max_read_bytes, sync=sync)
        self._listeners: list[Listener] = []

    # -- the calls

    async def read(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, unsaved changes included: from a line on (counted from 1), at most `limit` lines."""
        return await self.away(self.disk.read, path, line, limit)

    async def write(self, path: str, text: str) -> None:
        """Makes a text the content of a file, which is made when it is not there."""
        buffer: Buffer | None = await self.away(self.disk.write, path, text)
        if buffer is not None:
            await self.give(buffer, text)

    async def delete(self, path: str) -> None:
        """Removes a file. Of a symbolic link, the link itself."""
        await self.away(self.disk.delete, path)

    async def move(self, source: str, target: str, *, overwrite: bool = False) -> None:
        """Gives a file another path, which must be free unless `overwrite` is said. A buffer on screen stays with the
        old path: its owner hears of the change and decides."""
        await self.away(self.disk.move, source, target, overwrite)

    async def exists(self, path: str) -> bool:
        """Whether there is a file, a directory or an unsaved buffer of this path."""
        return await self.away(self.disk.exists, path)

    async def list(self, path: str) -> list[Entry]:
        """What is in a directory, by name."""
        return await self.away(self.disk.list, path)

    # -- who hears of changes

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Has a function called after every change made through here, in the order they were made, on the event loop
        of the call. Gives the function that ends it."""
        self._listeners.append(listener)
        return functools.partial(self._listeners.remove, listener)

    def before_change(self, guard: Guard) -> Callable[[], None]:
        """Has a function called before every change, in the thread that makes it; it may refuse by raising."""
        self.disk.guards.append(guard)
        return functools.partial(self.disk.guards.remove, guard)

    def tell(self, change: Change) -> None:
        """Tells everyone who listens."""
        for listener in tuple(self._listeners):
            try:
                listener(change)
            except Exception:  # the change is made whatever a listener thinks of it, and the others want to know
                log.exception("a listener failed on a change of %s", change.path)

    # -- how it is done

    async def away(self, work: Callable[..., T], *args: object) -> T:
        """Does blocking work in a thread. Cancelling waits until the work has stopped, so that it is settled."""
        loop = asyncio.get_running_loop()

        def tell(change: Change) -> None:
            loop.call_soon_threadsafe(self.tell, change)

        call = Call(tell if self._listeners else None)
        running = asyncio.ensure_future(asyncio.to_thread(work, *args, call))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            call.is_wanted = False
            running.add_done_callback(_heard)
            await asyncio.wait([running])
            raise

    async def give(self, buffer: Buffer, text: str) -> None:
        """Has the owner of a buffer take a text."""
        assert buffer.owner is not None
        before = buffer.text
        taken = buffer.owner(buffer.path, text)
        if inspect.isawaitable(taken):
            await taken
        if buffer.text is before:  # else the owner has said what is on screen now
            buffer.text = text
        self.tell(Change(path=buffer.path, kind="changed", before=before, after=text))


def _heard(running: asyncio.Future[Any]) -> None:
    """Nobody waits for this any more; how it ended is of no interest."""
    if not running.cancelled():
        running.exception()
