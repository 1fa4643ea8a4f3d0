"""The machine that a session uses where its client offers no files or terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.agent.local_machine import Local, Machine, MakeMachine
    from accord.agent.session import Session


class SessionMachine:
    """Makes the session's machine on first use, and closes it. Most agents never load `local_machine`."""

    def __init__(self, session: Session, make: MakeMachine | None) -> None:
        self._session = session
        self._make = make
        self._local: Local | None = None
        self._replacement: Machine | None = None

    @property
    def local(self) -> Local:
        """The agent's own files and commands."""
        if self._local is None:
            from accord.agent.local_machine import Local

            self._local = Local(self._session)
        return self._local

    @property
    def current(self) -> Machine:
        """The agent's own files and commands, or the replacement that a test provides."""
        if self._make is None:
            return self.local
        if self._replacement is None:
            self._replacement = self._make(self._session)
        return self._replacement

    async def close(self) -> None:
        """Stop every command. The next use makes a new machine."""
        machines = (self._local, self._replacement)
        self._local = self._replacement = None
        for machine in machines:
            if machine is not None:
                await machine.close()
