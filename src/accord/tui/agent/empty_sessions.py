"""Delete sessions that were created here and never used, so that opening the client leaves none behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

TIMEOUT_SECONDS = 1.0
"""How long an agent may take to delete them while the user waits for the exit."""


class EmptySessions:
    """The ids of the unused sessions of one agent."""

    def __init__(self, is_elsewhere: Callable[[str], bool]) -> None:
        """`is_elsewhere` tells whether another client has a session open, where it may have been used."""
        self.ids: set[str] = set()
        self._is_elsewhere = is_elsewhere

    async def forget(self, agent: ConnectedAgent | None, id: str | None = None) -> None:
        """Let the agent delete one of them, or all, if it can. Errors are ignored: the client is about to exit."""
        from accord.errors import AccordError

        if agent is None or not agent.offers.delete or not agent.connection.is_open:
            return
        with suppress(AccordError, TimeoutError):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                for each in sorted(self.ids if id is None else self.ids & {id}):
                    self.ids.discard(each)
                    session = agent.sessions.get(each)
                    if session is None or session.busy or session.title or session.transcript.has_messages:
                        continue
                    if not self._is_elsewhere(each):
                        await agent.delete_session(each)
