"""The project's files as the agent uses them: on the user's screen where the client offers that, else on the disk.

Reading and writing text goes through the client when it can, so that unsaved changes are seen and kept. What the
protocol has no words for (listing, deleting, moving) happens on the disk, inside the session's roots either way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.errors import ConfigError, NotFound, RequestFailed
from accord.workspace.looking import Entry

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.workspace.checkpoints import Checkpoints, Restored
    from accord.workspace.files import Files
    from accord.workspace.roots import Roots


class DeskFiles:
    """One session's files. Paths may be relative to its working directory."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._checkpoints: Checkpoints | None = None
        self._noted: Turn | None = None

    @property
    def roots(self) -> Roots:
        return self._session.local.roots

    @property
    def disk(self) -> Files:
        """The files on the disk, for what only looks at many of them."""
        return self._session.local.files

    def absolute(self, path: str) -> str:
        return self._session.absolute(path)

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, unsaved changes included where the client shows it."""
        return await self._session.files.read(path, line=line, limit=limit)

    async def write(self, path: str, text: str) -> None:
        """Makes a text the content of a file."""
        if self._session.client.write_files and self._checkpoints is not None:
            # Our own writes note themselves. What the client writes for us is noted here.
            await self._checkpoints.note(self.absolute(path), await self._before(path), text)
        await self._session.files.write(path, text)

    async def _before(self, path: str) -> str | None:
        """What is about to be replaced; None for nothing. Not every client says clearly that there is no such file."""
        try:
            return await self.read(path)
        except NotFound:
            return None
        except RequestFailed:
            return await self.disk.read(self.absolute(path)) if await self.exists(path) else None

    async def exists(self, path: str) -> bool:
        return await self.disk.exists(self.absolute(path))

    async def list(self, path: str) -> list[Entry]:
        return await self.disk.list(self.absolute(path))

    async def delete(self, path: str) -> None:
        await self.disk.delete(self.absolute(path))

    async def move(self, source: str, target: str, *, overwrite: bool = False) -> None:
        await self.disk.move(self.absolute(source), self.absolute(target), overwrite=overwrite)

    # -- taking back

    @property
    def checkpoints(self) -> Checkpoints:
        """What can be brought back, turn by turn."""
        if self._checkpoints is None:
            from accord.workspace.checkpoints import Checkpoints, default_folder

            try:
                folder = default_folder(self.disk, self._session.id)
            except ValueError:
                raise ValueError("Accord's own data lies inside this project, where commands could change it") from None
            except ConfigError as error:  # nobody knows where the home folder is
                raise ValueError(str(error)) from None
            self._checkpoints = Checkpoints(self.disk, folder)
        return self._checkpoints

    async def checkpoint(self, turn: Turn) -> None:
        """Begins a checkpoint, once a turn, before its first change."""
        if self._noted is not turn:
            self._noted = turn
            await self.checkpoints.begin(" ".join(turn.text.split())[:80])

    def end_checkpoint(self) -> None:
        """Changes from now on are not the turn's."""
        self._noted = None
        if self._checkpoints is not None:
            self._checkpoints.end()

    async def undo(self) -> tuple[str, Restored] | None:
        """Brings back what the files were before the last turn that changed any. None when there is no such turn."""
        turns: list[tuple[str, str]] = []
        for each in self.checkpoints.all:
            if not each.is_restore and each.files:
                turns.append((each.id, each.label))
            elif each.is_restore and not each.is_undone:
                turns = [turn for turn in turns if f"restore of {turn[0]}" != each.label]
        if not turns:
            return None
        id, label = turns[-1]
        return label, await self._told(await self.checkpoints.restore(id))

    async def redo(self) -> Restored:
        """Takes back the last `undo`. Raises `NotFound` when there was none."""
        return await self._told(await self.checkpoints.undo_restore())

    async def _told(self, report: Restored) -> Restored:
        """A client that writes for us may show a file that has just changed on the disk: it is told what it holds."""
        if self._session.client.write_files:
            for path in report.restored:
                if await self.disk.exists(path):
                    await self._session.files.write(path, await self.disk.read(path))
        return report

    def close(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.close()
