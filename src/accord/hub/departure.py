"""Handles clients that leave a session: it continues, pauses or is cancelled, and is closed later."""

from __future__ import annotations

import asyncio
from typing import Protocol

from accord.hub.context import HubSettings


class LeavableSession(Protocol):
    """The parts of a session that matter when clients leave."""

    @property
    def has_clients(self) -> bool:
        """Whether any client is attached."""

    @property
    def has_drivers(self) -> bool:
        """Whether any attached client may drive."""

    @property
    def is_needed(self) -> bool:
        """Whether it is working, is waiting for an answer, or couldn't be opened again."""

    def pause(self) -> None:
        """Start no queued prompts, and cancel the turn at the next request."""

    def unpause(self) -> None:
        """Undo `pause`."""

    def abandon(self) -> None:
        """Cancel all work."""

    def on_abandoned(self) -> None:
        """Close the session."""


class Departure:
    """Watches the clients of one session."""

    def __init__(self, session: LeavableSession, settings: HubSettings) -> None:
        self._session = session
        self._settings = settings
        self._grace: asyncio.TimerHandle | None = None
        self._closing: asyncio.TimerHandle | None = None

    def client_joined(self) -> None:
        """Stop both timers, because a client has joined."""
        self._stop_closing()
        if self._session.has_drivers:
            self._stop_grace()
            self._session.unpause()

    def client_left(self) -> None:
        """Start the timers if no other client is attached."""
        loop, settings = asyncio.get_running_loop(), self._settings
        if not self._session.has_drivers and settings.on_disconnect != "keep" and self._grace is None:
            self._grace = loop.call_later(settings.grace_seconds, self._end_grace)
        if not self._session.has_clients and settings.idle_seconds is not None and self._closing is None:
            self._closing = loop.call_later(settings.idle_seconds, self._end_idle_time)

    def close(self) -> None:
        """Stop watching."""
        self._stop_grace()
        self._stop_closing()

    def _end_grace(self) -> None:
        self._grace = None
        if self._settings.on_disconnect == "pause":
            self._session.pause()
        else:
            self._session.abandon()

    def _end_idle_time(self) -> None:
        self._closing = None
        if self._session.has_clients:
            return
        if self._session.is_needed:
            self.client_left()
        else:
            self._session.on_abandoned()

    def _stop_grace(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def _stop_closing(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
