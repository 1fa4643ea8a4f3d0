"""The sessions that an agent lists."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, NoReturn

from accord.errors import UsageError
from accord.model.session import SessionInfo


class SessionList(AsyncIterator[SessionInfo]):
    """An async iterator over sessions. It requests the next page when the sessions of one have been read."""

    def __init__(self, sessions: AsyncGenerator[SessionInfo]) -> None:
        self._sessions = sessions

    async def __anext__(self) -> SessionInfo:
        return await anext(self._sessions)

    async def aclose(self) -> None:
        """Request no more pages."""
        await self._sessions.aclose()

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        def __await__(self) -> NoReturn:
            raise UsageError(
                "a list of sessions can't be awaited; write “[info async for info in agent.list_sessions()]”"
            )

        def __iter__(self) -> NoReturn:
            raise UsageError("sessions need “async for”: async for info in agent.list_sessions()")
