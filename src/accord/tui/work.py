"""What the agent does in a session besides what it says: where in the files it is, what goes on beside the turn, and
what of it can be stopped alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from accord.model.content import text_of
from accord.model.session import Subagent
from accord.model.tool import TerminalRef, ToolCall
from accord.transcript import events
from accord.tui.children import add_line
from accord.tui.conversation.block import UNTOLD
from accord.tui.conversation.subagent import state_of

if TYPE_CHECKING:
    from accord.model.session import Background
    from accord.transcript.transcript import Transcript
    from accord.tui.conversation.items import Key
    from accord.tui.talk import Talk


class Place(NamedTuple):
    """Where a tool call is at work."""

    path: str
    line: int | None = None
    title: str = ""
    call: str = ""


class Running(NamedTuple):
    """Something that goes on, or may be looked at, beside the conversation."""

    kind: str
    id: str
    title: str
    state: str = ""
    can_stop: bool = False


class Work:
    """The doings of one talk."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.place: Place | None = None
        """Where the agent was at work last."""
        self.steps = 0
        """Counts whatever may have changed what is to be seen at that place."""
        self.asked: set[tuple[str, str]] = set()
        """What was asked to stop, by kind and id."""
        self._known: dict[str, tuple[str, int | None]] = {}  # the last place that was told of each call
        self._printed: set[str] = set()  # terminals that printed since changes were last taken
        self._listed: frozenset[str] = frozenset()

    @property
    def _transcript(self) -> Transcript | None:
        return self.talk.transcript

    # -- what happens

    def hear(self, event: events.Event) -> None:
        """Notes what an event says about the work."""
        if isinstance(event, ToolCall):
            self._follow(event)
        elif isinstance(event, Subagent):
            self._tell(event)
        elif isinstance(event, events.SubagentMessage):
            self.talk.changed |= {("subagent", id) for id in (_sender(event), _recipient(event))}
        elif isinstance(event, events.StateChanged):
            listed = frozenset(each.id for each in event.background or ())
            self._printed |= listed ^ self._listed
            self._listed = listed

    def printed(self, terminal: str) -> None:
        """A terminal printed something or ended; it is drawn with the next frame."""
        self._printed.add(terminal)
        self.talk.on_change()

    def take_changes(self) -> set[Key]:
        """The tool calls that show a terminal which printed since this was last called."""
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
        place = next(reversed(places_of(call)), None)
        if place is not None and self._known.get(call.id) != (place.path, place.line):
            self._known[call.id] = (place.path, place.line)
            self.place = place
            self.steps += 1
        elif self.place is not None and self.place.call == call.id:
            self.steps += 1

    def _tell(self, child: Subagent) -> None:
        """A line in the conversation for a subagent that is new; those that are there change by themselves."""
        transcript = self._transcript
        if transcript is None or (kept := transcript.subagents.get(child.session_id)) is None:
            return
        add_line(transcript, kept)
        self.talk.changed.add(("subagent", child.session_id))

    # -- what goes on

    def is_listed(self, id: str) -> bool:
        """Whether the agent lists this as work beside the turn."""
        return any(each.id == id for each in self._beside)

    def goes_on(self, terminal: str) -> bool:
        """Whether a command is known to run still: one of ours, or one that the agent lists."""
        transcript = self._transcript
        told = transcript.terminals.get(terminal) if transcript is not None else None
        return self.talk.link.runs(terminal) if told is None else told.exit is None and self.is_listed(terminal)

    @property
    def _beside(self) -> Sequence[Background]:
        """What the agent lists as work beside the turn; nothing goes on once it is gone."""
        session = self.talk.session
        return () if session is None or session.closed else session.transcript.background or ()

    @property
    def count(self) -> int:
        """How much the agent says goes on beside the turn."""
        return len(self._beside)

    @property
    def background(self) -> list[Running]:
        """What the agent says goes on beside the turn."""
        return [self._named(each.kind, each.id) for each in self._beside]

    @property
    def children(self) -> list[Running]:
        """The subagents, also those that have ended."""
        transcript = self._transcript
        return [] if transcript is None else [self._named("subagent", id) for id in transcript.subagents]

    @property
    def stoppable(self) -> list[Running]:
        """All that can be stopped alone now, what goes on in the background included."""
        transcript = self._transcript
        if transcript is None:
            return []
        found = dict.fromkeys(self.background)
        for call in transcript.tool_calls.values():
            if not call.is_final and (what := self.stoppable_of(call)) is not None:
                found[what] = None
        found |= dict.fromkeys(child for child in self.children if child.can_stop)
        return list(found)

    def _named(self, kind: str, id: str) -> Running:
        transcript = self._transcript
        assert transcript is not None
        if kind == "tool_call" and (call := transcript.tool_calls.get(id)) is not None:
            can_stop = call.can_cancel and not call.is_final and self.talk.link.is_open
            state = UNTOLD if self.talk.untold.includes(call) else call.status.replace("_", " ")
            return Running(kind, id, call.title or call.kind, state, can_stop)
        if kind == "subagent" and (child := transcript.subagents.get(id)) is not None:
            is_untold = self.talk.untold.includes(child)
            can_stop = child.can_cancel and child.state != "idle" and not is_untold and self.talk.link.is_open
            return Running(kind, id, child.title or "a subagent", UNTOLD if is_untold else state_of(child), can_stop)
        if kind == "terminal":
            return self._terminal(id)
        return Running(kind, id, kind.replace("_", " "), "running")

    def _terminal(self, id: str) -> Running:
        transcript, link = self._transcript, self.talk.link
        told = transcript.terminals.get(id) if transcript is not None else None
        if told is not None:
            command, is_over, can_stop = told.command, told.exit is not None, told.can_cancel
        else:
            command, is_over, can_stop = link.command(id), not link.runs(id), True
        state = "ended" if is_over else "running"
        return Running("terminal", id, command or "a command", state, can_stop and not is_over and link.is_open)

    def letters(self, child: Subagent) -> list[tuple[bool, str]]:
        """What the agent and a subagent wrote to each other: whether to the subagent, and the words."""
        transcript = self._transcript
        if transcript is None:
            return []
        id = child.session_id
        told = [each for each in transcript.session_messages.values() if id in (_sender(each), _recipient(each))]
        return [(_recipient(each) == id, text_of(each.content)) for each in told]

    # -- stopping

    def stoppable_of(self, item: ToolCall | Subagent) -> Running | None:
        """What of an item can be stopped: the call itself, a command that it shows, its subagent."""
        if isinstance(item, Subagent):
            child = self._named("subagent", item.session_id)
            return child if child.can_stop else None
        call = item
        named = [self._named("tool_call", call.id)]
        named += [self._named("terminal", each.terminal_id) for each in call.content if isinstance(each, TerminalRef)]
        transcript = self._transcript
        children = transcript.subagents.values() if transcript is not None else ()
        named += [self._named("subagent", each.session_id) for each in children if each.tool_call_id == call.id]
        return next((each for each in named if each.can_stop), None)

    def hint(self, item: ToolCall | Subagent) -> str:
        """What is said below an item that is selected, if it can be stopped."""
        what = self.stoppable_of(item)
        if what is None:
            return ""
        if (what.kind, what.id) in self.asked:
            return "stopping …"
        return {"tool_call": "x stops it", "terminal": "x stops this command"}.get(what.kind, "x stops the subagent")

    async def stop(self, what: Running) -> None:
        """Stops one thing; the turn, and all else, goes on. Raises what the agent says against it."""
        session, agent = self.talk.session, self.talk.link.agent
        if session is None or agent is None:
            return
        self.asked.add((what.kind, what.id))
        try:
            if what.kind == "tool_call":
                await session.cancel_tool_call(what.id)
            elif what.kind == "subagent":
                await agent.sessions[what.id].cancel()
            elif what.id in session.transcript.terminals:
                await session.cancel_terminal(what.id)
            else:
                await self.talk.link.end_terminal(what.id)
        except BaseException:
            self.asked.discard((what.kind, what.id))
            raise
        finally:
            self._printed.add(what.id)
            self.talk.changed |= {("tool", what.id), ("subagent", what.id)}
            self.talk.on_change()


def _sender(message: events.SubagentMessage) -> str:
    return str(message.data.get("sender_session_id") or "")


def _recipient(message: events.SubagentMessage) -> str:
    return str(message.data.get("recipient_session_id") or "")


def places_of(call: ToolCall) -> list[Place]:
    """Where a call is at work, the latest last: as it says, or else the files of its changes. None comes twice."""
    title = call.title or call.kind
    told = [Place(each.path, each.line, title, call.id) for each in call.locations]
    told = told or [Place(each.path, None, title, call.id) for diff in call.diffs for each in diff.changes]
    return list(reversed(dict.fromkeys(reversed(told))))
