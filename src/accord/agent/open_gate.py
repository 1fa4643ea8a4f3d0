"""The gate that holds a session's prompts back while the session is being opened."""

from __future__ import annotations

import asyncio


class OpenGate:
    """Closed while a session is being opened. Prompts and the agent's own work wait at it."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: asyncio.Event | None = None

    def start(self) -> None:
        """Let prompts wait until the session is open."""
        self._event = asyncio.Event()

    def finish(self) -> None:
        """Let prompts continue."""
        if self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self) -> None:
        """Wait while the session is being opened."""
        while self._event is not None:
            await self._event.wait()
