"""Fold updates of version 2 into a transcript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from accord.codec import from_v2, from_wire
from accord.schema import v2
from accord.schema.common.octets import octets
from accord.schema.shape import Other
from accord.transcript.events import Event, Role, with_meta
from accord.transcript.transcript import Transcript

_TextContent = v2.TextContent

_ROLES: dict[type, Role] = {
    v2.AgentMessageChunk: "agent",
    v2.AgentThoughtChunk: "thought",
    v2.UserMessageChunk: "user",
}


class Fold:
    """Applies updates to a transcript, in wire order."""

    __slots__ = ("transcript",)

    def __init__(self, transcript: Transcript | None = None) -> None:
        self.transcript: Transcript = Transcript() if transcript is None else transcript

    def apply(self, update: v2.SessionUpdate) -> Event:
        """Apply one update and return the event. Never fails on an update that was decoded."""
        role = _ROLES.get(type(update))
        if role is None:
            return with_meta(_VERBS[type(update)](self.transcript, update), update)
        chunk: Any = update  # one of the three chunk types in `_ROLES`
        block = chunk.content
        id = chunk.message_id
        if type(block) is _TextContent and block.annotations is UNSET and block.meta is UNSET:
            event: Event = self.transcript.append_text(role, id, block.text)
        else:
            event = self.transcript.append(role, id, from_v2.content(block))
        # A chunk's metadata belongs to the chunk, not to the message (V2-UPD-14).
        return with_meta(event, chunk) if chunk.meta else event


def _message(role: Role) -> Callable[[Transcript, Any], Event]:
    def apply(transcript: Transcript, update: v2.UserMessage | v2.AgentMessage | v2.AgentThought) -> Event:
        content = from_wire.read_list(update.content, from_v2.content)
        return transcript.set_message(role, update.message_id, content, update.meta)

    return apply


def _state(transcript: Transcript, update: v2.StateUpdate) -> Event:
    return transcript.set_state(**from_v2.state(update))


def _tool_call(transcript: Transcript, update: v2.ToolCallUpdate) -> Event:
    changes = from_v2.tool_call_fields(update)
    return transcript.patch_tool(update.tool_call_id, meta_patch=update.meta, **changes)


def _tool_content(transcript: Transcript, update: v2.ToolCallContentChunk) -> Event:
    return transcript.append_tool_content(update.tool_call_id, from_v2.tool_content(update.content))


def _terminal(transcript: Transcript, update: v2.TerminalUpdate) -> Event:
    changes = from_v2.terminal_fields(update)
    return transcript.patch_terminal(update.terminal_id, meta_patch=update.meta, **changes)


def _output(transcript: Transcript, update: v2.TerminalOutputChunk) -> Event:
    return transcript.append_output(update.terminal_id, octets(update.data) or b"")


def _plan(transcript: Transcript, update: v2.PlanUpdate) -> Event:
    return transcript.set_plan(from_v2.plan(update.plan))


def _plan_removed(transcript: Transcript, update: v2.PlanRemoved) -> Event:
    return transcript.remove_plan(update.plan_id)


def _commands(transcript: Transcript, update: v2.AvailableCommandsUpdate) -> Event:
    return transcript.set_commands(from_v2.commands(update.available_commands))


def _config(transcript: Transcript, update: v2.ConfigOptionUpdate) -> Event:
    return transcript.set_options(from_v2.options(update.config_options))


def _info(transcript: Transcript, update: v2.SessionInfoUpdate) -> Event:
    return transcript.set_info(title=update.title, updated_at=update.updated_at, meta_patch=update.meta)


def _usage(transcript: Transcript, update: v2.UsageUpdate) -> Event:
    known = transcript.usage.cost if transcript.usage is not None else None
    cost = known if update.cost is UNSET else from_wire.cost(update.cost)
    return transcript.set_usage(from_wire.usage(update, cost))


def _notice(transcript: Transcript, update: v2.Notice) -> Event:
    return transcript.add_notice(from_wire.notice(update))


def _compaction(transcript: Transcript, update: v2.CompactionUpdate) -> Event:
    changes = from_wire.three_state(update, "status", "error")
    if update.summary is not UNSET:
        changes["summary"] = from_wire.read_list(update.summary, from_v2.content)
    return transcript.patch_compaction(update.compaction_id, meta_patch=update.meta, **changes)


def _summary_chunk(transcript: Transcript, update: v2.CompactionSummaryChunk) -> Event:
    return transcript.append_summary(update.compaction_id, from_v2.content(update.content))


def _subagent(transcript: Transcript, update: v2.SubagentUpdate) -> Event:
    return transcript.patch_subagent(update.session_id, meta_patch=update.meta, **from_v2.subagent(update))


def _session_message(transcript: Transcript, update: v2.SessionMessage) -> Event:
    names = from_wire.session_message_names(update)
    content = from_wire.read_list(update.content, from_v2.content)
    return transcript.set_session_message(update.message_id, content, meta_patch=update.meta, **names)


def _session_message_chunk(transcript: Transcript, update: v2.SessionMessageChunk) -> Event:
    return transcript.append_session_message(update.message_id, from_v2.content(update.content))


def _add_unknown(transcript: Transcript, update: Other) -> Event:
    return transcript.add_unknown(update.tag, update.data)


_VERBS: dict[type, Callable[[Transcript, Any], Event]] = {
    v2.UserMessage: _message("user"),
    v2.AgentMessage: _message("agent"),
    v2.AgentThought: _message("thought"),
    v2.StateUpdate: _state,
    v2.ToolCallUpdate: _tool_call,
    v2.ToolCallContentChunk: _tool_content,
    v2.TerminalUpdate: _terminal,
    v2.TerminalOutputChunk: _output,
    v2.PlanUpdate: _plan,
    v2.PlanRemoved: _plan_removed,
    v2.AvailableCommandsUpdate: _commands,
    v2.ConfigOptionUpdate: _config,
    v2.SessionInfoUpdate: _info,
    v2.UsageUpdate: _usage,
    v2.Notice: _notice,
    v2.CompactionUpdate: _compaction,
    v2.CompactionSummaryChunk: _summary_chunk,
    v2.SubagentUpdate: _subagent,
    v2.SessionMessage: _session_message,
    v2.SessionMessageChunk: _session_message_chunk,
    Other: _add_unknown,
}
