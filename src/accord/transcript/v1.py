"""Folds the updates of version 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from accord.schema import v1
from accord.schema.shape import Other
from accord.transcript import reading, reading_v1
from accord.transcript.events import Event, Role
from accord.transcript.transcript import Transcript

_TextContent = v1.TextContent

_ROLES: dict[type, Role] = {
    v1.AgentMessageChunk: "agent",
    v1.AgentThoughtChunk: "thought",
    v1.UserMessageChunk: "user",
}


class Fold:
    """Reads updates, in the order they came, into a transcript."""

    __slots__ = ("transcript",)

    def __init__(self, transcript: Transcript | None = None) -> None:
        self.transcript = Transcript() if transcript is None else transcript

    def apply(self, update: v1.SessionUpdate) -> Event:
        """Takes in one update and tells what changed. Never fails on an update that could be decoded."""
        role = _ROLES.get(type(update))
        if role is None:
            # Anything in between ends a message whose chunks have no id (V1-UPD-08).
            self.transcript.end_message()
            return _VERBS[type(update)](self.transcript, update)
        block = update.content  # type: ignore[union-attr]
        id = update.message_id or None  # type: ignore[union-attr]
        if type(block) is _TextContent and block.annotations is UNSET and block.meta is UNSET:
            return self.transcript.append_text(role, id, block.text)
        return self.transcript.append(role, id, reading_v1.content(block))


def _tool_call(transcript: Transcript, update: v1.ToolCall | v1.ToolCallUpdate) -> Event:
    return transcript.patch_tool(update.tool_call_id, **reading_v1.tool_call_fields(update))


def _plan(transcript: Transcript, update: v1.Plan) -> Event:
    return transcript.set_plan(reading_v1.plan(update))


def _plan_update(transcript: Transcript, update: v1.PlanUpdate) -> Event:
    return transcript.set_plan(reading_v1.plan(update.plan))


def _plan_removed(transcript: Transcript, update: v1.PlanRemoved) -> Event:
    return transcript.remove_plan(update.plan_id)


def _commands(transcript: Transcript, update: v1.AvailableCommandsUpdate) -> Event:
    return transcript.set_commands(reading_v1.commands(update.available_commands))


def _mode(transcript: Transcript, update: v1.CurrentModeUpdate) -> Event:
    return transcript.set_options(reading_v1.with_mode(transcript.options, update.current_mode_id))


def _config(transcript: Transcript, update: v1.ConfigOptionUpdate) -> Event:
    return transcript.set_options(reading_v1.with_config(transcript.options, update.config_options))


def _info(transcript: Transcript, update: v1.SessionInfoUpdate) -> Event:
    return transcript.set_info(title=update.title, updated_at=update.updated_at, meta=update.meta)


def _usage(transcript: Transcript, update: v1.UsageUpdate) -> Event:
    return transcript.set_usage(reading.usage(update, reading.cost(update.cost)))


def _notice(transcript: Transcript, update: v1.Notice) -> Event:
    return transcript.add_notice(reading.notice(update))


def _compaction(transcript: Transcript, update: v1.CompactionUpdate) -> Event:
    changes = reading.three_state(update, "status", "error", "meta")
    if update.summary is not UNSET:
        changes["summary"] = reading.replaced(update.summary, reading_v1.content)
    return transcript.patch_compaction(update.compaction_id, **changes)


def _summary_chunk(transcript: Transcript, update: v1.CompactionSummaryChunk) -> Event:
    return transcript.append_summary(update.compaction_id, reading_v1.content(update.content))


def _subagent(transcript: Transcript, update: v1.SubagentUpdate) -> Event:
    return transcript.patch_subagent(update.session_id, **reading_v1.subagent(update))


def _session_message(transcript: Transcript, update: v1.SessionMessage) -> Event:
    names = reading.session_message_names(update)
    if update.meta is not UNSET:
        names["meta"] = update.meta
    content = reading.replaced(update.content, reading_v1.content)
    return transcript.set_session_message(update.message_id, content, **names)


def _session_message_chunk(transcript: Transcript, update: v1.SessionMessageChunk) -> Event:
    return transcript.append_session_message(update.message_id, reading_v1.content(update.content))


def _unknown(transcript: Transcript, update: Other) -> Event:
    return transcript.keep_unknown(update.tag, update.data)


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
    Other: _unknown,
}
