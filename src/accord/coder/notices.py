"""Notices for the user, apart from the model's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.model.record import Meta


class Notices:
    """Shows notices of a session: as such, or as thoughts in a turn if the client has no notices."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: list[str] = []
        self._told: set[str] = set()

    async def show(
        self, title: str, description: str | None = None, *, severity: str = "info", meta: Meta | None = None
    ) -> None:
        """Show a notice, or save it for the next turn."""
        if self._session.client.offers.notices:
            await self._session.notice(title, description, severity=severity, meta=meta)
            return
        self._pending.append(f"{title}\n{description}\n" if description else f"{title}\n")
        if self._session.turns.working is not None:
            await self.show_pending()

    async def warn_once(self, title: str, description: str, *, about: str = "") -> None:
        """Show a warning, unless there was one with this title in the session. `about` replaces the title for this."""
        if (topic := about or title) not in self._told:
            self._told.add(topic)
            await self.show(title, description, severity="warning")

    async def show_pending(self) -> None:
        """Show the notices that had to wait for a turn."""
        texts, self._pending = self._pending, []
        for text in texts:
            await self._session.think(text)
