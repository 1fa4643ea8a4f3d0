"""A session as the client sees it: prompts, events, options, and the transcript of it all."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable
from typing import TYPE_CHECKING, Any

from accord.client.turn import Turn
from accord.errors import CapabilityError, InvalidParams
from accord.model.content import as_contents
from accord.model.session import Command, Notice, Option, StopReason, Tokens
from accord.model.tool import ToolCall
from accord.transcript.events import Event, Media, MessageSet, StateChanged, Text, Thought, UserText
from accord.transcript.transcript import Transcript

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

_MESSAGE_EVENTS = (Text, Thought, UserText, Media, MessageSet)


class Session:
    """One conversation with an agent."""

    def __init__(self, agent: ConnectedAgent, id: str, cwd: str) -> None:
        self.id = id
        self.cwd = cwd
        self.transcript = Transcript()
        self.last_turn: Turn | None = None
        self.closed = False
        self._agent = agent
        self._fold = agent.dialect.fold(self.transcript)
        self._open: list[Turn] = []
        self._waiting: deque[Turn] = deque()
        self._listeners: list[Listener] = []
        self._questions: set[asyncio.Task[Any]] = set()
        self._turn_of: dict[str, Turn | None] = {}
        self._last_message: str | None = None
        self._last_owner: Turn | None = None

    # -- talking

    def prompt(self, *content: Any, meta: dict[str, Any] | None = None) -> Turn:
        """Sends a prompt: text, or any content. Iterate what it gives for events, or await it for the end.

        While a turn runs, version 1 keeps the next one here until it ends; version 2 hands it to the agent at once."""
        self._agent.check_open("session/prompt")
        pieces = [piece for item in content for piece in as_contents(item)]
        if not pieces:
            raise InvalidParams("session/prompt: there is nothing in this prompt")
        self._check_content(pieces)
        turn = Turn(self, pieces, meta)
        self.last_turn = turn
        if self._open and self._agent.dialect.one_turn_at_a_time:
            self._waiting.append(turn)
        else:
            self._start(turn)
        return turn

    async def cancel(self) -> None:
        """Stops the running turn; turns that wait here are dropped. Open questions to the user are void."""
        waiting, self._waiting = list(self._waiting), deque()
        for turn in waiting:
            turn.end("cancelled")
        self._void_questions()
        if self._open:
            for call in self.transcript.cancel_open_calls():
                self._push(call, 0)
        if self._agent.connection.is_open:
            await self._agent.dialect.cancel(self)

    def events(self) -> Listener:
        """Everything that happens in this session from now on, between turns too: an async iterator to close."""
        listener = Listener(self)
        self._listeners.append(listener)
        return listener

    @property
    def open_turns(self) -> list[Turn]:
        """The turns that were sent and have not ended, oldest first."""
        return list(self._open)

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return bool(self._open)

    # -- what can be set

    @property
    def options(self) -> list[Option]:
        """Everything that can be set: config options, modes and models alike."""
        return self.transcript.options

    @property
    def commands(self) -> list[Command]:
        """The agent's slash commands."""
        return self.transcript.commands

    @property
    def title(self) -> str | None:
        return self.transcript.title

    def option(self, id: str) -> Option | None:
        """The option with this id, or of this category when there is no such id (`mode`, `model`, …)."""
        by_id = next((option for option in self.options if option.id == id), None)
        return by_id or next((option for option in self.options if option.category == id), None)

    async def set_option(self, id: str, value: str | bool) -> None:
        """Sets an option by its id or category. Only what the agent listed may be chosen."""
        option = self.option(id)
        if option is None:
            raise CapabilityError(f"this session has no option {id!r}; nothing was sent")
        if option.is_boolean != isinstance(value, bool):
            raise InvalidParams(f"option {id!r} takes {'a boolean' if option.is_boolean else 'one of its values'}")
        if not option.is_boolean and value not in [choice.value for choice in option.choices]:
            known = ", ".join(choice.value for choice in option.choices)
            raise InvalidParams(f"option {id!r} may be {known}; nothing was sent")
        await self._agent.dialect.set_option(self, option, value)

    async def set_mode(self, mode: str) -> None:
        """Changes the mode."""
        await self.set_option("mode", mode)

    async def set_model(self, model: str) -> None:
        """Changes the model."""
        await self.set_option("model", model)

    # -- the session itself

    async def close(self) -> None:
        """Ends the session's work and frees it at the agent. Does nothing where the agent has no such thing."""
        if self.closed:
            return
        await self.cancel() if self.busy else None
        if self._agent.offers.close and self._agent.connection.is_open:
            await self._agent.dialect.close_session(self.id)
        self._over(None)

    async def fork(self, *, cwd: str | None = None) -> Session:
        """A new session with this one's history (unstable)."""
        return await self._agent.fork_session(self.id, cwd=cwd or self.cwd)

    async def cancel_tool_call(self, id: str) -> None:
        """Stops one tool call that says it can be cancelled (version 2)."""
        call = self.transcript.tool_calls.get(id)
        if call is None or not call.can_cancel:
            raise CapabilityError(f"tool call {id!r} cannot be cancelled on its own; nothing was sent")
        await self._agent.dialect.cancel_tool_call(self, id)

    async def cancel_terminal(self, id: str) -> None:
        """Stops one of the agent's terminals that says it can be cancelled (version 2)."""
        terminal = self.transcript.terminals.get(id)
        if terminal is None or not terminal.can_cancel:
            raise CapabilityError(f"terminal {id!r} cannot be cancelled on its own; nothing was sent")
        await self._agent.dialect.cancel_terminal(self, id)

    # -- underneath: what arrives

    def receive(self, update: Any, size: int) -> None:
        """One update from the wire, in order."""
        event = self._fold.apply(update)
        self._push(event, size)
        if type(event) is StateChanged:
            self._agent.dialect.state_changed(self, event)

    def _push(self, event: Event, size: int) -> None:
        if self._open:
            turn = self._open[0]
            if self._belongs(event, turn):
                turn.push(event, size)
        for listener in self._listeners:
            listener.push(event, size)

    def _belongs(self, event: Event, turn: Turn) -> bool:
        """Whether an event is this turn's: a late word about an earlier turn's message or tool call is not."""
        if type(event) is ToolCall:
            return self._turn_of.setdefault(event.id, turn) is turn
        if isinstance(event, _MESSAGE_EVENTS):
            id = event.message_id
            if id is None:
                return True
            if id != self._last_message:
                self._last_message = id
                self._last_owner = self._turn_of.setdefault(f"message {id}", turn)
            return self._last_owner is turn
        return True

    def note_locally(self, notice: Notice) -> None:
        """Tells the user something that the agent did not say."""
        self._push(self.transcript.add_notice(notice), 0)

    def _check_content(self, pieces: list[Any]) -> None:
        offers = self._agent.offers
        for piece in pieces:
            kind = piece.__struct_config__.tag if piece.__struct_config__.tag_field else ""
            if kind in ("image", "audio", "resource") and not getattr(offers, str(kind)):
                raise CapabilityError(f"the agent takes no {kind} in a prompt; nothing was sent")

    # -- underneath: turns

    def _start(self, turn: Turn) -> None:
        self._open.append(turn)
        turn.started = True
        self._agent.dialect.start_turn(self, turn)

    def end_turn(
        self,
        turn: Turn,
        stop_reason: StopReason | None,
        *,
        tokens: Tokens | None = None,
        error: BaseException | None = None,
    ) -> None:
        """A turn is over, once; the next one that waits here begins."""
        if turn.ended:
            return
        self._void_questions()
        turn.end(stop_reason, tokens=tokens, error=error)
        if turn in self._open:
            self._open.remove(turn)
            self._last_message = None
        if not self._open and self._waiting and not self.closed:
            self._start(self._waiting.popleft())

    async def _cancel_turn(self, turn: Turn) -> None:
        if turn in self._waiting:
            self._waiting.remove(turn)
            turn.end("cancelled")
        elif not turn.ended:
            await self.cancel()

    def _cancel_soon(self, turn: Turn) -> None:
        if self._agent.connection.is_open:
            self._agent.spawn(self._cancel_turn(turn))

    # -- underneath: questions to the user

    async def ask_user(self, question: Awaitable[Any]) -> Any:
        """Runs a handler of the user's; gives None when the question became void meanwhile."""
        task = asyncio.ensure_future(question)
        self._questions.add(task)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            return None
        finally:
            self._questions.discard(task)
        return None if task.cancelled() else task.result()

    def _void_questions(self) -> None:
        for question in list(self._questions):
            question.cancel()

    def _over(self, error: BaseException | None) -> None:
        """The session, or its connection, is gone."""
        self.closed = True
        self._void_questions()
        waiting, self._waiting = list(self._waiting), deque()
        open_turns, self._open = self._open, []
        for turn in [*open_turns, *waiting]:
            turn.end(None if error is not None else "cancelled", error=error)
        for listener in self._listeners:
            listener.finish()
        self._agent.forget(self)

    def __repr__(self) -> str:
        return f"<Session {self.id} in {self.cwd}>"


class Listener:
    """All events of a session as an async iterator. It keeps what is not read yet, so read it or close it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._events: deque[tuple[Event, int]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._finished = False

    def push(self, event: Event, size: int) -> None:
        self._events.append((event, size))
        self._session._agent.connection.backlog.add(size)
        self._wake()

    def finish(self) -> None:
        self._finished = True
        self._wake()

    def close(self) -> None:
        """Stops listening."""
        if self in self._session._listeners:
            self._session._listeners.remove(self)
        while self._events:
            self._session._agent.connection.backlog.remove(self._events.popleft()[1])
        self.finish()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._finished:
                raise StopAsyncIteration
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        event, size = self._events.popleft()
        self._session._agent.connection.backlog.remove(size)
        return event
