"""The work of an agent besides its messages: file locations, background work, and what can be stopped by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from accord.model.content import text_of
from accord.model.session import Subagent
from accord.model.tool import TerminalRef, ToolCall
from accord.terminal_text import one_line
from accord.transcript import events

if TYPE_CHECKING:
    from accord.model.session import Background
    from accord.transcript.transcript import Transcript
    from accord.tui.session.context import SessionContext
    from accord.tui.transcript.blocks.factory import Key

NO_RESULT = "no result"
"""State of a tool call or subagent that no longer runs, although the agent never reported its end."""


class WorkLocation(NamedTuple):
    """A file, and perhaps a line, that a tool call works on."""

    path: str
    line: int | None = None
    title: str = ""
    call: str = ""


class WorkItem(NamedTuple):
    """A tool call, command or subagent that runs, or has run, beside the turn."""

    kind: str
    id: str
    title: str
    state: str = ""
    can_stop: bool = False


class Activity:
    """The current work of one session's agent."""

    def __init__(
        self,
        context: SessionContext,
        is_unfinished: Callable[[ToolCall | Subagent], bool],
        list_outliving: Callable[[], list[str]],
    ) -> None:
        """`list_outliving` returns the ids of the tool calls that are in progress although their turn has ended."""
        self.location: WorkLocation | None = None
        """Where the agent worked last."""
        self.steps: int = 0
        """Counts everything that may have changed the file at that location."""
        self._context = context
        self._is_unfinished = is_unfinished
        self._list_outliving = list_outliving
        self._stopping: set[tuple[str, str]] = set()  # kind and id
        self._known: dict[str, tuple[str, int | None]] = {}  # the last location of each call
        self._printed: set[str] = set()  # terminals with new output since the last frame
        self._listed: frozenset[str] = frozenset()

    @property
    def _transcript(self) -> Transcript | None:
        return self._context.transcript

    # -- events

    def handle(self, event: events.Event) -> None:
        """Update the activity from an event of the session."""
        if isinstance(event, ToolCall):
            self._follow(event)
        elif isinstance(event, Subagent):
            self._context.changed.add(("subagent", event.session_id))
        elif isinstance(event, events.SubagentMessage):
            self._context.changed |= {("subagent", id) for id in (event.sender, event.recipient)}
        elif isinstance(event, events.StateChanged):
            listed = frozenset(each.id for each in event.background or ())
            self._printed |= listed ^ self._listed
            self._listed = listed

    def mark_printed(self, terminal: str) -> None:
        """Draw a terminal with the next frame, because it printed something or exited."""
        self._printed.add(terminal)
        self._context.on_change()

    def take_changes(self) -> set[Key]:
        """Return the tool calls that show a terminal with new output since the last call."""
        printed, self._printed = self._printed, set()
        transcript = self._transcript
        if not printed or transcript is None:
            return set()
        changed: set[Key] = set()
        for call in reversed(transcript.tool_calls.values()):
            shown = printed.intersection(each.terminal_id for each in call.content if isinstance(each, TerminalRef))
            if shown:
                changed.add(("tool", call.id))
                printed -= shown
                if not printed:
                    break
        return changed

    def _follow(self, call: ToolCall) -> None:
        location = next(reversed(locations_of(call)), None)
        if location is not None and self._known.get(call.id) != (location.path, location.line):
            self._known[call.id] = (location.path, location.line)
            self.location = location
            self.steps += 1
        elif self.location is not None and self.location.call == call.id:
            self.steps += 1

    # -- what runs

    def is_listed(self, id: str) -> bool:
        """Return whether the agent lists this as background work."""
        return any(each.id == id for each in self._background)

    def is_running(self, terminal: str) -> bool:
        """Return whether a command is known to run: one that we run, or one that the agent lists."""
        workspace = self._context.process.workspace
        if workspace.has_terminal(terminal):
            return workspace.is_running(terminal)
        transcript = self._transcript
        known = transcript.terminals.get(terminal) if transcript is not None else None
        return known is not None and known.exit is None and self.is_listed(terminal)

    @property
    def _background(self) -> Sequence[Background]:
        session = self._context.session
        return () if session is None or session.closed else session.transcript.background or ()

    @property
    def count(self) -> int:
        """How many things run in the background."""
        return len(self.background)

    @property
    def background(self) -> list[WorkItem]:
        """The background work that the agent lists, and calls that outlive their turn: agents of version 1 can't list
        any. Empty once the agent has exited."""
        listed = [self._describe(each.kind, each.id) for each in self._background]
        transcript = self._transcript
        calls = [] if transcript is None else [transcript.tool_calls.get(id) for id in self._list_outliving()]
        found = [
            self.find_stoppable(each) or self._describe("tool_call", each.id) for each in calls if each is not None
        ]
        known = {each.id for each in listed}
        return [*listed, *(each for each in dict.fromkeys(found) if each.id not in known)]

    @property
    def subagents(self) -> list[WorkItem]:
        """All subagents, including those that have ended."""
        transcript = self._transcript
        return [] if transcript is None else [self._describe("subagent", id) for id in transcript.subagents]

    @property
    def stoppable(self) -> list[WorkItem]:
        """Everything that can be stopped by itself now, and all background work."""
        transcript = self._transcript
        if transcript is None:
            return []
        found = dict.fromkeys(self.background)
        for call in transcript.tool_calls.values():
            if not call.is_final and (item := self.find_stoppable(call)) is not None:
                found[item] = None
        found |= dict.fromkeys(child for child in self.subagents if child.can_stop)
        return list(found)

    def _describe(self, kind: str, id: str) -> WorkItem:
        transcript, is_open = self._transcript, self._context.process.is_open
        assert transcript is not None
        if kind == "tool_call" and (call := transcript.tool_calls.get(id)) is not None:
            can_stop = call.can_cancel and not call.is_final and is_open
            state = NO_RESULT if self._is_unfinished(call) else call.status.replace("_", " ")
            return WorkItem(kind, id, call.title or call.kind, state, can_stop)
        if kind == "subagent" and (child := transcript.subagents.get(id)) is not None:
            is_unfinished = self._is_unfinished(child)
            can_stop = child.can_cancel and child.state != "idle" and not is_unfinished and is_open
            return WorkItem(
                kind, id, child.title or "subagent", NO_RESULT if is_unfinished else describe_state(child), can_stop
            )
        if kind == "terminal":
            return self._describe_terminal(id)
        return WorkItem(kind, id, kind.replace("_", " "), "running")

    def _describe_terminal(self, id: str) -> WorkItem:
        transcript, process = self._transcript, self._context.process
        known = transcript.terminals.get(id) if transcript is not None else None
        if known is None or process.workspace.has_terminal(id):
            command, is_over, can_stop = process.workspace.command(id), not process.workspace.is_running(id), True
        else:
            command, is_over, can_stop = known.command, known.exit is not None, known.can_cancel
        state = "ended" if is_over else "running"
        return WorkItem("terminal", id, command or "command", state, can_stop and not is_over and process.is_open)

    def list_messages(self, child: Subagent) -> list[tuple[bool, str]]:
        """List the messages between the agent and a subagent: whether it went to the subagent, and the text."""
        transcript = self._transcript
        if transcript is None:
            return []
        id = child.session_id
        return [(each.recipient == id, text_of(each.content)) for each in transcript.messages_with(id)]

    # -- stopping

    def find_stoppable(self, item: ToolCall | Subagent) -> WorkItem | None:
        """Find what can be stopped of an item: the call itself, a command that it shows, or its subagent."""
        if isinstance(item, Subagent):
            child = self._describe("subagent", item.session_id)
            return child if child.can_stop else None
        found = [self._describe("tool_call", item.id)]
        found += [
            self._describe("terminal", each.terminal_id) for each in item.content if isinstance(each, TerminalRef)
        ]
        transcript = self._transcript
        children = transcript.subagents.values() if transcript is not None else ()
        found += [self._describe("subagent", each.session_id) for each in children if each.tool_call_id == item.id]
        return next((each for each in found if each.can_stop), None)

    def stop_hint(self, item: ToolCall | Subagent) -> str:
        """Return the hint below a selected item that can be stopped."""
        what = self.find_stoppable(item)
        if what is None:
            return ""
        if (what.kind, what.id) in self._stopping:
            return "Stopping…"
        return {"tool_call": "x stop", "terminal": "x stop this command"}.get(what.kind, "x stop the subagent")

    async def stop(self, what: WorkItem) -> None:
        """Stop one item; the turn and everything else continue. Raise the agent's error if it refuses."""
        session, process = self._context.session, self._context.process
        if session is None or process.agent is None:
            return
        self._stopping.add((what.kind, what.id))
        try:
            if what.kind == "tool_call":
                await session.cancel_tool_call(what.id)
            elif what.kind == "subagent":
                await process.agent.sessions[what.id].cancel()
            elif process.workspace.has_terminal(what.id):
                await process.workspace.end_terminal(what.id)
            else:
                await session.cancel_terminal(what.id)
        except BaseException:
            self._stopping.discard((what.kind, what.id))
            raise
        finally:
            self._printed.add(what.id)
            self._context.mark_changed(("tool", what.id), ("subagent", what.id))


def locations_of(call: ToolCall) -> list[WorkLocation]:
    """List where a call works, the latest last and without duplicates: its locations, or else the files it changes."""
    title = call.title or call.kind
    locations = [WorkLocation(each.path, each.line, title, call.id) for each in call.locations]
    locations = locations or [
        WorkLocation(each.path, None, title, call.id) for diff in call.diffs for each in diff.changes
    ]
    return list(reversed(dict.fromkeys(reversed(locations))))


def describe_state(child: Subagent) -> str:
    """Describe the state of a subagent in a word or two. A state the agent didn't confirm is unknown."""
    if child.state == "idle":
        reason = child.stop_reason
        return "done" if reason in (None, "end_turn") else one_line(str(reason).replace("_", " "), 40)
    return {"running": "running", "requires_action": "waits"}.get(child.state or "", "not known")
