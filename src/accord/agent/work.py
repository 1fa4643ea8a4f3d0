"""Work that an agent starts by itself, outside of the user's prompts."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from accord.agent.turn_queue import Outcome, error_outcome, sound_tokens
from accord.connection.dispatch import log
from accord.errors import ConnectionClosed, InvalidValue, UsageError
from accord.model import check
from accord.model.record import Meta
from accord.model.session import StopReason, Tokens
from accord.model.statement import SetState
from accord.model.values import word

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.session_registry import SessionRegistry


class OwnWork:
    """The work that an agent has started by itself in one session."""

    def __init__(self, session: Session, sessions: SessionRegistry) -> None:
        self.running: list[Work] = []
        self.held_end: SetState | None = None
        """The state that ends a turn, while other work continues: the session isn't idle yet (version 2)."""
        self._session = session
        self._sessions = sessions

    async def begin(self, work: Work) -> None:
        """Start a piece of work, and report it if the session was idle."""
        session = self._session
        session.check_open("work")
        await session.open_gate.wait()
        session.end_message()
        if not self.running and session.turns.working is None:
            session.dialect.work_begins(session, work.meta)
        self.running.append(work)

    async def end(self, work: Work, outcome: Outcome) -> None:
        """End a piece of work, and report the session as idle if it was the last one."""
        session = self._session
        is_last = self.running == [work] and session.turns.working is None
        try:
            session.end_message()
            if is_last:
                await session.end_tools("cancelled" if outcome.stop_reason == "cancelled" else "failed")
            await self._sessions.save_info(session)
        except ConnectionClosed:
            log.debug("the client disconnected before the work in %s ended", session.id)
        finally:
            self.running.remove(work)
            work.ended.set()
            if not self.running and session.turns.working is None:
                try:
                    session.dialect.work_ends(session, outcome, work.meta)
                except InvalidValue as error:  # the client must learn of the end anyway
                    session.dialect.work_ends(session, error_outcome(error), None)

    def cancel(self) -> None:
        """Cancel all of it."""
        for work in list(self.running):
            work.cancel()

    async def settle(self) -> None:
        """Wait until all of it has ended, except for the work that calls this."""
        for work in list(self.running):
            if work.task is not asyncio.current_task():
                await work.ended.wait()


class Work:
    """A block of work, used with `async with`. Version 2 reports the session as running until it ends.

    If the user cancels it, the block is left early and the program continues after it. Other exceptions are reported
    as the reason why the work ended, and raised."""

    def __init__(self, session: Session, meta: Meta | None) -> None:
        self.session = session
        self.stop_reason: StopReason = "end_turn"
        """Why the work ended. Set it in the block to report another reason."""
        self.tokens: Tokens | None = None
        """Set this to report the tokens that the work used (unstable)."""
        self.meta: Meta | None = meta
        """The `_meta` of the states that report its start and end."""
        self.cancelled: bool = False
        """Whether the user has cancelled it."""
        self.ended: asyncio.Event = asyncio.Event()
        self.task: asyncio.Task[object] | None = None

    async def __aenter__(self) -> Work:
        await self.session.works.begin(self)
        self.task = asyncio.current_task()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        is_cancelled = self.cancelled and isinstance(error, asyncio.CancelledError)
        if is_cancelled and self.task is not None:
            self.task.uncancel()
        await self.session.works.end(self, self._outcome(error))
        return is_cancelled

    def cancel(self) -> None:
        """Cancel the work: the block is left with `asyncio.CancelledError`."""
        if not self.cancelled and self.task is not None:
            self.cancelled = True
            self.task.cancel()

    def _outcome(self, error: BaseException | None) -> Outcome:
        if self.cancelled or isinstance(error, asyncio.CancelledError):
            return Outcome("cancelled", tokens=sound_tokens(self.tokens))
        if error is not None:
            return error_outcome(error, sound_tokens(self.tokens))
        try:
            word("stop_reason", self.stop_reason, check.STOP_REASONS)
            return Outcome(self.stop_reason, tokens=check.tokens(self.tokens))
        except ValueError as wrong:
            return error_outcome(wrong)

    if not TYPE_CHECKING:  # type checkers report this mistake themselves

        def __enter__(self) -> NoReturn:
            raise UsageError("work needs “async with”: async with session.work()")

        def __exit__(self, *exc: object) -> None: ...

        def __await__(self) -> NoReturn:
            raise UsageError("work can't be awaited; write “async with session.work():”")
