"""One turn: iterate it for events as they come, or await it for how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from typing import TYPE_CHECKING, Any

from accord.model.content import Content
from accord.model.session import StopReason, Tokens, Usage
from accord.model.tool import ToolCall
from accord.transcript.events import Event, MessageSet, Text
from accord.transcript.message import Message

if TYPE_CHECKING:
    from accord.client.session import Session


class Turn:
    """What `session.prompt(…)` gives. It has been sent already, or waits for the turn before it to end.

    Leaving an `async for` over it early cancels the turn, and so does cancelling the task that awaits it."""

    def __init__(self, session: Session, content: list[Content], meta: dict[str, Any] | None, number: int) -> None:
        self.session = session
        self.number = number
        """Which turn of its session this is, counted from 1."""
        self.content = content
        self.meta = meta
        self.stop_reason: StopReason | None = None
        self.tokens: Tokens | None = None
        self.message_id: str | None = None
        """The prompt's own id, where the agent gives it one."""
        self.started = False
        self.inserted = False
        """Whether the prompt is known to be part of the conversation (version 2)."""
        self.on_inserted: Callable[[], None] | None = None
        """Called when it is, for those who show what an agent has not taken yet."""
        self.saw_work = False
        """Whether the agent has been at work since (version 2)."""
        self.request_id: int | None = None
        """The id of its request, while that is open (version 2)."""
        self.place = 0
        """How long the session's timeline was when its turn came."""
        self.ended = False
        self._error: BaseException | None = None
        self._said: list[str] = []
        self._rewritten = False
        self._tool_calls: dict[str, None] = {}
        self._events: list[Event] = []
        self._pending = 0
        self._discard = False
        self._waiting: asyncio.Future[None] | None = None
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    # -- for the user

    @property
    def text(self) -> str:
        """What the agent said in this turn, so far."""
        if self._rewritten:
            return self._read_again()
        if len(self._said) > 1:
            self._said = ["".join(self._said)]
        return self._said[0] if self._said else ""

    def _read_again(self) -> str:
        """The text as the transcript has it: some of it was not streamed, or was replaced."""
        session = self.session
        return "".join(
            item.text
            for item in session.transcript.timeline
            if isinstance(item, Message) and item.role == "agent" and session.owner_of(item.id) == self.number
        )

    @property
    def has_output(self) -> bool:
        """Whether the agent has said or done anything in this turn."""
        return bool(self._said or self._tool_calls or self._rewritten)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls of this turn, as they stand now."""
        known = self.session.transcript.tool_calls
        return [known[id] for id in self._tool_calls if id in known]

    @property
    def usage(self) -> Usage | None:
        """How full the context is and what the session has cost, when the agent told."""
        return self.session.transcript.usage

    @property
    def error(self) -> BaseException | None:
        """Why the turn failed, when it did."""
        return self._error

    async def cancel(self) -> None:
        """Asks the agent to stop. The turn ends when the agent says so."""
        await self.session._cancel_turn(self)

    def withdraw(self) -> bool:
        """Takes back a prompt that the agent holds (version 2); its turn then ends as cancelled, unless it is too late.
        Gives False where nothing can be taken back: the agent has the prompt, or the version knows no such thing."""
        return not self.ended and self.session._agent.dialect.withdraw(self)

    def __await__(self) -> Generator[Any, None, Turn]:
        return self._finish().__await__()

    async def _finish(self) -> Turn:
        self._discard = True
        self._release(self._take())
        try:
            await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.session._cancel_soon(self)
            raise
        if self._error is not None:
            raise self._error
        return self

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._iterate()

    async def _iterate(self) -> AsyncIterator[Event]:
        finished = False
        try:
            while True:
                events = self._take()
                for event in events:
                    yield event
                if events:
                    continue
                if self.ended:
                    finished = True
                    break
                self._waiting = asyncio.get_running_loop().create_future()
                await self._waiting
        finally:
            self._discard = True
            self._release(self._take())
            if not finished and not self.ended:
                self.session._cancel_soon(self)
        if self._error is not None:
            raise self._error

    # -- for the session

    def push(self, event: Event, size: int) -> None:
        """One more event of this turn."""
        if type(event) is Text:
            self._said.append(event.text)
        elif type(event) is ToolCall:
            self._tool_calls[event.id] = None
        elif type(event) is MessageSet and event.role == "agent":
            self._rewritten = True
        if self._discard:
            return
        self._events.append(event)
        self._pending += size
        self.session._agent.connection.backlog.add(size)
        if self._waiting is not None:
            self._wake()

    def end(
        self, stop_reason: StopReason | None, *, tokens: Tokens | None = None, error: BaseException | None = None
    ) -> None:
        """The turn is over; only the first end counts."""
        if self.ended:
            return
        self.ended = True
        self.stop_reason = stop_reason
        self.tokens = tokens
        self._error = error
        self._done.set_result(None)
        if self._waiting is not None:
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _take(self) -> list[Event]:
        events, self._events = self._events, []
        pending, self._pending = self._pending, 0
        if pending:
            self.session._agent.connection.backlog.remove(pending)
        return events

    def _release(self, events: list[Event]) -> None:
        """Nobody will read these any more; the transcript has them."""
        events.clear()

    def __repr__(self) -> str:
        state = self.stop_reason or ("ended" if self.ended else "running" if self.started else "waiting")
        return f"<Turn of {self.session.id}: {state}>"
