"""What a kept session looks like: its statements folded into the transcript that a client would have made of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from msgspec import UNSET

from accord.model import statement as s
from accord.model.content import TextContent
from accord.transcript.transcript import Transcript


async def picture(session_id: str, history: AsyncIterator[s.Statement], cwd: str | None = None) -> Transcript:
    """The session as a person sees it."""
    transcript = Transcript(session_id, cwd=cwd)
    async for statement in history:
        apply(transcript, statement)
    return transcript


def apply(transcript: Transcript, statement: s.Statement) -> None:
    """Takes in one statement."""
    changes: dict[str, Any]
    match statement:
        case s.Said(role=role, message_id=id, content=TextContent(text=text, annotations=None, meta=None)):
            transcript.append_text(role, id, text)
        case s.Said(role=role, message_id=id, content=content):
            transcript.append(role, id, content)
        case s.WholeMessage(role=role, message_id=id, content=contents):
            transcript.set_message(role, id, list(contents), statement.meta or UNSET)
        case s.ToolPatch(id=id):
            transcript.patch_tool(id, meta_patch=statement.meta or UNSET, **_given(statement, _TOOL))
        case s.TerminalPatch(id=id):
            changes = _given(statement, ("command", "cwd", "exit", "can_cancel"))
            if isinstance(statement.output, bytes):
                changes["chunks"] = [statement.output]
            transcript.patch_terminal(id, **changes)
        case s.TerminalData(id=id, data=data):
            transcript.append_output(id, data)
        case s.PlanSet(plan=plan):
            transcript.set_plan(plan)
        case s.PlanGone(id=id):
            transcript.remove_plan(id)
        case s.CommandsAre(commands=commands):
            transcript.set_commands(commands)
        case s.OptionsAre(options=options):
            transcript.set_options(options)
        case s.InfoIs(title=title, updated_at=updated_at):
            transcript.set_info(title=title, updated_at=updated_at, meta_patch=statement.meta or UNSET)
        case s.UsageIs(usage=usage):
            transcript.set_usage(usage)
        case s.Noticed(notice=notice):
            transcript.add_notice(notice)
        case s.Compacted(compaction=told):
            changes = {"status": told.status, "error": told.error}
            if told.summary:
                changes["summary"] = list(told.summary)
            transcript.patch_compaction(told.id, **changes)
        case s.CompactionText(id=id, content=content):
            transcript.append_summary(id, content)
        case s.SubagentIs(subagent=child):
            fields = {name: getattr(child, name) for name in child.__struct_fields__ if name != "session_id"}
            transcript.patch_subagent(child.session_id, **fields)
        case s.Raw(update=update):
            transcript.keep_unknown(str(update.get("sessionUpdate", "")) if isinstance(update, dict) else "", update)
        case s.StateIs():
            pass  # of a moment that is over


_TOOL = ("title", "kind", "status", "name", "content", "locations", "raw_input", "raw_output", "can_cancel")


def _given(statement: s.ToolPatch | s.TerminalPatch, names: tuple[str, ...]) -> dict[str, Any]:
    """What a patch sets. Lists are copied: the transcript goes on adding to its own."""
    found = {name: getattr(statement, name) for name in names if getattr(statement, name) is not UNSET}
    return {name: list(value) if isinstance(value, list) else value for name, value in found.items()}
