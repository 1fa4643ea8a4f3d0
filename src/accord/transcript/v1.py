"""Fold updates of version 1 into a transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from msgspec import UNSET

from accord.codec import from_v1, from_wire
from accord.schema import v1
from accord.schema.shape import Other
from accord.transcript.events import Event, Role, with_meta
from accord.transcript.transcript import Transcript

_TextContent = v1.TextContent

_ROLES: dict[type, Role] = {
    v1.AgentMessageChunk: "agent",
    v1.AgentThoughtChunk: "thought",
    v1.UserMessageChunk: "user",
}


class EventReceiver(Protocol):
    """Receives events."""

    def push(self, event: Event) -> None: ...


class Fold:
    """Applies updates to a transcript, in wire order."""

    __slots__ = ("_receiver", "transcript")

    def __init__(self, transcript: Transcript | None = None, receiver: EventReceiver | None = None) -> None:
        self.transcript: Transcript = Transcript() if transcript is None else transcript
        self._receiver = receiver  # of the events that precede the one returned by `apply`

    def apply(self, update: v1.SessionUpdate) -> Event:
        """Apply one update and return the event. Never fails on an update that was decoded."""
        kind = type(update)
        role = _ROLES.get(kind)
        if role is None:
            # Anything in between ends a message whose chunks have no id (V1-UPD-08).
            self.transcript.end_message()
            if isinstance(update, _TOOL_CALLS):  # the most frequent kind; its event has the metadata already
                if update.meta:
                    self._read_terminals(update)
                return _tool_call(self.transcript, update)
            return with_meta(_VERBS[kind](self.transcript, update), update)
        chunk: Any = update  # one of the three chunk types in `_ROLES`
        block = chunk.content
        id = chunk.message_id or None
        if type(block) is _TextContent and block.annotations is UNSET and block.meta is UNSET:
            event: Event = self.transcript.append_text(role, id, block.text)
        else:
            event = self.transcript.append(role, id, from_v1.content(block))
        return with_meta(event, chunk) if chunk.meta else event

    def tool_call(self, patch: v1.ToolCallPatch) -> Event:
        """Apply the tool call of a permission request, which counts as an update."""
        self.transcript.end_message()
        if patch.meta:
            self._read_terminals(patch)
        return _tool_call(self.transcript, patch)

    def _read_terminals(self, update: v1.ToolCall | v1.ToolCallPatch) -> None:
        for event in _terminal_events(self.transcript, update):
            if self._receiver is not None:
                self._receiver.push(event)


_TOOL_CALLS = (v1.ToolCall, v1.ToolCallUpdate)


def _terminal_events(transcript: Transcript, update: v1.ToolCall | v1.ToolCallPatch) -> Iterator[Event]:
    """Read the terminals that the agent runs itself from the metadata of a tool call.

    Version 1 has no messages for them. Zed introduced these keys; codex-acp, claude-agent-acp and others send them.
    Both output keys append; an agent sends one of them."""
    for key in ("terminal_info", "terminal_output_delta", "terminal_output", "terminal_exit"):
        info = update.meta.get(key) if isinstance(update.meta, dict) else None
        if not isinstance(info, dict):
            continue
        named = info.get("terminal_id")
        id = named if isinstance(named, str) and named else update.tool_call_id
        if key == "terminal_info":
            yield transcript.patch_terminal(id, **from_v1.terminal_info(info))
        elif key == "terminal_exit":
            if id in transcript.terminals and transcript.terminals[id].exit is not None:
                continue  # readers would get the whole output again with each repetition
            yield transcript.patch_terminal(id, exit=from_v1.terminal_exit(info))
        elif isinstance(data := info.get("data"), str) and data:
            yield transcript.append_output(id, data.encode("utf-8", "replace"))


def _tool_call(transcript: Transcript, update: v1.ToolCall | v1.ToolCallPatch) -> Event:
    announced = type(update) is v1.ToolCall
    return transcript.change_tool(update.tool_call_id, from_v1.tool_call_fields(update), announced=announced)


def _plan(transcript: Transcript, update: v1.Plan) -> Event:
    return transcript.set_plan(from_v1.plan(update))


def _plan_update(transcript: Transcript, update: v1.PlanUpdate) -> Event:
    return transcript.set_plan(from_v1.plan(update.plan))


def _plan_removed(transcript: Transcript, update: v1.PlanRemoved) -> Event:
    return transcript.remove_plan(update.plan_id)


def _commands(transcript: Transcript, update: v1.AvailableCommandsUpdate) -> Event:
    return transcript.set_commands(from_v1.commands(update.available_commands))


def _mode(transcript: Transcript, update: v1.CurrentModeUpdate) -> Event:
    return transcript.set_options(from_v1.with_mode(transcript.options, update.current_mode_id))


def _config(transcript: Transcript, update: v1.ConfigOptionUpdate) -> Event:
    return transcript.set_options(from_v1.with_config(transcript.options, update.config_options))


def _info(transcript: Transcript, update: v1.SessionInfoUpdate) -> Event:
    return transcript.set_info(title=update.title, updated_at=update.updated_at, meta=update.meta)


def _usage(transcript: Transcript, update: v1.UsageUpdate) -> Event:
    return transcript.set_usage(from_wire.usage(update, from_wire.cost(update.cost)))


def _notice(transcript: Transcript, update: v1.Notice) -> Event:
    return transcript.add_notice(from_wire.notice(update))


def _compaction(transcript: Transcript, update: v1.CompactionUpdate) -> Event:
    changes = from_wire.three_state(update, "status", "error", "meta")
    if update.summary is not UNSET:
        changes["summary"] = from_wire.read_list(update.summary, from_v1.content)
    return transcript.patch_compaction(update.compaction_id, **changes)


def _summary_chunk(transcript: Transcript, update: v1.CompactionSummaryChunk) -> Event:
    return transcript.append_summary(update.compaction_id, from_v1.content(update.content))


def _subagent(transcript: Transcript, update: v1.SubagentUpdate) -> Event:
    return transcript.patch_subagent(update.session_id, **from_v1.subagent(update))


def _session_message(transcript: Transcript, update: v1.SessionMessage) -> Event:
    names = from_wire.session_message_names(update)
    if update.meta is not UNSET:
        names["meta"] = update.meta
    content = from_wire.read_list(update.content, from_v1.content)
    return transcript.set_session_message(update.message_id, content, **names)


def _session_message_chunk(transcript: Transcript, update: v1.SessionMessageChunk) -> Event:
    return transcript.append_session_message(update.message_id, from_v1.content(update.content))


def _add_unknown(transcript: Transcript, update: Other) -> Event:
    return transcript.add_unknown(update.tag, update.data)


_VERBS: dict[type, Callable[[Transcript, Any], Event]] = {
    v1.ToolCall: _tool_call,
    v1.ToolCallUpdate: _tool_call,
    v1.Plan: _plan,
    v1.PlanUpdate: _plan_update,
    v1.PlanRemoved: _plan_removed,
    v1.AvailableCommandsUpdate: _commands,
    v1.CurrentModeUpdate: _mode,
    v1.ConfigOptionUpdate: _config,
    v1.SessionInfoUpdate: _info,
    v1.UsageUpdate: _usage,
    v1.Notice: _notice,
    v1.CompactionUpdate: _compaction,
    v1.CompactionSummaryChunk: _summary_chunk,
    v1.SubagentUpdate: _subagent,
    v1.SessionMessage: _session_message,
    v1.SessionMessageChunk: _session_message_chunk,
    Other: _add_unknown,
}
