"""The turns of a session: one at a time, in the order in which the prompts came, each ending exactly once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import fault_of, log
from accord.errors import ConnectionClosed, RequestCancelled
from accord.model.session import StopReason, Tokens
from accord.rpc.envelope import Fault

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.side import AgentSide
    from accord.agent.turn import Prompt, Turn


class Outcome:
    """How a turn ended: with a stop reason, or with an error."""

    __slots__ = ("error", "exception", "stop_reason", "tokens")

    def __init__(
        self,
        stop_reason: StopReason,
        *,
        error: Fault | None = None,
        exception: BaseException | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self.stop_reason = stop_reason
        self.error = error
        self.exception = exception
        self.tokens = tokens


class Entry:
    """A prompt on its way: waiting, then part of the conversation, then ended."""

    def __init__(self, turn: Turn) -> None:
        loop = asyncio.get_running_loop()
        self.turn = turn
        self.inserted: asyncio.Future[str] = loop.create_future()
        """The message's id, once it is part of the conversation; the reason when it never will be."""
        self.ended: asyncio.Future[Outcome] = loop.create_future()
        self.work: asyncio.Task[StopReason | None] | None = None
        self.accepted = False
        """Whether `accept_prompt` has let it through."""
        self.joined: list[Entry] = []
        """Prompts that came later and became part of this turn."""
        self.inserted.add_done_callback(_look)


def _look(future: asyncio.Future[str]) -> None:
    """A failure that nobody awaits is not worth a warning."""
    if not future.cancelled():
        future.exception()


class TurnQueue:
    """The prompts of one session."""

    def __init__(self, side: AgentSide, session: Session) -> None:
        self._side = side
        self._session = session
        self._waiting: deque[Entry] = deque()
        self._runner: asyncio.Task[None] | None = None
        self.running: Entry | None = None

    @property
    def busy(self) -> bool:
        return self.running is not None or bool(self._waiting)

    @property
    def working(self) -> Entry | None:
        """The prompt that is being handled, once it is part of the conversation and until its turn has ended."""
        entry = self.running
        return entry if entry is not None and entry.inserted.done() and not entry.ended.done() else None

    def submit(self, turn: Turn) -> Entry:
        """Queues a prompt."""
        entry = Entry(turn)
        self._waiting.append(entry)
        if self._runner is None:
            self._runner = asyncio.get_running_loop().create_task(self._run(), name=f"turns of {self._session.id}")
        return entry

    async def insert(self, turn: Turn) -> Sequence[Prompt]:
        """Makes the prompts that wait a part of a running turn, in their order, where the version knows that."""
        taken: list[Prompt] = []
        while (entry := self._insertable(turn)) is not None:
            if not entry.accepted:
                try:
                    await self._side.agent.accept_prompt(entry.turn)
                except Exception as error:  # refused, or failed: either way it is answered, and the turn goes on
                    self.cancel_entry(entry, _failed(error))
                    continue
                entry.accepted = True
                continue  # it may have been withdrawn meanwhile, or the turn be over
            self._waiting.remove(entry)
            assert self.running is not None
            self.running.joined.append(entry)
            self._side.dialect.prompt_joins(self._session, entry.turn)
            entry.inserted.set_result(entry.turn.message_id)
            taken.append(entry.turn)
        return taken

    def _insertable(self, turn: Turn) -> Entry | None:
        """The prompt that comes next, if it may join this turn. Those behind it must not overtake it."""
        working = self.working
        if working is None or working.turn is not turn or turn.cancelled or not self._side.dialect.inserts:
            return None
        entry = self._waiting[0] if self._waiting else None
        return entry if entry is not None and self._side.command_of(entry.turn) is None else None

    def cancel(self) -> None:
        """Stops the running turn and drops those that wait. Prompts that come later are not touched."""
        waiting, self._waiting = list(self._waiting), deque()
        for entry in waiting:
            self._drop(entry)
        if self.running is not None:
            self._stop(self.running)

    def cancel_entry(self, entry: Entry, outcome: Outcome | None = None) -> None:
        """Stops or drops one prompt."""
        if entry is self.running:
            self._stop(entry)
        elif entry in self._waiting:
            self._waiting.remove(entry)
            self._drop(entry, outcome)

    def _stop(self, entry: Entry) -> None:
        if not entry.turn.cancelled:  # a second cancel must not disturb what the first one has set to tidying up
            entry.turn.cancelled = True
            if entry.work is not None:
                entry.work.cancel()

    def _drop(self, entry: Entry, outcome: Outcome | None = None) -> None:
        entry.turn.cancelled = True
        outcome = outcome or Outcome(
            "cancelled", exception=RequestCancelled("the prompt was cancelled before its turn came")
        )
        self._close(entry, outcome)

    async def settle(self) -> None:
        """Waits until no turn is running."""
        if self._runner is not None and self._runner is not asyncio.current_task():
            await asyncio.wait([self._runner])

    async def _run(self) -> None:
        try:
            await self._session.ready.wait()
            while self._waiting:
                entry = self.running = self._waiting.popleft()
                try:
                    outcome = await self._play(entry)
                except Exception as error:  # whatever failed, the turn ends and the next one can begin
                    outcome = _failed(error)
                self.running = None
                self._close(entry, outcome)
        finally:
            self._runner = None
            self.running = None

    def _close(self, entry: Entry, outcome: Outcome) -> None:
        if not entry.inserted.done():
            entry.inserted.set_exception(outcome.exception or RequestCancelled("the prompt was cancelled"))
        if not entry.ended.done():
            entry.ended.set_result(outcome)
        for later in entry.joined:
            self._close(later, outcome)

    async def _play(self, entry: Entry) -> Outcome:
        turn, session, dialect = entry.turn, self._session, self._side.dialect
        if not entry.accepted and self._side.agent.offers("accept_prompt"):
            await self._work(entry, self._side.agent.accept_prompt(turn))
            refused = self._outcome(entry)
            if refused.stop_reason != "end_turn":
                return refused
        session.end_message()  # what is said now answers this prompt, not the one before
        dialect.turn_begins(session, turn)
        entry.inserted.set_result(turn.message_id)
        await self._work(entry, self._side.handle(turn))
        outcome = self._outcome(entry)
        try:
            await session.end_tools("cancelled" if outcome.stop_reason == "cancelled" else "failed")
            await self._side.turn_ended(session)
        except ConnectionClosed:
            log.debug("the client was gone before the turn of %s ended", session.id)
        except Exception as error:
            outcome = outcome if outcome.stop_reason == "cancelled" else _failed(error)
        dialect.turn_ends(session, turn, outcome)
        return outcome

    async def _work(self, entry: Entry, work: Coroutine[Any, Any, StopReason | None]) -> None:
        """Runs a part of a turn in a task of its own, which is what a cancel cancels."""
        entry.work = asyncio.get_running_loop().create_task(work, name=f"prompt of {self._session.id}")
        if entry.turn.cancelled:
            entry.work.cancel()
        await asyncio.wait([entry.work])

    def _outcome(self, entry: Entry) -> Outcome:
        work, turn = entry.work, entry.turn
        assert work is not None
        error = None if work.cancelled() else work.exception()
        if turn.cancelled or work.cancelled():
            # Whatever the handler made of being cancelled, the turn was cancelled.
            return Outcome("cancelled", tokens=turn.tokens)
        if error is not None:
            return _failed(error, turn.tokens)
        return Outcome(work.result() or "end_turn", tokens=turn.tokens)


def _failed(error: BaseException, tokens: Tokens | None = None) -> Outcome:
    return Outcome("error", error=fault_of(error, "session/prompt"), exception=error, tokens=tokens)
