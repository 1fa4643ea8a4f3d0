"""One session in a tab: its turns, the prompts that wait, the questions that are open, and what changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from accord.model.session import Compaction, Notice
from accord.model.tool import ToolCall
from accord.transcript import events
from accord.tui.conversation.block import Printed, Span
from accord.tui.opening import How, open_session

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.client.turn import Turn
    from accord.model.requests import McpServer
    from accord.policy.choices import Choice, Question
    from accord.transcript.transcript import Transcript
    from accord.tui.conversation.items import Key
    from accord.tui.link import Link
    from accord.workspace.checkpoints import Checkpoints

State = Literal["starting", "opening", "running", "waiting", "idle", "gone"]
ENDINGS = {
    "cancelled": ("info", "Cancelled"),
    "refusal": ("warning", "The agent refused to go on"),
    "max_tokens": ("warning", "The agent ran out of tokens before it was done"),
    "max_turn_requests": ("warning", "The agent made as many requests as it may in one turn"),
}


STUCK = 4.0
"""Seconds after which an agent that was told to stop, and goes on, seems to hang."""


@dataclass
class Prompt:
    """Something to be sent. Files and pictures are mentioned in it."""

    text: str


@dataclass
class Asked:
    """A question of the policy that waits for the user."""

    question: Question
    answer: asyncio.Future[Choice | None]


class Talk:
    """A session with an agent, or one that is about to begin."""

    def __init__(self, link: Link, on_change: Callable[[], None]) -> None:
        self.link = link
        self.session: Session | None = None
        self.failure = ""
        self.on_change = on_change
        self.on_turn_end: Callable[[Turn], None] | None = None
        self.on_unsent: Callable[[Prompt], None] | None = None
        """Gets a prompt that cannot be sent as it is, to be changed."""
        self.changed: set[Key] = set()
        """The items that changed since they were last taken."""
        self.spans: dict[str, Span] = {}
        self.queue: list[Prompt] = []
        self.asked: list[Asked] = []
        self.turn: Turn | None = None
        self.turn_began = 0.0
        self.unknown = 0
        self.is_cancelling = False
        self._cancelled_at = 0.0
        self.origin = ""
        """What the session came from, as a title until it has one of its own."""
        self.servers: list[McpServer] = []
        self.checkpoints: Checkpoints | None = None
        """What files were like before each turn, where the agent changes them through us."""
        self.before: Talk | None = None
        """The talk that this one goes on from, where its agent died."""
        self._wanted: str | None = None
        self._is_sending = False
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- what it is

    @property
    def state(self) -> State:
        if self.link.state == "starting":
            return "starting"
        if self.link.state in ("failed", "gone") or self.failure:
            return "gone"
        if self.session is None:
            return "opening"
        if self.session.closed:
            return "gone"
        if self.asked or self.session.is_asking:
            return "waiting"
        return "running" if self.session.busy or self.session.transcript.state == "running" else "idle"

    @property
    def title(self) -> str:
        return (self.session.title if self.session is not None else None) or self.origin or self.link.name

    @property
    def id(self) -> str | None:
        """The session, or the one that was to be opened."""
        if self.session is not None:
            return self.session.id
        return self.before.id if self._wanted is None and self.before is not None else self._wanted

    @property
    def transcript(self) -> Transcript | None:
        """What was said, also by an agent that is gone."""
        if self.session is not None:
            return self.session.transcript
        return self.before.transcript if self.before is not None else None

    @property
    def is_stuck(self) -> bool:
        """Whether the agent was told to stop, and has not for a while."""
        return self.is_cancelling and time.monotonic() - self._cancelled_at > STUCK

    def take_changes(self) -> set[Key]:
        """What changed since this was last called."""
        changed, self.changed = self.changed, set()
        return changed

    # -- beginning

    async def open(self, id: str | None = None, how: How = "new", earlier: Transcript | None = None) -> None:
        """Begins a session, or opens one that is there, below what was said. What goes wrong is in `failure`."""
        from accord.errors import AccordError

        self._wanted = id if how in ("load", "resume") else None
        await self.link.ready.wait()
        agent = self.link.agent
        if agent is None or self.link.state != "ready":
            self.failure = self.link.failure or "the agent is not there"
            self.on_change()
            return
        try:
            servers, notices = self.link.outside.servers(agent.offers)
            self.servers = servers
            self.link.notes += [Notice(severity="warning", title=notice) for notice in notices]
            self.session = await open_session(agent, id, how, servers, earlier)
        except AccordError as error:
            self.failure = str(error)
            self.on_change()
            return
        self._begin()

    def _begin(self) -> None:
        assert self.session is not None
        self.failure = ""
        self._run(self._listen(self.session))
        self.checkpoints = self.link.checkpoints(self.session.id)
        notes, self.link.notes = self.link.notes, []
        for note in notes:
            self.session.note_locally(note)
        self.on_change()
        self._send_next()

    def _run(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- what happens

    async def _listen(self, session: Session) -> None:
        async with session.events() as listener:
            async for event in listener:
                self.hear(event)
        for call in session.transcript.cancel_open_calls():  # nobody is at them any more
            self.hear(call)
        if self.link.state == "gone" or self.link.failure:
            self.say("error", "The agent is gone", "\n".join([self.link.failure, *self._what_now()]))
        self.on_change()

    def _what_now(self) -> list[str]:
        """What the user can do without an agent."""
        waits = len(self.queue)
        kept = f"; {'the prompt that waits is' if waits == 1 else f'the {waits} prompts that wait are'} kept for then"
        return [f"ctrl+r starts it again{kept if waits else ''}"]

    def hear(self, event: events.Event) -> None:
        """Notes what an event changed; it is drawn with the next frame."""
        match event:
            case events.Text():
                self.changed.add(("agent", event.message_id or ""))
            case events.Thought():
                self.changed.add(("thought", event.message_id or ""))
            case events.UserText():
                self.changed.add(("user", event.message_id or ""))
            case events.Media() | events.MessageSet():
                self.changed.add((event.role, event.message_id or ""))
            case ToolCall():
                self.changed.add(("tool", event.id))
                self._clock(event)
            case Compaction():
                self.changed.add(("compaction", event.id))
            case events.TerminalOutput():
                self._terminal_changed(event.terminal_id)
            case events.TerminalChanged():
                self._terminal_changed(event.terminal.id)
            case events.Unknown():
                self.unknown += 1
        self.on_change()

    def _clock(self, call: ToolCall) -> None:
        now = time.monotonic()
        span = self.spans.get(call.id)
        if span is None:
            self.spans[call.id] = Span(now, now if call.is_final else None)
        elif call.is_final and span.ended is None:
            self.spans[call.id] = self._went_on(span)._replace(ended=now)

    def _went_on(self, span: Span) -> Span:
        """The span without the time that the user was asked."""
        if span.asked is None:
            return span
        return span._replace(begun=span.begun + time.monotonic() - span.asked, asked=None)

    def _stop_clock(self, question: Question, *, stops: bool) -> None:
        """A call that the user is asked about takes no time meanwhile."""
        call = question.request.tool_call if question.request is not None else None
        if call is None or (span := self.spans.get(call.id)) is None:
            return
        self.spans[call.id] = span._replace(asked=time.monotonic()) if stops else self._went_on(span)
        self.changed.add(("tool", call.id))

    def _terminal_changed(self, id: str) -> None:
        from accord.model.tool import TerminalRef

        assert self.session is not None
        for call in reversed(self.session.transcript.tool_calls.values()):
            if any(isinstance(item, TerminalRef) and item.terminal_id == id for item in call.content):
                self.changed.add(("tool", call.id))
                return

    def terminal(self, id: str) -> Printed | None:
        """What a terminal printed: one of ours, or one that the agent tells of."""
        told = self.session.transcript.terminals.get(id) if self.session is not None else None
        if told is not None:
            return Printed(told.text, False, told.exit, told.command)
        printed = self.link.terminal(id)
        return self.before.terminal(id) if printed is None and self.before is not None else printed

    def say(self, severity: str, title: str, description: str | None = None) -> None:
        """Tells the user something in the conversation."""
        if self.session is not None:
            self.session.transcript.add_notice(Notice(severity=severity, title=title, description=description or None))
        self.on_change()

    # -- prompts

    def send(self, prompt: Prompt) -> None:
        """Sends a prompt, or lets it wait while a turn runs or the session is not there yet."""
        self.queue.append(prompt)
        self._send_next()
        self.on_change()

    def steer(self, prompt: Prompt) -> None:
        """Sends a prompt into the running turn where the protocol can do that; otherwise stops the turn for it."""
        if self.session is None or not self.session.busy:
            self.send(prompt)
        elif self.session._agent.dialect.one_turn_at_a_time:
            self.queue.insert(0, prompt)
            self._run(self.cancel(keep_queue=True))
        else:
            self._start(prompt)
        self.on_change()

    def _send_next(self) -> None:
        if self.session is None or self.session.closed or self.session.busy or not self.link.is_open:
            return  # what waits goes on waiting; when the agent is gone, until it is started again
        if self.queue and not self._is_sending:
            self._start(self.queue.pop(0))

    def _start(self, prompt: Prompt) -> None:
        self._is_sending = True
        self._run(self._send(prompt))

    async def _send(self, prompt: Prompt) -> None:
        from accord.errors import AccordError, ConnectionClosed

        assert self.session is not None
        assert self.link.agent is not None
        try:
            if self.checkpoints is not None:
                await self.checkpoints.begin(prompt.text[:80])
            content = self.link.outside.content(prompt.text, (), self.link.agent.offers)
            self.turn = self.session.prompt(*content)
        except ConnectionClosed:  # why is told when the listener ends
            self.queue.insert(0, prompt)
            self.on_change()
            return
        except (AccordError, OSError) as error:
            self.say("error", "This prompt could not be sent", str(error))
            if self.on_unsent is not None:
                self.on_unsent(prompt)
            return
        finally:
            self._is_sending = False
        self.turn_began = time.monotonic()
        self.is_cancelling = False
        self._run(self._wait(self.turn))
        self.on_change()

    async def _wait(self, turn: Turn) -> None:
        from accord.config.mask import masked
        from accord.errors import AccordError, ConnectionClosed

        try:
            await turn
        except ConnectionClosed:
            pass  # told once, with why, when the listener ends
        except AccordError as error:
            self.say("error", "The turn failed", masked(str(error)))
        else:
            if turn.stop_reason != "end_turn":
                usual = ("info", f"The turn ended: {turn.stop_reason}")
                self.say(*ENDINGS.get(str(turn.stop_reason), usual))
        self.is_cancelling = False
        if self.on_turn_end is not None:
            self.on_turn_end(turn)
        self._send_next()
        self.on_change()

    async def cancel(self, *, keep_queue: bool = True) -> None:
        """Stops the running turn. What waits stays, unless it is to go too."""
        if not keep_queue:
            self.queue.clear()
        if self.session is not None and self.session.busy and self.turn is not None:
            self.is_cancelling = True
            self._cancelled_at = time.monotonic()
            await self.session.cancel()
        self.on_change()

    # -- questions

    async def ask(self, question: Question) -> Choice | None:
        """Waits for the user's answer. When the turn is cancelled meanwhile, so is this."""
        asked = Asked(question, asyncio.get_running_loop().create_future())
        self.asked.append(asked)
        self._stop_clock(question, stops=True)
        self.on_change()
        try:
            return await asked.answer
        finally:
            self.asked.remove(asked)
            self._stop_clock(question, stops=False)
            self.on_change()

    # -- the end

    async def close(self) -> None:
        """Lets go of the session; the agent keeps it if it can."""
        from accord.errors import AccordError

        for task in list(self._tasks):
            task.cancel()
        if self.checkpoints is not None:
            self.checkpoints.close()
        if self.session is not None and not self.session.closed:
            try:
                async with asyncio.timeout(3):
                    await self.session.close()
            except (AccordError, TimeoutError):
                pass
