"""Folds the updates of version 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from accord.schema import v2
from accord.schema.shape import Other
from accord.transcript import reading, reading_v2
from accord.transcript.events import Event, Role
from accord.transcript.transcript import Transcript

_TextContent = v2.TextContent

_ROLES: dict[type, Role] = {
    v2.AgentMessageChunk: "agent",
    v2.AgentThoughtChunk: "thought",
    v2.UserMessageChunk: "user",
}


class Fold:
    """Reads updates, in the order they came, into a transcript."""

    __slots__ = ("transcript",)

    def __init__(self, transcript: Transcript | None = None) -> None:
        self.transcript = Transcript() if transcript is None else transcript

    def apply(self, update: v2.SessionUpdate) -> Event:
        """Takes in one update and tells what changed. Never fails on an update that could be decoded."""
        role = _ROLES.get(type(update))
        if role is None:
            return _VERBS[type(update)](self.transcript, update)
        block = update.content  # type: ignore[union-attr]
        id = update.message_id  # type: ignore[union-attr]
        # The metadata of a chunk is the chunk's own and never the message's (V2-UPD-14).
        if type(block) is _TextContent and block.annotations is UNSET and block.meta is UNSET:
            return self.transcript.append_text(role, id, block.text)
        return self.transcript.append(role, id, reading_v2.content(block))


def _message(role: Role) -> Callable[[Transcript, Any], Event]:
    def apply(transcript: Transcript, update: v2.UserMessage | v2.AgentMessage | v2.AgentThought) -> Event:
        content = reading.replaced(update.content, reading_v2.content)
        return transcript.set_message(role, update.message_id, content, update.meta)

    return apply


def _state(transcript: Transcript, update: v2.StateUpdate) -> Event:
    return transcript.set_state(**reading_v2.state(update))


def _tool_call(transcript: Transcript, update: v2.ToolCallUpdate) -> Event:
    changes = reading_v2.tool_call_fields(update)
    return transcript.patch_tool(update.tool_call_id, meta_patch=update.meta, **changes)


def _tool_content(transcript: Transcript, update: v2.ToolCallContentChunk) -> Event:
    return transcript.append_tool_content(update.tool_call_id, reading_v2.tool_content(update.content))


def _terminal(transcript: Transcript, update: v2.TerminalUpdate) -> Event:
    changes = reading_v2.terminal_fields(update)
    return transcript.patch_terminal(update.terminal_id, meta_patch=update.meta, **changes)


def _output(transcript: Transcript, update: v2.TerminalOutputChunk) -> Event:
    return transcript.append_output(update.terminal_id, reading.octets(update.data) or b"")


def _plan(transcript: Transcript, update: v2.PlanUpdate) -> Event:
    return transcript.set_plan(reading_v2.plan(update.plan))


def _plan_removed(transcript: Transcript, update: v2.PlanRemoved) -> Event:
    return transcript.remove_plan(update.plan_id)


def _commands(transcript: Transcript, update: v2.AvailableCommandsUpdate) -> Event:
    return transcript.set_commands(reading_v2.commands(update.available_commands))


def _config(transcript: Transcript, update: v2.ConfigOptionUpdate) -> Event:
    return transcript.set_options(reading_v2.options(update.config_options))


def _info(transcript: Transcript, update: v2.SessionInfoUpdate) -> Event:
    return transcript.set_info(title=update.title, updated_at=update.updated_at, meta_patch=update.meta)


def _usage(transcript: Transcript, update: v2.UsageUpdate) -> Event:
    known = transcript.usage.cost if transcript.usage is not None else None
    cost = known if update.cost is UNSET else reading.cost(update.cost)
    return transcript.set_usage(reading.usage(update, cost))


def _notice(transcript: Transcript, update: v2.Notice) -> Event:
    return transcript.add_notice(reading.notice(update))


def _compaction(transcript: Transcript, update: v2.CompactionUpdate) -> Event:
    changes = reading.three_state(update, "status", "error")
    if update.summary is not UNSET:
        changes["summary"] = reading.replaced(update.summary, reading_v2.content)
    return transcript.patch_compaction(update.compaction_id, meta_patch=update.meta, **changes)


def _summary_chunk(transcript: Transcript, update: v2.CompactionSummaryChunk) -> Event:
    return transcript.append_summary(update.compaction_id, reading_v2.content(update.content))


def _subagent(transcript: Transcript, update: v2.SubagentUpdate) -> Event:
    return transcript.patch_subagent(update.session_id, meta_patch=update.meta, **reading_v2.subagent(update))


def _session_message(transcript: Transcript, update: v2.SessionMessage) -> Event:
    names = reading.session_message_names(update)
    content = reading.replaced(update.content, reading_v2.content)
    return transcript.set_session_message(update.message_id, content, meta_patch=update.meta, **names)


def _session_message_chunk(transcript: Transcript, update: v2.SessionMessageChunk) -> Event:
    return transcript.append_session_message(update.message_id, reading_v2.content(update.content))


def _unknown(transcript: Transcript, update: Other) -> Event:
    return transcript.keep_unknown(update.tag, update.data)


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
    Other: _unknown,
}
