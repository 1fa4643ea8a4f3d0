"""The verbs that tell what the agent does: tool calls, terminals, compactions, notices."""

from __future__ import annotations

from copy import copy
from typing import Any

from msgspec import UNSET

from accord.model.content import Content
from accord.model.session import Compaction, Notice
from accord.model.tool import Terminal, ToolCall, ToolContent
from accord.transcript.events import TerminalChanged, TerminalOutput, Unknown
from accord.transcript.fields import Fields, MetaPatch, patch


class Work(Fields):
    """Work, told while it is done. Everything is made when its id is first heard of."""

    __slots__ = ()

    def patch_tool(self, id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> ToolCall:
        """Sets fields of a tool call."""
        call = self._tool_call(id)
        patch(call, changes, meta_patch)
        return copy(call)

    def append_tool_content(self, id: str, content: ToolContent) -> ToolCall:
        """Adds one piece to the content of a tool call."""
        call = self._tool_call(id)
        call.content.append(content)
        return copy(call)

    def cancel_open_calls(self) -> list[ToolCall]:
        """Marks the unfinished tool calls as cancelled, here alone: later updates are taken as ever.

        What the agent reports as work outside the turn goes on and is left as it is."""
        background = {work.id for work in self.background or () if work.kind == "tool_call"}
        return [
            self.patch_tool(call.id, status="cancelled")
            for call in self.tool_calls.values()
            if not call.is_final and call.id not in background
        ]

    def _tool_call(self, id: str) -> ToolCall:
        call = self.tool_calls.get(id)
        if call is None:
            call = self.tool_calls[id] = ToolCall(id=id, replayed=self.replaying)
            self.timeline.append(call)
        return call

    def patch_terminal(self, id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> TerminalChanged:
        """Sets fields of a terminal. `chunks` replaces all output so far."""
        terminal = self._terminal(id)
        patch(terminal, changes, meta_patch)
        return TerminalChanged(copy(terminal))

    def append_output(self, id: str, data: bytes) -> TerminalOutput:
        """Adds bytes to the output of a terminal. They may end inside a character."""
        self._terminal(id).chunks.append(data)
        return TerminalOutput(id, data)

    def _terminal(self, id: str) -> Terminal:
        terminal = self.terminals.get(id)
        if terminal is None:
            terminal = self.terminals[id] = Terminal(id=id)
        return terminal

    def patch_compaction(self, id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> Compaction:
        """Sets fields of a compaction."""
        compaction = self._compaction(id)
        patch(compaction, changes, meta_patch)
        return copy(compaction)

    def append_summary(self, id: str, content: Content) -> Compaction:
        """Adds one piece to the summary of a compaction, which is in progress when nothing else was said of it."""
        compaction = self._compaction(id)
        compaction.summary.append(content)
        return copy(compaction)

    def _compaction(self, id: str) -> Compaction:
        compaction = self.compactions.get(id)
        if compaction is None:
            compaction = self.compactions[id] = Compaction(id=id)
            self.timeline.append(compaction)
        return compaction

    def add_notice(self, notice: Notice) -> Notice:
        """Keeps something the agent wants a person to know. It changes nothing else."""
        self.notices.append(notice)
        self.timeline.append(notice)
        return notice

    def keep_unknown(self, kind: str, data: dict[str, Any]) -> Unknown:
        """Keeps an update whose meaning is not known here."""
        unknown = Unknown(kind, data)
        self.unknown.append(unknown)
        return unknown
