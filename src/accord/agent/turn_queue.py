"""The turns of a session: one at a time, in the order of their prompts, each ending exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import fault_of, log
from accord.errors import ConnectionClosed, InvalidValue, RequestCancelled
from accord.model import check
from accord.model.session import StopReason, Tokens
from accord.model.values import short
from accord.rpc.envelope import Fault

if TYPE_CHECKING:
    from accord.agent.prompt_router import PromptRouter
    from accord.agent.session import Session
    from accord.agent.session_registry import SessionRegistry
    from accord.agent.turn import Prompt, Turn
    from accord.transports.eager_tasks import EagerTasks


class Outcome:
    """The end of a turn: a stop reason or an error."""

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
        self.error: Fault | None = error
        self.exception: BaseException | None = exception
        self.tokens: Tokens | None = tokens


class Entry:
    """A prompt: queued, then part of the conversation, then ended."""

    __slots__ = ("_waiters", "accepted", "error", "is_inserted", "joined", "outcome", "result", "turn", "work")

    def __init__(self, turn: Turn) -> None:
        self.turn: Turn = turn
        self.is_inserted: bool = False
        """Whether it is part of the conversation."""
        self.outcome: Outcome | None = None
        """The outcome, once the turn has ended."""
        self.work: asyncio.Task[None] | None = None
        """The handler's task, once the handler has to wait."""
        self.result: StopReason | None = None
        self.error: BaseException | None = None
        """The exception that its handler raised."""
        self.accepted: bool = False
        """Whether `accept_prompt` has let it through."""
        self.joined: Sequence[Entry] = ()
        """Prompts that came later and became part of this turn."""
        # Most turns end before anyone waits; creating futures up front would cost more than the rest of an entry.
        self._waiters: list[asyncio.Future[None]] = []

    def insert(self) -> None:
        """Mark the prompt as part of the conversation."""
        self.is_inserted = True
        self._wake()

    def end(self, outcome: Outcome) -> None:
        """End the turn; only the first call counts."""
        if self.outcome is None:
            self.outcome = outcome
            self._wake()

    async def until_inserted(self) -> str:
        """Wait until the prompt is part of the conversation. Returns its message id; raises if it never will be."""
        while not self.is_inserted:
            if self.outcome is not None:
                raise self.outcome.exception or RequestCancelled("the prompt was cancelled")
            await self._next_change()
        return self.turn.message_id

    async def until_ended(self) -> Outcome:
        """Wait until the turn is over."""
        while self.outcome is None:
            await self._next_change()
        return self.outcome

    def _next_change(self) -> asyncio.Future[None]:
        """Create a future for one caller, so that cancelling that caller leaves the others waiting."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class TurnQueue:
    """The prompts of one session."""

    def __init__(self, session: Session, prompts: PromptRouter, sessions: SessionRegistry) -> None:
        self._session = session
        self._prompts = prompts
        self._sessions = sessions
        self._agent = prompts.agent
        self._dialect = session.dialect
        self._waiting: list[Entry] = []  # a handful at most
        self._runner: asyncio.Task[None] | None = None
        self._is_running = False
        self.running: Entry | None = None

    @property
    def is_busy(self) -> bool:
        return self.running is not None or bool(self._waiting) or bool(self._session.works.running)

    @property
    def working(self) -> Entry | None:
        """The running prompt, once it is part of the conversation and until its turn has ended."""
        entry = self.running
        return entry if entry is not None and entry.is_inserted and entry.outcome is None else None

    def submit(self, turn: Turn) -> Entry:
        """Queue a prompt. If the version allows it, a handler that never waits has finished when this returns."""
        entry = Entry(turn)
        self._waiting.append(entry)
        if not self._is_running:
            self._is_running = True
            self._runner = self._start(self._prompts.runners, self._run())
        return entry

    def _start(self, eager: EagerTasks, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Start part of a turn, inline if the version allows it. Returns its task, or None if it has finished."""
        if self._dialect.starts_in_place:
            return eager.start(coroutine)
        return asyncio.get_running_loop().create_task(coroutine)

    async def insert(self, turn: Turn) -> Sequence[Prompt]:
        """Make the queued prompts part of a running turn, in order, if the version supports that."""
        taken: list[Prompt] = []
        while (entry := self._insertable(turn)) is not None:
            if not entry.accepted:
                try:
                    await self._agent.accept_prompt(entry.turn)
                except Exception as error:  # rejected or failed: its sender gets the error, and the turn continues
                    self.cancel_entry(entry, error_outcome(error))
                    continue
                entry.accepted = True
                continue  # it may have been withdrawn meanwhile, or the turn may have ended
            self._waiting.remove(entry)
            assert self.running is not None
            self.running.joined = [*self.running.joined, entry]
            self._dialect.prompt_joins(self._session, entry.turn)
            entry.insert()
            taken.append(entry.turn)
        return taken

    def _insertable(self, turn: Turn) -> Entry | None:
        """Return the next prompt if it can join this turn. Prompts behind it must not overtake it."""
        working = self.working
        if working is None or working.turn is not turn or turn.cancelled or not self._dialect.inserts:
            return None
        entry = self._waiting[0] if self._waiting else None
        return entry if entry is not None and self._prompts.find_command(entry.turn) is None else None

    def cancel(self) -> None:
        """Cancel the running turn and the agent's own work, and drop queued turns. Later prompts aren't affected."""
        waiting, self._waiting = self._waiting, []
        for entry in waiting:
            self._drop(entry)
        if self.running is not None:
            self._stop(self.running)
        self._session.works.cancel()

    def cancel_entry(self, entry: Entry, outcome: Outcome | None = None) -> None:
        """Cancel or drop one prompt."""
        if entry is self.running:
            self._stop(entry)
        elif entry in self._waiting:
            self._waiting.remove(entry)
            self._drop(entry, outcome)

    def _stop(self, entry: Entry) -> None:
        if not entry.turn.cancelled:  # a second cancel must not interrupt the handler's cleanup
            entry.turn.cancelled = True
            if entry.work is not None:
                entry.work.cancel()

    def _drop(self, entry: Entry, outcome: Outcome | None = None) -> None:
        entry.turn.cancelled = True
        outcome = outcome or Outcome(
            "cancelled", exception=RequestCancelled("the prompt was cancelled while it was queued")
        )
        self._close(entry, outcome)

    async def settle(self) -> None:
        """Wait until no turn and no other work is running."""
        if self._runner is not None and self._runner is not asyncio.current_task():
            await asyncio.wait([self._runner])
        await self._session.works.settle()

    async def _run(self) -> None:
        try:
            await self._session.open_gate.wait()
            while self._waiting:
                entry = self.running = self._waiting.pop(0)
                try:
                    outcome = await self._play(entry)
                except Exception as error:  # the turn ends anyway, and the next one starts
                    outcome = error_outcome(error)
                self.running = None
                self._close(entry, outcome)
        finally:
            self._is_running = False
            self._runner = None
            self.running = None

    def _close(self, entry: Entry, outcome: Outcome) -> None:
        entry.end(outcome)
        for later in entry.joined:
            self._close(later, outcome)

    async def _play(self, entry: Entry) -> Outcome:
        turn, session, dialect = entry.turn, self._session, self._dialect
        if not entry.accepted and self._agent.offers("accept_prompt"):
            await self._work(entry, self._agent.accept_prompt(turn))
            refused = self._outcome(entry)
            if refused.stop_reason != "end_turn":
                return refused
        session.end_message()  # text from now on is a new message
        dialect.turn_begins(session, turn)
        entry.insert()
        await self._work(entry, self._prompts.handle(turn))
        outcome = self._outcome(entry)
        try:
            session.writer.release_messages()
            await session.end_tools("cancelled" if outcome.stop_reason == "cancelled" else "failed")
            await self._sessions.save_info(session)
        except ConnectionClosed:
            log.debug("the client disconnected before the turn of %s ended", session.id)
        except Exception as error:
            outcome = outcome if outcome.stop_reason == "cancelled" else error_outcome(error)
        try:
            dialect.turn_ends(session, turn, outcome)
        except InvalidValue as error:
            # Version 2 reports the end in an update; a client that never gets it would wait forever.
            outcome, turn.response_meta = error_outcome(error), None
            dialect.turn_ends(session, turn, outcome)
        return outcome

    async def _work(self, entry: Entry, work: Coroutine[Any, Any, StopReason | None]) -> None:
        """Run part of a turn in a separate task, the one that a cancel request cancels.

        In version 1 the first step runs immediately, as that task. A handler that never waits then needs no task, no
        future and no event loop iteration, and the response is sent in the same write as its updates. In version 2
        the response only acknowledges the prompt, so it is sent before the handler starts."""
        try:
            task = self._start(self._prompts.handlers, _keep_result(entry, work))
            if task is not None:
                entry.work = task
                if entry.turn.cancelled:
                    task.cancel()
                await asyncio.wait([task])
                if task.cancelled():  # before it started
                    entry.error = asyncio.CancelledError()
        finally:
            work.close()

    def _outcome(self, entry: Entry) -> Outcome:
        turn, error = entry.turn, entry.error
        if turn.cancelled or isinstance(error, asyncio.CancelledError):
            # However the handler reacted, the turn was cancelled.
            return Outcome("cancelled", tokens=sound_tokens(turn.tokens))
        if error is not None:
            return error_outcome(error, sound_tokens(turn.tokens))
        try:
            return Outcome(self._stop_reason(entry), tokens=check.tokens(turn.tokens))
        except InvalidValue as wrong:
            return error_outcome(wrong)

    def _stop_reason(self, entry: Entry) -> StopReason:
        """Convert a handler's return value to a stop reason; None means `end_turn`."""
        returned: Any = entry.result
        if returned is None:
            return "end_turn"
        if type(returned) is str and (returned in check.STOP_REASONS or returned.startswith("_")):
            return returned
        name = type(self._agent).__name__
        handler = f"{name}.prompt" if self._prompts.find_command(entry.turn) is None else f"a command of {name}"
        reasons = ", ".join(sorted(check.STOP_REASONS))
        raise InvalidValue(
            f"{handler} returned {short(returned)}, which isn't a stop reason ({reasons}); to answer the user, use "
            "“await turn.say(…)” and return nothing",
            argument="return value",
        )


def sound_tokens(tokens: Tokens | None) -> Tokens | None:
    """Return the token counts of work that was cancelled or failed; invalid counts are dropped, not raised."""
    try:
        return check.tokens(tokens)
    except InvalidValue as error:
        log.error("a turn's token counts are invalid and were dropped: %s", error)
        return None


async def _keep_result(entry: Entry, work: Coroutine[Any, Any, StopReason | None]) -> None:
    try:
        entry.result = await work
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # including pytest's `fail` and `skip`: the turn ends anyway
        entry.error = error


def error_outcome(error: BaseException, tokens: Tokens | None = None) -> Outcome:
    """Return the outcome of work that failed with this error."""
    return Outcome("error", error=fault_of(error, "session/prompt"), exception=error, tokens=tokens)
