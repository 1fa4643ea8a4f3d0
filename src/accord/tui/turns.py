"""The turns of a talk: prompts are sent, taken or refused by the agent, and their turns run, end or are stopped.

A prompt becomes part of the conversation at once in version 1, and in version 2 when the agent says so; until then it
is kept in pending.py."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accord.transcript.message import Message
from accord.tui.checkpointing import Checkpointing
from accord.tui.fault import noted
from accord.tui.pending import GRACE, Prompt

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.transcript.events import Event
    from accord.tui.link import Link

ENDINGS = {
    "cancelled": ("info", "Cancelled"),
    "refusal": ("warning", "The agent refused to go on"),
    "max_tokens": ("warning", "The agent ran out of tokens before it was done"),
    "max_turn_requests": ("warning", "The agent made as many requests as it may in one turn"),
}
STUCK = 4.0
"""Seconds after which an agent that was told to stop, and goes on, seems to hang."""


class Turns(Checkpointing):
    """The part of a talk that sends prompts and waits for their turns."""

    def __init__(self, link: Link, on_change: Callable[[], None]) -> None:
        super().__init__(link, on_change)
        self.on_turn_end: Callable[[Turn], None] | None = None
        self.on_lost: Callable[[], None] | None = None
        """Called when the agent is there, as a new process, and does not know the session."""
        self.at_work: list[Prompt] = []
        """Prompts whose turns run."""
        self.died_at_work = False
        """Whether the agent went in the middle of a turn, which may be why."""
        self.turn: Turn | None = None
        self.turn_began = 0.0
        self.is_cancelling = False
        self._cancelled_at = 0.0
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()

    def _run(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fault(error)

    def _fault(self, error: BaseException) -> None:
        """Something failed in a way that nobody thought of: that is told, and everything else goes on."""
        self.say("error", "Something went wrong here", noted(error))

    @property
    def is_stuck(self) -> bool:
        """Whether the agent was told to stop, and has not for a while."""
        return self.is_cancelling and time.monotonic() - self._cancelled_at > STUCK

    # -- sending

    def send(self, prompt: Prompt) -> None:
        """Sends a prompt, or lets it wait while a turn runs or no session is there yet. What was on hold follows it."""
        is_first = self.on_hold and self.session is not None and not self.session.busy
        self.on_hold = False
        self.queue.insert(0 if is_first else len(self.queue), prompt)
        self._send_next()
        self.on_change()

    def steer(self, prompt: Prompt) -> None:
        """Sends a prompt into the running turn where the protocol can do that; otherwise stops the turn for it."""
        if self.session is None or not self.session.busy:
            self.send(prompt)
        elif self.session.one_turn_at_a_time:
            self.on_hold = False
            self.queue.insert(0, prompt)
            self._run(self.cancel())
        else:
            prompt.steers = True
            self._start(prompt)
        self.on_change()

    def hold(self) -> None:
        """The user stops the turn: what waits was meant to follow on it, and is not sent unasked."""
        self.on_hold = self.on_hold or bool(self.queue)

    def release(self) -> bool:
        """The user has seen what is on hold: it may be sent. Gives whether anything was."""
        was_held, self.on_hold = self.on_hold and bool(self.queue), False
        self._send_next()
        self.on_change()
        return was_held

    def _send_next(self) -> None:
        if not self.queue:
            self.on_hold = False
        if self.session is None or self.session.closed or self.session.busy or not self.link.is_open:
            return  # what waits goes on waiting; when the agent is gone, until it is started again
        if self.queue and not self.on_hold and not any(prompt.turn is None for prompt in self.sent):
            self._start(self.queue.pop(0))

    def _start(self, prompt: Prompt) -> None:
        prompt.since = time.monotonic()
        self.sent.append(prompt)
        if self.session is not None:
            self.link.untouched.ids.discard(self.session.id)
        asyncio.get_running_loop().call_later(GRACE, self.on_change)
        self._run(self._send(prompt))

    async def _send(self, prompt: Prompt) -> None:
        from accord.errors import AccordError, ConnectionClosed

        assert self.session is not None
        is_more = self.session.busy
        try:
            async with self._one_at_a_time:
                await self._checkpoint(prompt.text[:80])
                content = await self._content(prompt.text)
                prompt.place = len(self.session.transcript.timeline)
                turn = prompt.turn = self.session.prompt(*content)
        except ConnectionClosed:  # why is told when the listener ends
            self._came_back(prompt)
            self.on_change()
            return
        except Exception as error:
            self.sent.remove(prompt)
            is_usual = isinstance(error, (AccordError, OSError))
            self.say("error", "This prompt could not be sent", str(error) if is_usual else noted(error))
            if self.on_unsent is not None:
                self.on_unsent(prompt)
            self._send_next()
            return
        if self.session.one_turn_at_a_time:
            self._took(prompt)
        else:
            turn.on_inserted = lambda: self._took(prompt)
        self.turn = turn
        if not is_more:
            self.turn_began = time.monotonic()
            self.is_cancelling = False
        self.at_work.append(prompt)
        self._run(self._wait(prompt, turn))
        self.on_change()

    async def _content(self, text: str) -> list[Any]:
        """A prompt as the agent takes it. Files are read where no key waits for it."""
        assert self.link.agent is not None
        offers = self.link.agent.offers
        if "@" not in text:
            return self.link.outside.content(text, (), offers)
        return await asyncio.to_thread(self.link.outside.content, text, (), offers)

    # -- what the agent does with them

    def _took(self, prompt: Prompt) -> None:
        """A prompt is part of the conversation."""
        if prompt not in self.sent:
            return
        self.sent.remove(prompt)
        prompt.taken = True
        if prompt.wanted:
            self.say("info", "It was too late to take a prompt back: the agent has it")
        self.on_change()

    def _echoed(self, event: Event) -> None:
        """The agent repeats what a user said; that may come before it answers the prompt."""
        if not self.sent or self.session is None:
            return
        id, timeline = getattr(event, "message_id", None), self.session.transcript.timeline
        for place in range(len(timeline) - 1, min(prompt.place for prompt in self.sent) - 1, -1):
            item = timeline[place]
            if isinstance(item, Message) and item.role == "user" and id in (None, item.id):
                text = item.text.strip()
                fits = (each for each in self.sent if each.turn and each.place <= place and text.startswith(each.text))
                if (said := next(fits, None)) is not None:
                    self._took(said)
                return

    async def _wait(self, prompt: Prompt, turn: Turn) -> None:
        from accord.config.mask import masked
        from accord.errors import AccordError, AuthRequired, ConnectionClosed

        try:
            await turn
        except ConnectionClosed:  # told once, with why, when the listener ends
            if self.is_lost:
                return
            self.died_at_work = True
            self._came_back(prompt)
        except AuthRequired as error:
            self._locked_out(prompt, str(error))
        except Exception as error:
            self.say("error", "The turn failed", masked(str(error)) if isinstance(error, AccordError) else noted(error))
            if prompt in self.sent:
                self.sent.remove(prompt)
                if self.on_unsent is not None:
                    self.on_unsent(prompt)
        else:
            self._ended(prompt, turn)
        self.at_work = [each for each in self.at_work if each is not prompt]
        self.is_cancelling = self.is_cancelling and self.session is not None and self.session.busy
        if self.on_turn_end is not None and (prompt.taken or turn.error is not None):
            self.on_turn_end(turn)
        self._send_next()
        self.on_change()

    def _locked_out(self, prompt: Prompt, why: str) -> None:
        """The agent wants a login, and there was none. What was typed is there again; what waits would fare alike."""
        from accord.config.mask import masked

        if prompt in self.sent:
            self.sent.remove(prompt)
        if self.on_unsent is not None:
            self.on_unsent(prompt)
        self.on_hold = bool(self.queue)
        how = "Your prompt can be sent again; “Log in” in ctrl+p logs in"
        told = [masked(why), how, self.held_words]
        self.say("error", "You are not logged in", "\n".join(filter(None, told)))

    @property
    def is_lost(self) -> bool:
        """Whether the session is over though its agent is there: it was started again, for a login, and does not know
        it."""
        session = self.session
        return session is not None and session.closed and session.failure is not None and self.link.is_open

    def _unsay(self) -> None:
        """What the agent was told and did not begin is not said yet: it waits again. The rest stays as it is."""
        assert self.session is not None
        timeline = self.session.transcript.timeline
        for prompt in self.at_work:
            if prompt.turn is None or prompt.turn.has_output:
                self.died_at_work = True  # what it did is not to be done twice without a word
                continue
            places = range(prompt.place, len(timeline))
            said = (at for at in places if isinstance(item := timeline[at], Message) and item.role == "user")
            if prompt.taken and (place := next(said, None)) is not None:
                del timeline[place]
            if prompt not in self.sent:
                self.sent.append(prompt)
            prompt.taken = False
        self.at_work.clear()

    def _ended(self, prompt: Prompt, turn: Turn) -> None:
        if prompt in self.sent and turn.stop_reason == "cancelled":
            self._refused(prompt)
            return
        self._took(prompt)
        if turn.stop_reason != "end_turn":
            usual = ("info", f"The turn ended: {turn.stop_reason}")
            self.say(*ENDINGS.get(str(turn.stop_reason), usual))

    def _refused(self, prompt: Prompt) -> None:
        """The agent did not take a prompt: because the user wanted it back, or for reasons of its own."""
        if prompt.wanted:
            self.sent.remove(prompt)
            if prompt.wanted == "back" and self.on_unsent is not None:
                self.on_unsent(prompt)
            return
        self._came_back(prompt)
        self.on_hold = True  # to send it again at once may be to be refused for ever
        self.say("info", "The agent did not take a prompt; it is in the queue again", self.held_words)

    async def cancel(self) -> None:
        """Stops the running turn. What waits stays."""
        if self.session is not None and self.session.busy and self.turn is not None:
            self.is_cancelling = True
            self._cancelled_at = time.monotonic()
            await self.session.cancel()
        self.on_change()
