"""Text files of a session: inside the roots, with unsaved changes of open buffers, and written atomically.

    files = Files(Roots("/srv/app"))
    text = await files.read("/srv/app/notes.txt", line=10, limit=5)
    await files.write("/srv/app/notes.txt", text)

A write preserves permissions (but not set-user-id), owner and attributes where possible, and a byte order mark. A
symbolic link is kept, and its target is replaced if it exists and is inside the roots. Other hard links of a file keep
the old content. Missing parent directories are created.

All work is done in threads. A call that is cancelled before its last step changes nothing; cancelling waits until that
is certain. `disk` has the same operations as blocking calls."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from accord.workspace.changes import Change, Guard, Listener
from accord.workspace.disk import MAX_READ_BYTES, Disk, Entry
from accord.workspace.overlay import Buffer, Overlay
from accord.workspace.place import Call
from accord.workspace.roots import Roots

T = TypeVar("T")

log: logging.Logger = logging.getLogger("accord.workspace")


class Files:
    """Text files inside the roots."""

    def __init__(
        self,
        roots: Roots,
        overlay: Overlay | None = None,
        *,
        max_read_bytes: int = MAX_READ_BYTES,
        sync: bool = True,
    ) -> None:
        """`max_read_bytes` limits one read. With `sync`, the content is flushed to disk before the rename, so that a
        power failure leaves the old or the new file; without it, only a killed process is safe."""
        self.roots = roots
        self.overlay: Overlay = overlay if overlay is not None else Overlay()
        self.disk: Disk = Disk(roots, self.overlay, max_read_bytes=max_read_bytes, sync=sync)
        self._listeners: list[Listener] = []

    # -- Operations

    async def read(self, path: str, line: int | None = None, limit: int | None = None, *, at: str | None = None) -> str:
        """Return the text of a file, including unsaved changes: from `line` (starting at 1), at most `limit` lines.

        `at` is the resolved path that was approved. Raises `Moved` if the path now points elsewhere."""
        return await self.run_blocking(self.disk.read, path, line, limit, at=at)

    async def write(self, path: str, text: str, *, at: str | None = None) -> None:
        """Write a text to a file, which is created if it doesn't exist. `at` is as for `read`."""
        buffer: Buffer | None = await self.run_blocking(self.disk.write, path, text, at=at)
        if buffer is not None:
            await self.hand_to_owner(buffer, text)

    async def delete(self, path: str, *, at: str | None = None) -> None:
        """Remove a file, or a symbolic link itself. `at` is as for `read`."""
        await self.run_blocking(self.disk.delete, path, at=at)

    async def move(
        self,
        source: str,
        target: str,
        *,
        overwrite: bool = False,
        at: str | None = None,
        target_at: str | None = None,
    ) -> None:
        """Move a file. The target must not exist unless `overwrite` is set. An open buffer stays with the old path; its
        owner is notified of the change. `at` and `target_at` are as for `read`."""
        await self.run_blocking(self.disk.move, source, target, overwrite, target_at, at=at)

    async def exists(self, path: str) -> bool:
        """Return whether a path is a file, a directory or an open buffer."""
        return await self.run_blocking(self.disk.exists, path)

    async def list(self, path: str) -> list[Entry]:
        """List a directory, sorted by name."""
        return await self.run_blocking(self.disk.list, path)

    # -- Listeners

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call a function after every change made through this object, in order, in the event loop of the call. Returns
        a function that removes the listener."""
        self._listeners.append(listener)
        return functools.partial(self._listeners.remove, listener)

    def before_change(self, guard: Guard) -> Callable[[], None]:
        """Call a function before every change, in the thread that makes it. It can raise to prevent the change."""
        self.disk.guards.append(guard)
        return functools.partial(self.disk.guards.remove, guard)

    def tell(self, change: Change) -> None:
        """Notify all listeners of a change."""
        for listener in tuple(self._listeners):
            try:
                listener(change)
            except Exception:  # the change was made, and the other listeners must be notified
                log.exception("a listener raised an exception for a change of %s", change.path)

    # -- Internals

    async def run_blocking(self, work: Callable[..., T], *args: object, at: str | None = None) -> T:
        """Run blocking work in a thread. Cancelling waits until the work has stopped, so that the outcome is known."""
        loop = asyncio.get_running_loop()

        def tell(change: Change) -> None:
            loop.call_soon_threadsafe(self.tell, change)

        call = Call(tell if self._listeners else None, at)
        running = asyncio.ensure_future(asyncio.to_thread(work, *args, call))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            call.is_wanted = False
            running.add_done_callback(_ignore_result)
            await asyncio.wait([running])
            raise

    async def hand_to_owner(self, buffer: Buffer, text: str) -> None:
        """Send a text to the owner of a buffer."""
        assert buffer.owner is not None
        before = buffer.text
        taken = buffer.owner(buffer.path, text)
        if inspect.isawaitable(taken):
            await taken
        if buffer.text is before:  # otherwise the owner has set the new text itself
            buffer.text = text
        self.tell(Change(path=buffer.path, kind="changed", before=before, after=text))


def _ignore_result(running: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a cancelled call, so that asyncio doesn't log it."""
    if not running.cancelled():
        running.exception()
