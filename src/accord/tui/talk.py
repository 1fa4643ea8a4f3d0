"""One session in a tab: what is heard from it, the questions that are open. How it is opened: beginning.py; its turns:
turns.py."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accord.model.session import Compaction, Notice, Subagent
from accord.model.tool import ToolCall
from accord.transcript import events
from accord.tui.beginning import Beginning, State
from accord.tui.children import add_lines
from accord.tui.clocks import Clocks
from accord.tui.conversation.block import Printed, Span
from accord.tui.lent import SHOWN, end_of
from accord.tui.untold import Untold
from accord.tui.work import Work

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.policy.choices import Choice, Question
    from accord.transcript.transcript import Transcript
    from accord.tui.conversation.items import Key
    from accord.tui.earlier import Earlier
    from accord.tui.link import Link


@dataclass
class Asked:
    """A question of the policy that waits for the user."""

    question: Question
    answer: asyncio.Future[Choice | None]


class Elsewhere(Exception):
    """The tab that showed a question was closed, and the question is not its own: it is to be asked in another."""


class Talk(Beginning):
    """A session with an agent, or one that is about to begin."""

    def __init__(self, link: Link, on_change: Callable[[], None]) -> None:
        super().__init__(link, on_change)
        self.changed: set[Key] = set()
        """The items that changed since they were last taken."""
        self.clocks = Clocks()
        self.work = Work(self)
        self.untold = Untold(self)
        self.asked: list[Asked] = []
        self.unknown = 0
        self.origin = ""
        """What the session came from, as a title until it has one of its own."""
        self.before: Earlier | None = None
        """The talk that this one goes on from, where its agent died."""
        self._is_deaf = False

    # -- what it is

    @property
    def state(self) -> State:
        if self.link.state in ("undecided", "starting"):
            return "starting"
        if self.link.state in ("failed", "gone") or self.failure:
            return "gone"
        if self.session is None:
            return "opening"
        if self.session.closed:
            return "gone"
        if self.asked or self.session.is_asking:
            return "waiting"
        if self.parent is not None and (child := self.parent.transcript.subagents.get(self.session.id)) is not None:
            return "running" if child.state in ("running", "requires_action") else "idle"
        return "running" if self.session.busy or self.session.transcript.state == "running" else "idle"

    @property
    def parent(self) -> Session | None:
        """For the session of a subagent, which can be watched and at most stopped: whom it works for."""
        return self.session.parent if self.session is not None else None

    @property
    def title(self) -> str:
        return (self.session.title if self.session is not None else None) or self.origin or self.link.title

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
    def spans(self) -> dict[str, Span]:
        """How long each tool call took, or takes."""
        return self.clocks.spans

    def take_changes(self) -> set[Key]:
        """What changed since this was last called."""
        changed, self.changed = self.changed | self.work.take_changes(), set()
        return changed

    # -- beginning

    def watch(self, session: Session, title: str) -> None:
        """Shows the session of a subagent, which runs without us."""
        self.session, self.origin = session, title
        self._begin()
        if session.parent is not None:
            self._run(self._heed(session.parent, session.id))

    async def _heed(self, parent: Session, id: str) -> None:
        """Hears from whom the subagent works for when it begins and ends."""
        async with parent.events() as listener:
            async for event in listener:
                if isinstance(event, Subagent) and event.session_id == id:
                    if event.state == "idle":
                        self.untold.leave()
                    self.on_change()

    async def cancel(self) -> None:
        """Stops the running turn; or the subagent, if it lets itself be stopped."""
        if self.session is not None and self.parent is not None:
            await self.session.cancel()
        else:
            await super().cancel()

    def _begin(self) -> None:
        assert self.session is not None
        self.failure = ""
        add_lines(self.session.transcript)
        self.untold.begin()
        self._run(self._listen(self.session))
        self.link.watchers.append(self._printed)
        self._keep_files(self.session.id)
        notes, self.link.notes = self.link.notes, []
        for note in notes:
            self.session.note_locally(note)
        self.on_change()
        self._send_next()

    # -- what happens

    async def _listen(self, session: Session) -> None:
        async with session.events() as listener:
            async for event in listener:
                try:
                    self.hear(event)
                except Exception as error:
                    self._misheard(error)
        await self.link.settled()
        self.untold.leave(for_good=True)
        self.changed |= {("subagent", id) for id in session.transcript.subagents}
        is_lost = self.is_lost
        if is_lost:
            self._unsay()
        for prompt in list(self.sent):
            self._came_back(prompt)
        if is_lost and self.on_lost is not None:
            self.on_lost()
            return
        if self.link.state == "gone" or self.link.failure:
            self.say("error", "The agent is gone", "\n".join([self.link.failure, *self._what_now()]))
        self.on_change()

    def _misheard(self, error: Exception) -> None:
        """A fault of ours about something the agent sent: it is told once, and the rest is heard."""
        if not self._is_deaf:
            self._is_deaf = True
            self._fault(error)

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
                self._echoed(event)
            case events.Media() | events.MessageSet():
                self.changed.add((event.role, event.message_id or ""))
                if event.role == "user":
                    self._echoed(event)
            case ToolCall():
                self.changed.add(("tool", event.id))
                self.clocks.heard(event)
            case Compaction():
                self.changed.add(("compaction", event.id))
            case events.TerminalOutput():
                self.work.printed(event.terminal_id)
            case events.TerminalChanged():
                self.work.printed(event.terminal.id)
            case events.Unknown():
                self.unknown += 1
                self.link.log.unknown(event.kind, event.data)
        self.work.hear(event)
        self.untold.hear(event)
        self.on_change()

    def _printed(self, session: str, terminal: str) -> None:
        if self.session is not None and session == self.session.id:
            self.work.printed(terminal)
            self.untold.look_again()

    def terminal(self, id: str) -> Printed | None:
        """What a terminal printed: one of ours, or one that the agent tells of."""
        told = self.session.transcript.terminals.get(id) if self.session is not None else None
        if told is not None:
            return Printed(told.text, False, told.exit, told.command)
        printed = self.link.terminal(id)
        return self.before.terminal(id) if printed is None and self.before is not None else printed

    def terminal_end(self, id: str) -> Printed | None:
        """The last of what a terminal printed, as much as may be drawn of it."""
        told = self.session.transcript.terminals.get(id) if self.session is not None else None
        if told is not None:
            return end_of(told, goes_on=self.work.is_listed(id))
        printed = self.link.terminal(id, SHOWN)
        return self.before.terminal_end(id) if printed is None and self.before is not None else printed

    def say(self, severity: str, title: str, description: str | None = None) -> None:
        """Tells the user something in the conversation."""
        if self.session is not None:
            self.session.transcript.add_notice(Notice(severity=severity, title=title, description=description or None))
        self.on_change()

    # -- questions

    async def ask(self, question: Question) -> Choice | None:
        """Waits for the user's answer. When the turn is cancelled meanwhile, so is this."""
        asked = Asked(question, asyncio.get_running_loop().create_future())
        call = question.request.tool_call if question.request is not None else None
        id = call.id if call is not None else ""
        self.asked.append(asked)
        try:
            with self.clocks.standing(id) as id:
                self._drawn_anew(id)
                return await asked.answer
        finally:
            self.asked.remove(asked)
            self.untold.answered(id, is_void=asked.answer.cancelled())
            self._drawn_anew(id)

    def _drawn_anew(self, call_id: str) -> None:
        if call_id in self.spans:
            self.changed.add(("tool", call_id))
        self.on_change()

    # -- the end

    def _let_go(self, asked: Asked) -> None:
        """What is asked here is not answered here any more."""
        agent, id = self.link.agent, asked.question.action.session
        session = agent.sessions.get(id or "") if agent is not None else None
        while session is not None and session is not self.session:
            session = session.parent
        if asked.answer.done():
            return
        if session is not None:
            asked.answer.set_result(None)
        else:
            asked.answer.set_exception(Elsewhere())

    async def close(self) -> None:
        """Lets go of the session; the agent keeps it if it can."""
        from accord.errors import AccordError

        for asked in self.asked:
            self._let_go(asked)
        for task in list(self._tasks):
            task.cancel()
        if self._printed in self.link.watchers:
            self.link.watchers.remove(self._printed)
        if self.checkpoints is not None:
            self.checkpoints.close()
        if self.session is not None and not self.session.closed and self.parent is None:
            try:
                async with asyncio.timeout(3):
                    await self.link.untouched.forget(self.link.agent, self.session.id)
                    await self.session.close()
            except (AccordError, TimeoutError):
                pass
            self.link.open_here.remove(self.session.id)
