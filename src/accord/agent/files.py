"""Files: through the client where it offers that (what is on the user's screen, unsaved changes included), else from
the disk, inside the session's directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.agent.session import Session


class Files:
    """Reads and writes text files. Relative paths start at the session's working directory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file; from a line on (counted from 1), or some lines only."""
        session = self._session
        session.check_open("read files")
        if session.client.read_files:
            return await session._side.dialect.read_file(session, session.absolute(path), line, limit)
        return await session.local.files.read(session.absolute(path), line, limit)

    async def write(self, path: str, text: str) -> None:
        """Writes a file, creating it when it is not there."""
        session = self._session
        session.check_open("write files")
        if session.client.write_files:
            await session._side.dialect.write_file(session, session.absolute(path), text)
        else:
            await session.local.files.write(session.absolute(path), text)
