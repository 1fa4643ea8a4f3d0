"""What one session of the coding agent has on its desk: its files, its rules, its plan, its model, its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.coder.files import DeskFiles
from accord.model.session import PlanEntry

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.coder.history import Message
    from accord.policy.engine import Policy


class Desk:
    """One session's things. Tools find here whatever outlives a call."""

    def __init__(self, session: Session, policy: Policy) -> None:
        self.session = session
        self.policy = policy
        self.files = DeskFiles(session)
        """The project's files: through the client where it offers them, else from the disk, inside the roots."""
        self.history: list[Message] = []
        """What the model is told of the session."""
        self.plan: list[PlanEntry] = []

    @property
    def mode(self) -> str:
        """ "ask", "architect" or "code"."""
        return str(self.session.mode)

    async def set_plan(self, entries: list[PlanEntry]) -> None:
        """Publishes what is to be done."""
        self.plan = entries
        await self.session.plan(entries)
