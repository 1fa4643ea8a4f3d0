"""Sessions that were begun here and in which nothing was said: no look into the client shall leave one behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.tui.opening import tells

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

PATIENCE = 1.0
"""Seconds that an agent may take to forget them, while the user waits for the end."""


class Untouched:
    """The ids of such sessions, at one agent."""

    def __init__(self, is_elsewhere: Callable[[str], bool]) -> None:
        """`is_elsewhere` tells whether another client has a session open: what is said there is not known here."""
        self.ids: set[str] = set()
        self._is_elsewhere = is_elsewhere

    async def forget(self, agent: ConnectedAgent | None, id: str | None = None) -> None:
        """Has the agent forget one of them, or all, where it can. What fails is no reason to stay."""
        from accord.errors import AccordError

        if agent is None or not agent.offers.delete or not agent.connection.is_open:
            return
        with suppress(AccordError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                for each in sorted(self.ids if id is None else self.ids & {id}):
                    self.ids.discard(each)
                    session = agent.sessions.get(each)
                    if session is None or session.busy or session.title or tells(session.transcript):
                        continue
                    if not self._is_elsewhere(each):
                        await agent.delete_session(each)
