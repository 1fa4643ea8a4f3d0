"""The sessions that an agent lists."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, NoReturn

from accord.client.arguments import Directory, check_directory
from accord.errors import UsageError
from accord.model.session import SessionInfo

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


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


async def list_sessions(
    agent: ConnectedAgent, cwd: Directory | None, archived: str | None
) -> AsyncGenerator[SessionInfo]:
    """Yield an agent's sessions, page by page, and note which of them are archived."""
    agent.offers.need("list", "to list sessions")
    if archived is not None:
        agent.need_unstable("session/list with archived")
        agent.offers.need("archive", "to archive sessions")
    directory = None if cwd is None else os.path.abspath(check_directory("cwd", cwd))  # noqa: ASYNC240  # touches no disk
    known, cursor = agent.registry.archived, None
    while True:
        page, cursor = await agent.dialect.list_sessions(directory, cursor, archived)
        for info in page:
            if archived is not None:
                (known.add if info.archived else known.discard)(info.id)
            yield info
        if cursor is None:
            return
