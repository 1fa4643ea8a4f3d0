"""Tool calls that were never reported as finished, and that nothing works on any more.

The transcript keeps the status that the agent reported; this class decides how to display such a call. After its turn,
a call is still in progress while the agent lists it as background work, while a command that it shows is running, or
while the user is being asked about it. A later report of the agent takes precedence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from accord.model.session import Subagent
from accord.model.tool import TerminalRef, ToolCall
from accord.transcript.events import Event, StateChanged, TerminalChanged
from accord.transcript.timing import Timing
from accord.transcript.transcript import Transcript

_WORKING = ("running", "requires_action")


class UnfinishedCalls:
    """The open tool calls of a session, and which of them were abandoned."""

    def __init__(
        self,
        timing: Timing,
        *,
        is_open: Callable[[], bool],
        is_running: Callable[[str], bool],
        on_change: Callable[[str], None],
    ) -> None:
        """`is_open` returns whether the session is open, `is_running` whether the command of a terminal is still
        running. `on_change` is called with the id of a call that was abandoned, or is no longer abandoned."""
        self.timing = timing
        self._transcript: Transcript | None = None
        self._is_open = is_open
        self._is_running = is_running
        self._on_change = on_change
        # "turn": in progress according to the agent; "background": outlives its turn; "abandoned": neither.
        self._calls: dict[str, Literal["turn", "background", "abandoned"]] = {}

    def includes(self, item: ToolCall | Subagent) -> bool:
        """Return whether a call or a subagent was never reported as finished and nothing is known to work on it."""
        if item.is_final if isinstance(item, ToolCall) else item.state not in _WORKING:
            return False
        if self._transcript is None or not self._is_open():
            return True
        if isinstance(item, Subagent):
            return self._transcript.subagents.get(item.session_id) is not item
        # Nothing works on the items of an earlier session, which precede those of this one.
        return self._transcript.tool_calls.get(item.id) is not item or self._calls.get(item.id) == "abandoned"

    @property
    def outliving(self) -> list[str]:
        """The ids of the calls that have outlived their turn and are still in progress."""
        return [id for id, how in self._calls.items() if how == "background"]

    def begin(self, transcript: Transcript, *, is_idle: bool) -> None:
        """Start with a session that was just opened, perhaps with a history."""
        self._transcript = transcript
        self._calls = {call.id: "turn" for call in transcript.tool_calls.values() if not call.is_final}
        if is_idle:
            self.abandon()

    def apply(self, event: Event) -> None:
        """Process an event about open calls, or about the work behind them."""
        if isinstance(event, ToolCall):
            if event.is_final:
                self._calls.pop(event.id, None)
            else:
                self._calls[event.id] = "turn"
                self.timing.resume(event.id)
        elif isinstance(event, StateChanged) and event.state == "idle":
            self.abandon()
        elif isinstance(event, (StateChanged, TerminalChanged)):
            self.check()

    def close_question(self, id: str, *, is_answered: bool) -> None:
        """Record that the question to the user about a call was answered or withdrawn."""
        if not is_answered:
            self.check()
        elif id in self._calls:
            self._calls[id] = "turn"

    def abandon(self, *, is_agent_gone: bool = False) -> None:
        """Abandon the open calls of a turn that has ended, except those that outlive it. No call outlives its agent."""
        for id in self._calls:
            self._set(id, "abandoned" if is_agent_gone or not self._is_in_progress(id) else "background")

    def check(self) -> None:
        """Check the calls outside a turn again: work that they depend on may have started or ended."""
        for id, how in self._calls.items():
            if how == "background" and not self._is_in_progress(id):
                self._set(id, "abandoned")
            elif how == "abandoned" and self._is_in_progress(id):
                self._set(id, "background")

    def _set(self, id: str, how: Literal["background", "abandoned"]) -> None:
        if self._calls[id] == how:
            return
        self._calls[id] = how
        if how == "abandoned":
            self.timing.abandon(id)
        else:
            self.timing.resume(id)
        self._on_change(id)

    def _is_in_progress(self, id: str) -> bool:
        """Return whether something is known to work on a call outside a turn."""
        call = self._transcript.tool_calls.get(id) if self._transcript is not None else None
        if self._transcript is None or call is None:
            return False
        span = self.timing.spans.get(id)
        return (
            (self._is_open() and self._transcript.is_background(id))
            or (span is not None and span.asked is not None)
            or any(self._is_running(each.terminal_id) for each in call.content if isinstance(each, TerminalRef))
        )
