"""A session as the client sees it: prompts, events, options, and the transcript of it all."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any

from accord.client.listener import Listener
from accord.client.turn import Turn
from accord.errors import CapabilityError, InvalidParams, LocalProtocolError
from accord.model.content import as_contents
from accord.model.session import Command, Notice, Option, StopReason, Subagent, Tokens
from accord.model.tool import ToolCall
from accord.transcript.events import Event, Media, MessageSet, StateChanged, Text, Thought, UserText
from accord.transcript.transcript import Transcript

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

_MESSAGE_EVENTS = (Text, Thought, UserText, Media, MessageSet)
_NOTABLE = frozenset({StateChanged, MessageSet, UserText, Subagent})
"""Events that say more than their reader sees: when a turn began or ended, or that there is another session."""


class Session:
    """One conversation with an agent."""

    def __init__(self, agent: ConnectedAgent, id: str, cwd: str, *, parent: Session | None = None) -> None:
        self.id = id
        self.cwd = cwd
        self.parent = parent
        """For the session of a subagent: the session that it works for. It can be watched, and at most cancelled."""
        self.transcript = Transcript(id, cwd=cwd)
        self.last_turn: Turn | None = None
        self.closed = False
        self.failure: BaseException | None = None
        """Why it is over, where nobody here wanted that."""
        self._agent = agent
        self._fold = agent.dialect.fold(self.transcript)
        self._open: list[Turn] = []
        self._waiting: deque[Turn] = deque()
        self.deaf = False
        """Set while an agent tells what is known already."""
        self._listeners: list[Listener] = []
        self._questions: dict[asyncio.Task[Any], bool] = {}  # and whether a turn was running when it was asked
        self._turns = 0
        self._owners: dict[str, int] = {}  # the turn, by number, in which a message or tool call was first heard of
        self._last_message: str | None = None
        self._last_owner = 0

    # -- talking

    def prompt(self, *content: Any, meta: dict[str, Any] | None = None) -> Turn:
        """Sends a prompt: text, or any content. Iterate what it gives for events, or await it for the end.

        While a turn runs, version 1 keeps the next one here until it ends; version 2 hands it to the agent at once."""
        self._agent.check_open("session/prompt")
        self._check_mine("be prompted")
        pieces = [piece for item in content for piece in as_contents(item)]
        if not pieces:
            raise InvalidParams("session/prompt: there is nothing in this prompt")
        self._check_content(pieces)
        self._turns += 1
        turn = self.last_turn = Turn(self, pieces, meta, self._turns)
        if self._open and self._agent.dialect.one_turn_at_a_time:
            self._waiting.append(turn)
        else:
            self._start(turn)
        return turn

    async def cancel(self) -> None:
        """Stops the running turn; turns that wait here are dropped. Open questions to the user are void."""
        if self.parent is not None:
            child = self.parent.transcript.subagents.get(self.id)
            if child is None or not child.can_cancel:
                raise CapabilityError(f"the subagent {self.id!r} cannot be cancelled on its own; nothing was sent")
        waiting, self._waiting = list(self._waiting), deque()
        for turn in waiting:
            turn.end("cancelled")
        self._void_questions(all_of_them=self._agent.dialect.one_turn_at_a_time)
        if self._open:
            for call in self.transcript.cancel_open_calls():
                self._push(call, 0)
        if self._agent.connection.is_open:
            await self._agent.dialect.cancel(self)

    def events(self) -> Listener:
        """Everything that happens in this session from now on, between turns too: an async iterator to close."""
        listener = Listener(self)
        if self.closed:
            listener.finish()
        else:
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

    @property
    def one_turn_at_a_time(self) -> bool:
        """Whether a prompt cannot be sent while a turn runs: the version of the protocol that was agreed on says so."""
        return self._agent.dialect.one_turn_at_a_time

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
        by_category = None
        for option in self.transcript.options:
            if option.id == id:
                return option
            if by_category is None and option.category == id:
                by_category = option
        return by_category

    async def set_option(self, id: str, value: str | bool) -> None:
        """Sets an option by its id or category. Only what the agent listed may be chosen."""
        self._check_mine("be set up")
        option = self.option(id)
        if option is None:
            raise CapabilityError(f"this session has no option {id!r}; nothing was sent")
        on_off = option.is_boolean
        if on_off != isinstance(value, bool):
            raise InvalidParams(f"option {id!r} takes {'a boolean' if on_off else 'one of its values'}")
        if not on_off and value not in [choice.value for choice in option.choices]:
            known = ", ".join(choice.value for choice in option.choices)
            raise InvalidParams(f"option {id!r} may be {known}; nothing was sent")
        await self._agent.dialect.set_option(self, option, value)

    def set_mode(self, mode: str) -> Coroutine[Any, Any, None]:
        """Changes the mode."""
        return self.set_option("mode", mode)

    def set_model(self, model: str) -> Coroutine[Any, Any, None]:
        """Changes the model."""
        return self.set_option("model", model)

    # -- the session itself

    async def close(self) -> None:
        """Ends the session's work and frees it at the agent. Does nothing where the agent has no such thing."""
        if self.closed:
            return
        if self.parent is not None:
            raise CapabilityError(f"session {self.id!r} is a subagent's; it cannot be closed from here")
        if self.busy:
            await self.cancel()
        if self._agent.offers.close and self._agent.connection.is_open:
            await self._agent.close_session(self.id)
        self._over(None)

    async def fork(self, *, cwd: str | None = None) -> Session:
        """A new session with this one's history (unstable)."""
        self._check_mine("be forked")
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
        if self.deaf:
            return
        event = self._fold.apply(update)
        self._push(event, size)
        if type(event) in _NOTABLE:
            self._notice(event)

    def _push(self, event: Event, size: int) -> None:
        if self._open:
            turn = self._open[0]
            if self._owner(event, turn.number) == turn.number:
                turn.push(event, size)
        else:
            self._owner(event, 0)
        for listener in self._listeners:
            listener.push(event, size)

    def _owner(self, event: Event, number: int) -> int:
        """The turn an event belongs to: a late word about a message or tool call is its own turn's, not this one's."""
        if type(event) is ToolCall:
            return self._owners.setdefault(event.id, number)
        if isinstance(event, _MESSAGE_EVENTS) and event.message_id is not None:
            id = event.message_id
            if id != self._last_message:
                self._last_message = id
                self._last_owner = self._owners.setdefault(f"message {id}", number)
            return self._last_owner
        return number

    def owner_of(self, message_id: str) -> int | None:
        """The number of the turn in which a message was said."""
        return self._owners.get(f"message {message_id}")

    def _notice(self, event: Any) -> None:
        if type(event) is Subagent:
            self._agent.adopt(event, self)
        else:
            self._agent.dialect.noticed(self, event)

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
        self._void_questions(all_of_them=False)
        turn.end(stop_reason, tokens=tokens, error=error)
        if turn in self._open:
            self._open.remove(turn)
            if self._open and not self._open[0].inserted:
                self._open[0].place = len(self.transcript.timeline)
        # When the connection is gone those that wait are told so with all the others.
        if not self._open and self._waiting and not self.closed and self._agent.connection.is_open:
            self._start(self._waiting.popleft())

    async def _cancel_turn(self, turn: Turn) -> None:
        if turn in self._waiting:
            self._waiting.remove(turn)
            turn.end("cancelled")
        elif not turn.ended and not (turn is not self._open[0] and self._agent.dialect.withdraw(turn)):
            await self.cancel()

    def _cancel_soon(self, turn: Turn) -> None:
        if self._agent.connection.is_open and not turn.ended:
            self._agent.spawn(self._cancel_turn(turn))

    # -- underneath: questions to the user

    async def ask_user(self, question: Awaitable[Any]) -> Any:
        """Runs a handler of the user's; gives None when the question became void meanwhile."""
        task: asyncio.Task[Any] = asyncio.ensure_future(question)
        self._questions[task] = self.busy
        self._agent.dialect.asking(self)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            return None
        finally:
            del self._questions[task]
            self._agent.dialect.asking(self)
        return None if task.cancelled() else task.result()

    @property
    def is_asking(self) -> bool:
        """Whether the running turn waits for the user."""
        return any(self._questions.values())

    def _void_questions(self, *, all_of_them: bool) -> None:
        for question, of_turn in list(self._questions.items()):
            if of_turn or all_of_them:
                question.cancel()

    # -- underneath: the end

    def _check_mine(self, what: str) -> None:
        if self.parent is not None:
            raise CapabilityError(f"session {self.id!r} is a subagent's; it cannot {what} from here")
        if self.closed:
            raise LocalProtocolError(f"session {self.id!r} is closed; it cannot {what} any more")

    def interrupted(self, error: BaseException) -> None:
        """The connection broke, and may come back: what was under way failed, the session stays."""
        self._void_questions(all_of_them=True)
        waiting, self._waiting = list(self._waiting), deque()
        open_turns, self._open = self._open, []
        for turn in [*open_turns, *waiting]:
            turn.end(None, error=error)

    def _over(self, error: BaseException | None) -> None:
        """The session, or its connection, is gone."""
        if self.closed:
            return
        self.closed, self.failure = True, error
        self._void_questions(all_of_them=True)
        waiting, self._waiting = list(self._waiting), deque()
        open_turns, self._open = self._open, []
        for turn in [*open_turns, *waiting]:
            turn.end(None if error is not None else "cancelled", error=error)
        for listener in self._listeners:
            listener.finish()
        self._agent.forget(self, error)

    def __repr__(self) -> str:
        return f"<Session {self.id} in {self.cwd}>"
