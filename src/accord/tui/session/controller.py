"""The controller of one open session: it follows the session's events, sends prompts and collects open questions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from accord.model.session import Compaction, Subagent, Usage
from accord.model.tool import ToolCall
from accord.transcript import events
from accord.transcript.unfinished_calls import UnfinishedCalls
from accord.tui.agent.workspace import MAX_DRAWN_BYTES, CommandOutput, last_output
from accord.tui.session.activity import Activity
from accord.tui.session.checkpoints import TurnCheckpoints
from accord.tui.session.context import SessionContext
from accord.tui.session.opener import SLOW_SECONDS, OpenMode, SessionOpener
from accord.tui.session.prompt_queue import PromptQueue
from accord.tui.session.shell import ShellCommands
from accord.tui.session.turns import Turns

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.model.requests import McpServer
    from accord.policy.question import Choice, Question
    from accord.transcript.timing import Span, Timing
    from accord.transcript.transcript import Transcript
    from accord.tui.agent.process import AgentProcess
    from accord.tui.session.previous import PreviousSession
    from accord.tui.transcript.blocks.factory import Key

State = Literal["starting", "opening", "running", "waiting", "idle", "gone"]
CLOSE_SECONDS = 3.0
"""How long closing a session waits for its agent."""


@dataclass
class PendingPermission:
    """A permission request that waits for the user."""

    question: Question
    answer: asyncio.Future[Choice | None]


class TabClosed(Exception):
    """The tab that showed a permission request was closed, and the request belongs to another session: ask there."""


class SessionController:
    """One session with an agent, or one that is about to open. Independent of widgets."""

    def __init__(self, process: AgentProcess, on_change: Callable[[], None]) -> None:
        self.context: SessionContext = SessionContext(process, on_change)
        self.queue: PromptQueue = PromptQueue(on_change)
        self.checkpoints: TurnCheckpoints = TurnCheckpoints(self.context)
        self.turns: Turns = Turns(self.context, self.queue, self.checkpoints)
        self.opener: SessionOpener = SessionOpener(self.context)
        self.activity: Activity = Activity(
            self.context, lambda item: self.unfinished.includes(item), lambda: self.unfinished.outliving
        )
        self.unfinished: UnfinishedCalls = UnfinishedCalls(
            self.context.timing,
            is_open=lambda: self.session is not None and not self.session.closed,
            is_running=self.activity.is_running,
            on_change=lambda id: self.context.mark_changed(("tool", id)),
        )
        self.shell: ShellCommands = ShellCommands(self.context)
        self.permissions: list[PendingPermission] = []
        """Permission requests that wait for the user."""
        self.unknown_updates: int = 0
        self.is_disconnected: bool = False
        """Whether the network connection to a remote agent is lost, and is being restored."""
        self.origin: str = ""
        """Where the session came from; its title until it has one."""
        self.on_lost: Callable[[], None] | None = None
        """Called when the agent runs as a new process that doesn't know the session."""
        self._has_reported_bug = False

    # -- state

    @property
    def process(self) -> AgentProcess:
        return self.context.process

    @process.setter
    def process(self, process: AgentProcess) -> None:
        self.context.process = process

    @property
    def session(self) -> Session | None:
        """The session once it is open."""
        return self.context.session

    @property
    def transcript(self) -> Transcript | None:
        """The transcript, even if the agent has exited."""
        return self.context.transcript

    @property
    def previous(self) -> PreviousSession | None:
        """The session that this one continues, if its agent died."""
        return self.context.previous

    @property
    def timing(self) -> Timing:
        return self.context.timing

    @property
    def spans(self) -> dict[str, Span]:
        """How long each tool call took so far."""
        return self.context.timing.spans

    @property
    def servers(self) -> list[McpServer]:
        """The MCP servers of the session."""
        return self.opener.servers

    @property
    def failure(self) -> str:
        """Why the session couldn't be opened."""
        return self.opener.failure

    @property
    def state(self) -> State:
        if self.process.state in ("undecided", "starting"):
            return "starting"
        if self.process.state in ("failed", "gone") or self.failure:
            return "gone"
        if self.session is None:
            return "opening"
        if self.session.closed:
            return "gone"
        if self.permissions or self.session.is_asking:
            return "waiting"
        if self.parent is not None and (child := self.parent.transcript.subagents.get(self.session.id)) is not None:
            return "running" if child.state in ("running", "requires_action") else "idle"
        return "running" if self.session.busy or self.session.transcript.state == "running" else "idle"

    @property
    def parent(self) -> Session | None:
        """The session that a subagent works for. A subagent's session can be watched and at most stopped."""
        return self.session.parent if self.session is not None else None

    @property
    def title(self) -> str:
        return (self.session.title if self.session is not None else None) or self.origin or self.process.title

    @property
    def id(self) -> str | None:
        """The id of the session, or of the one to open."""
        if self.session is not None:
            return self.session.id
        return self.previous.id if self.opener.wanted is None and self.previous is not None else self.opener.wanted

    @property
    def seconds_waited(self) -> float:
        """How long the agent has been starting, or the session opening, without the time the user took for questions;
        0 when neither is the case."""
        if self.state not in ("starting", "opening") or self.process.state == "undecided":
            return 0.0
        began = self.opener.began
        return time.monotonic() - began - self.timing.waited_since(began)

    @property
    def is_slow(self) -> bool:
        """Whether starting takes so long that the user should see a notice."""
        return self.seconds_waited >= SLOW_SECONDS

    def take_changes(self) -> set[Key]:
        """Return the transcript items that changed since the last call."""
        changed, self.context.changed = self.context.changed | self.activity.take_changes(), set()
        return changed

    # -- opening

    async def open(self, id: str | None = None, how: OpenMode = "new", earlier: Transcript | None = None) -> None:
        """Create or open a session, with `earlier` above its transcript. If that fails, `failure` says why."""
        if await self.opener.open(id, how, earlier):
            if not self.opener.is_set_up:
                self.turns.hold()  # the first prompt isn't for a session with other options
            self._begin()

    def watch(self, session: Session, title: str) -> None:
        """Show the session of a subagent, which runs without us."""
        self.context.session, self.origin = session, title
        self._begin()
        if session.parent is not None:
            self.context.run(self._watch_parent(session.parent, session.id))

    async def _watch_parent(self, parent: Session, id: str) -> None:
        """Follow the parent's events, which say when the subagent starts and ends."""
        async with parent.events() as listener:
            async for event in listener:
                if isinstance(event, Subagent) and event.session_id == id:
                    if event.state == "idle":
                        self.unfinished.abandon()
                    self.context.on_change()

    def _begin(self) -> None:
        session = self.session
        assert session is not None
        self.is_disconnected = False
        child = session.parent.transcript.subagents.get(session.id) if session.parent is not None else None
        state = session.transcript.state if child is None else child.state
        is_idle = not session.busy and state in ("idle", "unknown", None)
        self.unfinished.begin(session.transcript, is_idle=is_idle)
        self.context.run(self._listen(session))
        self.process.workspace.watchers.append(self._on_printed)
        self.checkpoints.open(session.id)
        notes, self.process.notes = self.process.notes, []
        for note in notes:
            session.note_locally(note)
        self.context.on_change()
        self.turns.send_next()

    # -- events

    async def _listen(self, session: Session) -> None:
        async with session.events() as listener:
            async for event in listener:
                try:
                    self.handle(event)
                except Exception as error:
                    self._report_bug_once(error)
        await self.process.wait_settled()
        self.unfinished.abandon(is_agent_gone=True)
        self.context.changed |= {("subagent", id) for id in session.transcript.subagents}
        is_lost = self.turns.is_lost
        if is_lost:
            self.turns.withdraw_unanswered()
        for prompt in list(self.queue.sent):
            self.queue.requeue(prompt)
        if is_lost and self.on_lost is not None:
            self.on_lost()
            return
        if self.process.state == "gone" or self.process.failure:
            self.say("error", "The agent has exited", f"{self.process.failure}\n{self._restart_advice()}")
        self.context.on_change()

    def _report_bug_once(self, error: Exception) -> None:
        """Report a bug in handling an event, the first time only; later events are still handled."""
        if not self._has_reported_bug:
            self._has_reported_bug = True
            self.context.report_bug(error)

    def _restart_advice(self) -> str:
        count = len(self.queue.waiting)
        prompts = "the queued prompt is" if count == 1 else f"the {count} queued prompts are"
        return f"ctrl+r restarts it{f'; {prompts} kept' if count else ''}"

    def handle(self, event: events.Event) -> None:
        """Record the changes of an event, to draw them with the next frame."""
        changed = self.context.changed
        match event:
            case events.Text():
                changed.add(("agent", event.message_id or ""))
            case events.Thought():
                changed.add(("thought", event.message_id or ""))
            case events.UserText():
                changed.add(("user", event.message_id or ""))
                self.turns.match_echo(event.message_id)
            case events.Media() | events.MessageSet():
                changed.add((event.role, event.message_id or ""))
                if event.role == "user":
                    self.turns.match_echo(event.message_id)
            case ToolCall():
                changed.add(("tool", event.id))
                self.timing.record(event)
            case Compaction():
                changed.add(("compaction", event.id))
            case events.TerminalOutput():
                self.activity.mark_printed(event.terminal_id)
            case events.TerminalChanged():
                self.activity.mark_printed(event.terminal.id)
            case Usage():
                self.context.on_usage()
            case events.Disconnected():
                self.is_disconnected = True
            case events.Resumed():
                self.is_disconnected = False
                self.say("info", "Reconnected", f"The connection was down for {event.seconds:.1f} s. Nothing was lost.")
            case events.Unknown():
                self.unknown_updates += 1
                self.process.log.record_unknown(event.kind, event.data)
        self.activity.handle(event)
        self.unfinished.apply(event)
        self.context.on_change()

    def say(self, severity: str, title: str, description: str | None = None) -> None:
        """Show the user a notice in the transcript."""
        self.context.say(severity, title, description)

    # -- terminals

    def _on_printed(self, session: str, terminal: str) -> None:
        if self.session is not None and session == self.session.id:
            self.activity.mark_printed(terminal)
            self.unfinished.check()

    def terminal(self, id: str) -> CommandOutput | None:
        """Return the output of a terminal: one that we run, or one that the agent reports."""
        # Ours first, because the transcript has only the output that the agent asked for.
        printed = self.process.workspace.terminal(id)
        known = self.session.transcript.terminals.get(id) if self.session is not None else None
        if printed is None and known is not None:
            return CommandOutput(known.text, False, known.exit, known.command)
        return self.previous.terminal(id) if printed is None and self.previous is not None else printed

    def terminal_end(self, id: str) -> CommandOutput | None:
        """Return the end of a terminal's output, as much of it as can be drawn."""
        printed = self.process.workspace.terminal(id, MAX_DRAWN_BYTES)
        known = self.session.transcript.terminals.get(id) if self.session is not None else None
        if printed is None and known is not None:
            return last_output(known, is_running=self.activity.is_listed(id))
        return self.previous.terminal_end(id) if printed is None and self.previous is not None else printed

    # -- permission requests

    async def ask(self, question: Question) -> Choice | None:
        """Wait for the user's answer. Cancelled together with the turn."""
        pending = PendingPermission(question, asyncio.get_running_loop().create_future())
        call = question.request.tool_call if question.request is not None else None
        id = call.id if call is not None else ""
        self.permissions.append(pending)
        try:
            with self.timing.pause(id) as id:
                self._redraw_call(id)
                return await pending.answer
        finally:
            self.permissions.remove(pending)
            self.unfinished.close_question(id, is_answered=not pending.answer.cancelled())
            self._redraw_call(id)

    def _redraw_call(self, call_id: str) -> None:
        if call_id in self.spans:
            self.context.changed.add(("tool", call_id))
        self.context.on_change()

    def _dismiss(self, pending: PendingPermission) -> None:
        """End a permission request that this tab showed: reject it if it was its own, else let another tab ask."""
        if pending.answer.done():
            return
        agent, id = self.process.agent, pending.question.action.session
        session = agent.sessions.get(id or "") if agent is not None else None
        while session is not None and session is not self.session:
            session = session.parent
        if session is not None:
            pending.answer.set_result(None)
        else:
            pending.answer.set_exception(TabClosed())

    # -- the end

    async def cancel(self) -> None:
        """Cancel the running turn, or stop the subagent if it can be stopped."""
        if self.session is not None and self.parent is not None:
            await self.session.cancel()
        else:
            await self.turns.cancel()

    async def close(self) -> None:
        """Close the session; the agent keeps it if it can."""
        from accord.errors import AccordError

        for pending in self.permissions:
            self._dismiss(pending)
        await self.shell.stop()
        self.context.cancel_tasks()
        if self._on_printed in self.process.workspace.watchers:
            self.process.workspace.watchers.remove(self._on_printed)
        self.checkpoints.close()
        if self.session is not None and not self.session.closed and self.parent is None:
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self.process.empty_sessions.forget(self.process.agent, self.session.id)
                    await self.session.close()
            except (AccordError, TimeoutError):
                pass
            self.process.session_locks.remove(self.session.id)
