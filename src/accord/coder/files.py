"""The project's files, through the client if it offers them, else on disk.

Text is read and written through the client if possible, so that unsaved changes are seen and preserved. The protocol
has no methods for listing, deleting and moving; these happen on disk. Everything stays inside the session's roots."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from accord.coder.tools.text import cut
from accord.config.directories import data_directory
from accord.errors import ConfigError, RemoteProtocolError, RequestFailed
from accord.process.thread import run_in_thread
from accord.workspace.changes import ABSENT, State, file_state
from accord.workspace.disk import Entry

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.workspace.checkpoints import Checkpoints, Restored
    from accord.workspace.files import Files
    from accord.workspace.place import Place
    from accord.workspace.roots import Roots

Stamp = tuple[int, int, int, int]
"""Size, times and inode of a file. While they stay the same, so does its text."""


class ProjectFiles:
    """One session's files. Paths may be relative to its working directory."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._checkpoints: Checkpoints | None = None
        self._checkpointed: Turn | None = None
        self._outside: Files | None = None
        self.written: dict[str, str] = {}
        """The digest of the text last written to each file since `watch_writes`, by resolved path."""

    @property
    def roots(self) -> Roots:
        return self._session.local.roots

    @property
    def disk(self) -> Files:
        """The files on disk, for tools that look at many of them."""
        return self._session.local.files

    @property
    def outside(self) -> Files:
        """All files of the computer, to read those that the user or a rule has allowed."""
        if self._outside is None:
            from accord.workspace.files import Files
            from accord.workspace.roots import Roots

            self._outside = Files(Roots(os.path.abspath(os.sep)))
        return self._outside

    @property
    def has_client_files(self) -> bool:
        """Whether files are read through the client, which may have unsaved changes."""
        return self._session.client.offers.read_files

    def absolute(self, path: str) -> str:
        return self._session.absolute(path)

    async def stamp(self, path: str, *, is_outside: bool = False) -> Stamp | None:
        """Return the stamp of a file on disk; None if there is none."""
        files = self.outside if is_outside else self.disk

        def make_stamp(place: Place) -> Stamp | None:
            status = place.status
            return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) if status else None

        try:
            return await files.run_blocking(lambda _: files.roots.at(path, make_stamp))
        except RequestFailed:
            return None

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None, at: str | None = None) -> str:
        """Return the text of a file, including unsaved changes in the client.

        `at` is the resolved path that was decided about. On disk, raises `Moved` if the path now leads elsewhere."""
        return await self._session.files.read(path, line=line, limit=limit, at=at)

    async def write(self, path: str, text: str, *, at: str | None = None) -> None:
        """Write a text to a file. `at` is as for `read`."""
        if not self._session.client.offers.write_files:
            await self._session.files.write(path, text, at=at)  # records the change itself
            return
        before = await self._read_if_exists(path)
        self._note_write(self.absolute(path), ABSENT, file_state(text.encode()), ())
        if self._checkpoints is not None:
            await self._checkpoints.note(self.absolute(path), before, text)
        await self._session.files.write(path, text)
        if before != text and await self._read_if_exists(path) == before:
            # marimo reports success for a new file, but writes nothing.
            await self.disk.write(self.absolute(path), text, at=at)

    async def _read_if_exists(self, path: str) -> str | None:
        """Read a file through the client; None if it doesn't exist, whichever error the client uses for that."""
        text: str | None = None
        with contextlib.suppress(RequestFailed, RemoteProtocolError):
            text = await self.read(path)
        is_there = await self.exists(path)
        if text or (text is not None and is_there):
            return text
        return await self.disk.read(self.absolute(path)) if is_there else None

    async def exists(self, path: str) -> bool:
        return await self.disk.exists(self.absolute(path))

    async def list(self, path: str) -> list[Entry]:
        return await self.disk.list(self.absolute(path))

    async def delete(self, path: str, *, at: str | None = None) -> None:
        await self.disk.delete(self.absolute(path), at=at)

    async def move(self, source: str, target: str, *, at: str | None = None, target_at: str | None = None) -> None:
        await self.disk.move(self.absolute(source), self.absolute(target), at=at, target_at=target_at)

    def watch_writes(self) -> None:
        """Start to record the texts that are written."""
        self.disk.before_change(self._note_write)

    def _note_write(self, path: str, before: State, after: State, made_directories: tuple[str, ...]) -> None:
        self.written[os.path.realpath(path)] = after.digest

    # -- undo

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints of this session, one per turn."""
        if self._checkpoints is None:
            from accord.workspace.checkpoints import Checkpoints, default_directory

            try:
                directory = default_directory(self.disk, self._session.id)
            except ValueError:
                raise ValueError("Accord's data directory is in this project, where commands could change it") from None
            except ConfigError as error:  # no home directory
                raise ValueError(str(error)) from None
            self._checkpoints = Checkpoints(self.disk, directory)
        return self._checkpoints

    async def checkpoint(self, turn: Turn, *, is_recorded: bool = True) -> None:
        """Start a checkpoint before the first change of a turn.

        A change that isn't `is_recorded` is made by another program, and found at the end of the turn."""
        if self._checkpointed is not turn:
            self._checkpointed = turn
            if self._checkpoints is None:
                from accord.workspace.checkpoints import remove_old

                await run_in_thread(remove_old, str(data_directory()))
            await self.checkpoints.begin(cut(" ".join(turn.text.split()), 80))
        if not is_recorded:
            await self.checkpoints.before_commands()

    def end_change(self) -> None:
        """Note that an unrecorded change has ended."""
        if self._checkpoints is not None:
            self._checkpoints.command_ended()

    async def end_checkpoint(self) -> None:
        """End the turn's checkpoint."""
        self._checkpointed = None
        if self._checkpoints is not None:
            try:
                await self._checkpoints.after_commands()
            finally:
                self._checkpoints.end()

    async def undo(self) -> tuple[str, Restored] | None:
        """Restore the files as they were before the last turn that changed any; None if there is no such turn.

        Returns the turn's label and a report."""
        turns: list[tuple[str, str]] = []
        for each in self.checkpoints.all:
            if not each.is_restore and each.files:
                turns.append((each.id, each.label))
            elif each.is_restore and not each.is_undone:
                turns = [turn for turn in turns if turn[0] != each.restores]
        if not turns:
            return None
        id, label = turns[-1]
        return label, await self._refresh_client(await self.checkpoints.restore(id))

    @property
    def uncovered(self) -> str:
        """A note about changes of commands that `/undo` can't restore, from the last turn with changes."""
        return next((each.commands for each in reversed(self.checkpoints.all) if not each.is_restore), "")

    async def redo(self) -> Restored:
        """Revert the last `undo`. Raises `NotFound` if there was none."""
        return await self._refresh_client(await self.checkpoints.undo_restore())

    async def _refresh_client(self, report: Restored) -> Restored:
        """Write restored files through the client as well: it may show the old text."""
        if self._session.client.offers.write_files:
            for path in report.restored:
                with contextlib.suppress(RequestFailed):  # a binary file, or a link: no editor has text of it
                    if await self.disk.exists(path):
                        await self._session.files.write(path, await self.disk.read(path))
        return report

    def close(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.close()
        if self._outside is not None:
            self._outside.roots.close()
