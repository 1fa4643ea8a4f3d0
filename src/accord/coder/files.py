"""The project's files as the agent uses them: on the user's screen where the client offers that, else on the disk.

Reading and writing text goes through the client when it can, so that unsaved changes are seen and kept. What the
protocol has no words for (listing, deleting, moving) happens on the disk, inside the session's roots either way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.workspace.looking import Entry

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.workspace.files import Files
    from accord.workspace.roots import Roots


class DeskFiles:
    """One session's files. Paths may be relative to its working directory."""

    def __init__(self, session: Session) -> None:
        self._session = session

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
        await self._session.files.write(path, text)

    async def exists(self, path: str) -> bool:
        return await self.disk.exists(self.absolute(path))

    async def list(self, path: str) -> list[Entry]:
        return await self.disk.list(self.absolute(path))

    async def delete(self, path: str) -> None:
        await self.disk.delete(self.absolute(path))

    async def move(self, source: str, target: str, *, overwrite: bool = False) -> None:
        await self.disk.move(self.absolute(source), self.absolute(target), overwrite=overwrite)
