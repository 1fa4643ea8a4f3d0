"""The client's files: what is on the user's screen, unsaved changes included."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.agent.session import Session


class Files:
    """Reads and writes text files through the client. Raises `CapabilityError` when the client does not offer it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file; from a line on (counted from 1), or some lines only."""
        self._session.client.need("read_files", "to read files")
        self._session.check_open("read files")
        side = self._session._side
        return await side.dialect.read_file(self._session, self._session.absolute(path), line, limit)

    async def write(self, path: str, text: str) -> None:
        """Writes a file, creating it when it is not there."""
        self._session.client.need("write_files", "to write files")
        self._session.check_open("write files")
        side = self._session._side
        await side.dialect.write_file(self._session, self._session.absolute(path), text)
