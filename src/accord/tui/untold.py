"""Tool calls whose end was not told: their turn is over, or their agent gone, and nothing is known to be at them.

The transcript stays as the agent told it; this is about how its calls are shown. A call goes on beyond its turn while
the agent lists it as work beside the turn, while a command that it shows runs, or while the user is asked about it.
Whatever the agent says of a call later holds: that it goes on, or how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from accord.model.session import Subagent
from accord.model.tool import TerminalRef, ToolCall
from accord.transcript import events

if TYPE_CHECKING:
    from accord.tui.talk import Talk

_AT_WORK = ("running", "requires_action")


class Untold:
    """The tool calls of a talk that have not ended, and which of them were left so."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        # Of the calls without an end: those of the turn, those that outlive it, and those that nothing is at any more.
        self._open: dict[str, Literal["turn", "beyond", "left"]] = {}

    def includes(self, item: ToolCall | Subagent) -> bool:
        """Whether the end of a call, or of a subagent, was not told and nothing is known to work on it."""
        session = self.talk.session
        if item.is_final if isinstance(item, ToolCall) else item.state not in _AT_WORK:
            return False
        if session is None or session.closed:
            return True
        if isinstance(item, Subagent):
            return session.transcript.subagents.get(item.session_id) is not item
        # What an earlier session said stands above what this one says, and nobody is at it.
        return session.transcript.tool_calls.get(item.id) is not item or self._open.get(item.id) == "left"

    # -- what happens

    def begin(self) -> None:
        """The session is there, perhaps with a history."""
        session = self.talk.session
        assert session is not None
        self._open = {call.id: "turn" for call in session.transcript.tool_calls.values() if not call.is_final}
        child = session.parent.transcript.subagents.get(session.id) if session.parent is not None else None
        state = session.transcript.state if child is None else child.state
        if not session.busy and state in ("idle", "unknown", None):
            self.leave()

    def hear(self, event: events.Event) -> None:
        """Notes what an event says about calls, or about what is at them."""
        if isinstance(event, ToolCall):
            self._told(event)
        elif isinstance(event, events.StateChanged) and event.state == "idle":
            self.leave()
        elif isinstance(event, (events.StateChanged, events.TerminalChanged)):
            self.look_again()

    def _told(self, call: ToolCall) -> None:
        if call.is_final:
            self._open.pop(call.id, None)
        else:
            self._open[call.id] = "turn"
            self.talk.clocks.went_on(call.id)

    def answered(self, id: str, *, is_void: bool) -> None:
        """The user was asked about a call, and has answered; or nobody wants to know any more."""
        if is_void:
            self.look_again()
        elif id in self._open:
            self._open[id] = "turn"

    def leave(self, *, for_good: bool = False) -> None:
        """The turn is over: calls without an end are left so, but for those that go on beyond it. When the agent is
        gone, which is for good, none does."""
        for id in self._open:
            self._set(id, "left" if for_good or not self._is_at_work(id) else "beyond")

    def look_again(self) -> None:
        """Something began or ended that calls may go on with."""
        for id, how in self._open.items():
            if how == "beyond" and not self._is_at_work(id):
                self._set(id, "left")
            elif how == "left" and self._is_at_work(id):
                self._set(id, "beyond")

    def _set(self, id: str, how: Literal["beyond", "left"]) -> None:
        if self._open[id] == how:
            return
        self._open[id] = how
        if how == "left":
            self.talk.clocks.left(id)
        else:
            self.talk.clocks.went_on(id)
        self.talk.changed.add(("tool", id))
        self.talk.on_change()

    def _is_at_work(self, id: str) -> bool:
        """Whether something is known to work on a call, whether a turn runs or not."""
        transcript, work = self.talk.transcript, self.talk.work
        call = transcript.tool_calls.get(id) if transcript is not None else None
        if transcript is None or call is None:
            return False
        span = self.talk.spans.get(id)
        return (
            work.is_listed(id)
            or (span is not None and span.asked is not None)
            or any(work.goes_on(each.terminal_id) for each in call.content if isinstance(each, TerminalRef))
        )
