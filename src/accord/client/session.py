"""A session as the client sees it: prompts, events, options, and its transcript."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from accord.client.item_owners import OWNED, ItemOwners
from accord.client.listener import Listener
from accord.client.turn import Turn
from accord.errors import CapabilityError, InvalidParams, LocalProtocolError
from accord.model.content import ContentsLike, TextContent, as_contents
from accord.model.session import Command, Notice, Option, StopReason, Subagent, Tokens
from accord.model.tool import ToolCall
from accord.model.values import short
from accord.schema.wire import encode
from accord.transcript.events import Event, MessageSet, StateChanged, Text, Thought, UserText
from accord.transcript.message import Message
from accord.transcript.transcript import Transcript

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

_NOTABLE = frozenset({StateChanged, MessageSet, UserText, Subagent})
"""Events that the library acts on: they report the start or end of a turn, or another session."""


class Session:
    """One session with an agent."""

    def __init__(self, agent: ConnectedAgent, id: str, cwd: str, *, parent: Session | None = None) -> None:
        self.id = id
        self.cwd = cwd
        self.parent = parent
        """For the session of a subagent: the session it works for. Such a session can only be watched and cancelled."""
        self.transcript: Transcript = Transcript(id, cwd=cwd)
        self.owners: ItemOwners = ItemOwners()
        self.transcript.owners = self.owners
        self.last_turn: Turn | None = None
        self.response_meta: dict[str, Any] | None = None
        """The `_meta` of the response that opened the session."""
        self.closed: bool = False
        self.failure: BaseException | None = None
        """The error that ended the session; None if it was closed normally."""
        self.agent = agent
        self._fold = agent.dialect.fold(self.transcript, self)
        # Tuples, because an empty one takes no memory: most sessions are idle, and few ever queue a prompt.
        self._open: tuple[Turn, ...] = ()
        self._waiting: tuple[Turn, ...] = ()
        self.ignores_updates = False
        """Set while an agent replays history that the transcript already has."""
        self._is_restoring = False
        self.listeners: list[Listener[Event]] = []
        # Open requests to the user, and whether a turn was running when they came. The keys are tasks, so that they can
        # be cancelled; a request whose handler is being called right now has a placeholder.
        self._questions: dict[Any, bool] = {}
        self._turns = 0

    # -- prompts and events

    def prompt(self, *content: ContentsLike, meta: dict[str, Any] | None = None) -> Turn:
        """Send a prompt: text or other content. Iterate over the result for events, or await it for the end of the
        turn.

        While a turn is running, version 1 queues the next prompt here; version 2 sends it to the agent at once."""
        self.agent.check_open("session/prompt")
        self._check_usable("be prompted")
        pieces = [piece for index, item in enumerate(content) for piece in as_contents(item, f"content[{index}]")]
        if not pieces:
            raise InvalidParams("session/prompt: the prompt is empty")
        self._check_content(pieces)
        # Encode before changing state, so that a prompt that can't be sent leaves the session unchanged.
        request = encode(self.agent.dialect.prompt_request(self.id, pieces, meta))
        self._turns += 1
        turn = self.last_turn = Turn(self, pieces, meta, self._turns, request)
        if self._open and self.agent.dialect.one_turn_at_a_time:
            self._waiting = (*self._waiting, turn)
        else:
            self._start(turn)
        return turn

    async def cancel(self) -> None:
        """Cancel the running turn and drop queued ones. Open requests to the user are cancelled too."""
        if self.parent is not None:
            child = self.parent.transcript.subagents.get(self.id)
            if child is None or not child.can_cancel:
                raise CapabilityError(f"the subagent {self.id!r} cannot be cancelled on its own; nothing was sent")
        waiting, self._waiting = self._waiting, ()
        for turn in waiting:
            turn.end("cancelled")
        self._cancel_questions(all_of_them=self.agent.dialect.one_turn_at_a_time)
        if self._open:
            # Don't cancel unfinished calls of earlier turns.
            for call in self.transcript.cancel_open_calls(call.id for turn in self._open for call in turn.tool_calls):
                self.push(call)
        if self.agent.connection.is_open:
            deadline = self.agent.deadline("cancel")
            if deadline is not None and self._open:
                give_up = asyncio.get_running_loop().call_later
                give_up(deadline.seconds, self._end_unconfirmed, self._open, deadline.seconds)
            await self.agent.dialect.cancel(self)

    def _end_unconfirmed(self, turns: Sequence[Turn], seconds: float) -> None:
        """End cancelled turns that the agent didn't confirm in time: it is suspended or ignores the cancellation."""
        turns = [turn for turn in turns if not turn.ended and turn in self._open]
        if turns:
            title = f"The agent didn't confirm the cancellation within {seconds:g} s, so the turn was ended without it"
            self.note_locally(Notice(severity="warning", title=title))
            self.push(self.transcript.set_state("idle", stop_reason="cancelled"))
        for turn in turns:
            self.end_turn(turn, "cancelled")

    def events(self) -> Listener[Event]:
        """Listen to all events of this session from now on, including those between turns. Close the iterator when
        done."""
        listener = Listener(self.listeners, self.agent.connection.backlog)
        if self.closed:
            listener.finish()
        else:
            self.listeners.append(listener)
        return listener

    @property
    def open_turns(self) -> list[Turn]:
        """The turns that were sent and have not ended, oldest first."""
        return list(self._open)

    def is_open(self, turn: Turn) -> bool:
        """Return whether a turn was sent and has not ended."""
        return not turn.ended and turn in self._open

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return bool(self._open)

    @property
    def one_turn_at_a_time(self) -> bool:
        """Whether prompts are queued while a turn is running, which depends on the protocol version."""
        return self.agent.dialect.one_turn_at_a_time

    # -- options

    @property
    def options(self) -> list[Option]:
        """All options of the session: config options, modes and models."""
        return self.transcript.options

    @property
    def commands(self) -> list[Command]:
        """The agent's slash commands."""
        return self.transcript.commands

    @property
    def title(self) -> str | None:
        return self.transcript.title

    def option(self, id: str) -> Option | None:
        """Find an option by its id, or else by its category (`mode`, `model`, …)."""
        by_category = None
        for option in self.transcript.options:
            if option.id == id:
                return option
            if by_category is None and option.category == id and option.is_known:
                by_category = option
        return by_category

    async def set_option(self, id: str, value: str | bool, *, unlisted: bool = False) -> None:
        """Set an option by its id or category. The value must be one that the agent lists.

        With `unlisted`, the agent decides: it may support more than it lists, such as the newest models."""
        if self.parent is not None or self.closed:
            self._check_usable("be set up")
        option = self.option(id)
        if option is None:
            raise CapabilityError(f"this session has no option {id!r}; nothing was sent")
        if option.other is not None:
            raise CapabilityError(f"option {id!r} is of a type that isn't known here; nothing was sent")
        on_off = isinstance(option.value, bool)
        if on_off != isinstance(value, bool):
            raise InvalidParams(f"option {id!r} takes {'a boolean' if on_off else 'one of its values'}")
        if not on_off and not unlisted and not option.accepts(value):
            known = ", ".join(choice.value for choice in option.choices)
            raise InvalidParams(f"option {id!r} is {short(value)}; it may be {known}; nothing was sent")
        await self.agent.dialect.set_option(self, option, value)

    def set_mode(self, mode: str) -> Coroutine[Any, Any, None]:
        """Change the mode."""
        return self.set_option("mode", mode)

    def set_model(self, model: str) -> Coroutine[Any, Any, None]:
        """Change the model."""
        return self.set_option("model", model)

    # -- the session itself

    async def close(self) -> None:
        """Cancel the session's work and close it at the agent, if the agent supports that."""
        if self.closed:
            return
        if self.parent is not None:
            raise CapabilityError(f"session {self.id!r} is a subagent's; it cannot be closed from here")
        if self.busy:
            await self.cancel()
        if self.agent.offers.close and self.agent.connection.is_open:
            await self.agent.close_session(self.id)
        self.end(None)

    async def fork(self, *, cwd: str | None = None) -> Session:
        """Create a session with this one's history (unstable)."""
        self._check_usable("be forked")
        return await self.agent.fork_session(self.id, cwd=cwd or self.cwd)

    async def cancel_tool_call(self, id: str) -> None:
        """Cancel a tool call that can be cancelled on its own (version 2)."""
        call = self.transcript.tool_calls.get(id)
        if call is None or not call.can_cancel:
            raise CapabilityError(f"tool call {id!r} cannot be cancelled on its own; nothing was sent")
        await self.agent.dialect.cancel_tool_call(self, id)

    async def cancel_terminal(self, id: str) -> None:
        """Cancel one of the agent's terminals that can be cancelled on its own (version 2)."""
        terminal = self.transcript.terminals.get(id)
        if terminal is None or not terminal.can_cancel:
            raise CapabilityError(f"terminal {id!r} cannot be cancelled on its own; nothing was sent")
        await self.agent.dialect.cancel_terminal(self, id)

    # -- for the library: incoming updates

    def receive(self, update: Any, size: int) -> None:
        """Apply an update from the wire."""
        if self.ignores_updates:
            return
        event = self._fold.apply(update)
        kind = type(event)
        if (kind is Text or kind is Thought) and event.message_id == self.owners.streaming:
            # Nearly all updates are another chunk of the same message.
            self._open[0].push(event, size)
            for listener in self.listeners:
                listener.push(event, size)
            return
        self.push(event, size)
        if kind in _NOTABLE:
            self._notice(event)

    def receive_call(self, call: Any) -> None:
        """Apply the tool call of a permission request, which counts as an update (version 1)."""
        self.push(self._fold.tool_call(call))

    def push(self, event: Event, size: int = 0) -> None:
        """Publish an event to all listeners, and to the running turn if it belongs to it.

        `size` is the size of its message in bytes, for back-pressure; 0 for events that this side creates."""
        if not self._is_restoring:  # the turn already has most of the replayed events; only listeners see them again
            owners = self.owners
            owner = owners.find(event) if type(event) in OWNED else owners.running
            if self._open and owner == owners.running:
                self._open[0].push(event, size)
        for listener in self.listeners:
            listener.push(event, size)

    def _notice(self, event: Any) -> None:
        if type(event) is Subagent:
            self.agent.registry.adopt(event, self)
        else:
            self.agent.dialect.progress_reported(self, event)

    def note_locally(self, notice: Notice) -> None:
        """Show the user a notice that doesn't come from the agent."""
        self.push(self.transcript.add_notice(notice))

    def _check_content(self, pieces: list[Any]) -> None:
        offers = self.agent.offers
        for piece in pieces:
            if type(piece) is TextContent:
                continue
            kind = piece.__struct_config__.tag if piece.__struct_config__.tag_field else ""
            if kind in ("image", "audio", "resource") and not getattr(offers, str(kind)):
                raise CapabilityError(f"the agent doesn't support {kind} in prompts; nothing was sent")

    # -- for the library: turns

    def _start(self, turn: Turn) -> None:
        self._open = (*self._open, turn)
        self._open_changed()
        turn.started = True
        self.agent.dialect.start_turn(self, turn)

    def end_turn(
        self,
        turn: Turn,
        stop_reason: StopReason | None,
        *,
        tokens: Tokens | None = None,
        error: BaseException | None = None,
    ) -> None:
        """End a turn, if it hasn't ended yet, and start the next queued one."""
        if turn.ended:
            return
        self._cancel_questions(all_of_them=False)
        turn.end(stop_reason, tokens=tokens, error=error)
        if turn in self._open:
            self._open = tuple(other for other in self._open if other is not turn)
            self._open_changed()
            if self._open and not self._open[0].inserted:
                self._open[0].position = len(self.transcript.timeline)
        # If the connection is closed, queued turns fail with the others.
        if not self._open and self._waiting and not self.closed and self.agent.connection.is_open:
            following, *waiting = self._waiting
            self._waiting = tuple(waiting)
            self._start(following)

    def _open_changed(self) -> None:
        self.owners.set_running(self._open[0].number if self._open else 0)

    async def cancel_turn(self, turn: Turn) -> None:
        """Cancel one turn: withdraw it if the agent hasn't started it, else ask the agent to stop."""
        if turn in self._waiting:
            self._waiting = tuple(other for other in self._waiting if other is not turn)
            turn.end("cancelled")
        elif not turn.ended and not (turn is not self._open[0] and self.agent.dialect.withdraw(turn)):
            await self.cancel()

    def cancel_soon(self, turn: Turn) -> None:
        """Cancel a turn in the background, for callers that can't await."""
        if self.agent.connection.is_open and not turn.ended:
            self.agent.tasks.spawn(self.cancel_turn(turn))

    # -- for the library: a transcript that is replayed while the session is open

    def start_restoring(self) -> None:
        """Clear the transcript: the server is about to replay the whole history, because it no longer knows which part
        of it was received here."""
        self.transcript.clear()
        self.transcript.replaying = self._is_restoring = True
        self.owners.clear()

    def finish_restoring(self) -> None:
        """Continue with the replayed transcript. Items after the last message of the user belong to the open turn."""
        self.transcript.replaying = self._is_restoring = False
        if not self._open:
            self.push(self.transcript.set_state("idle"))
            return
        turn, calls = self._open[0], []
        for item in reversed(self.transcript.timeline):
            if isinstance(item, Message):
                if item.role == "user":
                    break
                self.owners.assign_message(item.id)
            elif isinstance(item, ToolCall):
                self.owners.assign_call(item.id)
                calls.append(item.id)
        turn.reread(reversed(calls))
        self.push(self.transcript.set_state("running"))

    # -- for the library: requests to the user

    async def ask_user(self, handler: Callable[[Any], Any], request: Any) -> Any:
        """Call one of the user's handlers. Returns None if the request was cancelled meanwhile.

        A handler that isn't async has finished when it returns, and needs no task."""
        key: Any = object()
        self._questions[key] = self.busy
        self.agent.dialect.questions_changed(self)
        try:
            answer = handler(request)
            if not isawaitable(answer):
                return answer
            task: asyncio.Future[Any] = asyncio.ensure_future(answer)
            self._questions[task] = self._questions.pop(key)
            key = task
            await asyncio.wait([task])
        except asyncio.CancelledError:
            if isinstance(key, asyncio.Future):
                key.cancel()
            return None
        finally:
            del self._questions[key]
            self.agent.dialect.questions_changed(self)
        return None if task.cancelled() else task.result()

    @property
    def is_asking(self) -> bool:
        """Whether the running turn waits for the user."""
        return any(self._questions.values())

    def _cancel_questions(self, *, all_of_them: bool) -> None:
        for question, of_turn in list(self._questions.items()):
            if (of_turn or all_of_them) and isinstance(question, asyncio.Future):
                question.cancel()

    # -- for the library: the end

    def _check_usable(self, what: str) -> None:
        if self.parent is not None:
            raise CapabilityError(f"session {self.id!r} is a subagent's; it cannot {what} from here")
        if self.closed:
            raise LocalProtocolError(f"session {self.id!r} is closed; it can no longer {what}")

    def interrupt(self, error: BaseException) -> None:
        """Fail the running and queued turns: the connection was lost. The session remains and may be reopened."""
        self._cancel_questions(all_of_them=True)
        waiting, self._waiting = self._waiting, ()
        open_turns, self._open = self._open, ()
        self._open_changed()
        for turn in [*open_turns, *waiting]:
            turn.end(None, error=error)

    def end(self, error: BaseException | None) -> None:
        """End the session, because it or its connection was closed."""
        if self.closed:
            return
        self.closed, self.failure = True, error
        self._cancel_questions(all_of_them=True)
        if error is not None and self.transcript.state not in ("idle", "unknown"):
            self.push(self.transcript.set_state("idle"))
        waiting, self._waiting = self._waiting, ()
        open_turns, self._open = self._open, ()
        self._open_changed()
        for turn in [*open_turns, *waiting]:
            turn.end(None if error is not None else "cancelled", error=error)
        for listener in self.listeners:
            listener.finish()
        self.agent.registry.forget(self, error)

    def __repr__(self) -> str:
        return f"<Session {self.id} in {self.cwd}>"
