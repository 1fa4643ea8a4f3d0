"""A turn: iterate over it for its events, or await it for its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Raw

from accord.errors import UsageError
from accord.model.content import Content
from accord.model.session import StopReason, Tokens, Usage
from accord.model.tool import ToolCall
from accord.transcript.events import Event, MessageSet, Text
from accord.transcript.message import Message

if TYPE_CHECKING:
    from accord.client.session import Session


class Turn:
    """The result of `session.prompt(…)`. The prompt has been sent, or is queued behind the running turn.

    Leaving an `async for` loop over it early cancels the turn, and so does cancelling the task that awaits it."""

    def __init__(
        self, session: Session, content: list[Content], meta: dict[str, Any] | None, number: int, request: bytes
    ) -> None:
        self.session = session
        self.number = number
        """The number of this turn in its session, counted from 1."""
        self.content = content
        self.meta = meta
        self.response_meta: dict[str, Any] | None = None
        """The `_meta` of the agent's response, and in version 2 of the state that ended the turn. `meta` is that of the
        prompt."""
        self.request: Raw = Raw(request)
        """The params of `session/prompt`, encoded."""
        self.stop_reason: StopReason | None = None
        self.tokens: Tokens | None = None
        self.message_id: str | None = None
        """The id of the prompt's message, if the agent gives it one."""
        self.started = False
        self.inserted = False
        """Whether the prompt is known to be part of the conversation (version 2)."""
        self.on_inserted: Callable[[], None] | None = None
        """Called when `inserted` becomes true, for UIs that show queued prompts."""
        self.saw_work = False
        """Whether the agent has worked since the prompt was inserted (version 2)."""
        self.request_id: int | None = None
        """The id of its request, while that is open (version 2)."""
        self.position = 0
        """The length of the session's timeline when this turn started."""
        self.ended: bool = False
        self._error: BaseException | None = None
        self._said: list[str] = []
        self._rewritten = False
        self._tool_calls: dict[str, None] = {}
        self._events: list[Event] | None = None  # the unread ones; None if there are none
        self._pending = 0
        self._discard = False
        self._is_observed = False  # whether anyone has awaited it or iterated over it
        self._waiting: asyncio.Future[None] | None = None
        self._done: asyncio.Future[None] | None = None  # created when someone awaits the end; iterating doesn't need it
        self._backlog = session.agent.connection.backlog  # one counter for adding and removing, even after a reconnect

    # -- for the user

    @property
    def text(self) -> str:
        """The agent's text in this turn so far."""
        if not (self.ended or self._is_observed or self.has_output):
            raise UsageError(
                "the turn hasn't been awaited, so there is no text yet; write “turn = await session.prompt(…)”"
            )
        if self._rewritten:
            return self._read_again()
        if len(self._said) > 1:
            self._said = ["".join(self._said)]
        return self._said[0] if self._said else ""

    def _read_again(self) -> str:
        """Read the text from the transcript, because some of it wasn't streamed or was replaced."""
        session = self.session
        return "".join(
            item.text
            for item in session.transcript.timeline
            if isinstance(item, Message)
            and item.role == "agent"
            and session.owners.find_message(item.id) == self.number
        )

    @property
    def has_output(self) -> bool:
        """Whether the agent has sent text or tool calls in this turn."""
        return bool(self._said or self._tool_calls or self._rewritten)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls of this turn, in their current state."""
        known = self.session.transcript.tool_calls
        return [known[id] for id in self._tool_calls if id in known]

    @property
    def usage(self) -> Usage | None:
        """The use of the context window and the session's cost, if the agent reported them."""
        return self.session.transcript.usage

    @property
    def error(self) -> BaseException | None:
        """The error that ended the turn, if any."""
        return self._error

    async def cancel(self) -> None:
        """Ask the agent to stop. The turn ends when the agent confirms it."""
        await self.session.cancel_turn(self)

    def withdraw(self) -> bool:
        """Withdraw a prompt that the agent hasn't started (version 2); its turn then ends as cancelled. Returns False
        if that isn't possible."""
        return not self.ended and self.session.agent.dialect.withdraw(self)

    def __await__(self) -> Generator[Any, None, Turn]:
        return self._finish().__await__()

    async def _finish(self) -> Turn:
        self._discard = self._is_observed = True
        self._take()
        try:
            if not self.ended:
                if self._done is None:
                    self._done = asyncio.get_running_loop().create_future()
                await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.session.cancel_soon(self)
            raise
        if self._error is not None:
            raise self._error
        return self

    def __aiter__(self) -> AsyncIterator[Event]:
        if self.ended and self._discard:
            raise UsageError(
                "the events of this turn are gone: it was awaited or iterated over before; iterate over it instead of "
                "awaiting it, or read its text and tool_calls"
            )
        return self._iterate()

    async def _iterate(self) -> AsyncIterator[Event]:
        finished = False
        self._is_observed = True
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
            self._take()
            if not finished and not self.ended:
                self.session.cancel_soon(self)
        if self._error is not None:
            raise self._error

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        def __iter__(self) -> NoReturn:
            raise UsageError("a turn needs “async for”: async for event in session.prompt(…)")

        async def __aenter__(self) -> NoReturn:
            raise UsageError("a turn isn't a context manager; await it, or iterate over it with “async for”")

        async def __aexit__(self, *exc: object) -> None: ...

    # -- for the session

    def push(self, event: Event, size: int) -> None:
        """Add an event to this turn."""
        if type(event) is Text:
            self._said.append(event.text)
        elif type(event) is ToolCall:
            self._tool_calls[event.id] = None
        elif type(event) is MessageSet and event.role == "agent":
            self._rewritten = True
        if self._discard:
            return
        if self._events is None:
            self._events = [event]
        else:
            self._events.append(event)
        if size:
            self._pending += size
            backlog = self._backlog
            backlog.bytes += size
            if backlog.bytes > backlog.limit:
                backlog.consider_pausing()
        if self._waiting is not None:
            self._wake()

    def reread(self, tool_calls: Iterable[str]) -> None:
        """Take the text and the tool calls from the transcript, which was replayed."""
        self._rewritten = True
        self._tool_calls.update(dict.fromkeys(tool_calls))

    def end(
        self, stop_reason: StopReason | None, *, tokens: Tokens | None = None, error: BaseException | None = None
    ) -> None:
        """End the turn; only the first call counts."""
        if self.ended:
            return
        self.ended = True
        self.stop_reason = stop_reason
        self.tokens = tokens
        self._error = error
        if self._done is not None:
            self._done.set_result(None)
        if self._waiting is not None:
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _take(self) -> Sequence[Event]:
        events, self._events = self._events, None
        pending, self._pending = self._pending, 0
        if pending:
            self._backlog.remove(pending)
        return events or ()

    def __repr__(self) -> str:
        state = self.stop_reason or ("ended" if self.ended else "running" if self.started else "waiting")
        return f"<Turn of {self.session.id}: {state}>"
