"""What version 2 says, as neutral nouns. Pure functions, for the fold and for the client's dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from msgspec import UNSET

from accord.model.content import Content
from accord.model.requests import AuthMethod, Elicitation, PermissionRequest
from accord.model.session import Background, Choice, Command, Option, Plan
from accord.model.tool import Diff, ExitStatus, FileChange, ToolCall, ToolContent
from accord.schema import v2
from accord.schema.shape import Other
from accord.transcript import reading
from accord.transcript.fields import patch
from accord.transcript.reading import cost, given, notice, session_info, tokens, usage

__all__ = [
    "auth_method",
    "background",
    "commands",
    "content",
    "contents",
    "cost",
    "diff",
    "elicitation",
    "notice",
    "options",
    "permission",
    "plan",
    "session_info",
    "state",
    "subagent",
    "terminal_fields",
    "tokens",
    "tool_call_fields",
    "tool_content",
    "usage",
]

_CONTENT: dict[type, Callable[[Any], Content]] = {
    v2.TextContent: reading.text,
    v2.ImageContent: reading.image,
    v2.AudioContent: reading.audio,
    v2.ResourceLink: reading.link,
    v2.EmbeddedResource: reading.resource,
    Other: reading.unknown_content,
}


def content(block: Any) -> Content:
    """A content block."""
    return _CONTENT[type(block)](block)


def contents(blocks: list[Any]) -> list[Content]:
    """Several content blocks."""
    return [_CONTENT[type(block)](block) for block in blocks]


# Tool calls and terminals


def diff(item: v2.Diff) -> Diff:
    """Changes of files. A patch in a format other than Git's is left aside: the changes say what happened."""
    given_patch = item.patch.text if item.patch and item.patch.format == "git_patch" else None
    return Diff(changes=[_change(change) for change in item.changes], given_patch=given_patch)


def _change(change: Any) -> FileChange:
    if isinstance(change, Other):
        words = {key: value for key, value in change.data.items() if isinstance(value, str)}
        return FileChange(
            operation=change.tag,
            path=words.get("path", ""),
            old_path=words.get("oldPath"),
            file_type=words.get("fileType"),
            mime_type=words.get("mimeType"),
        )
    return FileChange(
        operation=change.__struct_config__.tag,
        path=change.path,
        old_path=getattr(change, "old_path", None),
        file_type=given(change.file_type),
        mime_type=given(change.mime_type),
    )


_TOOL_CONTENT: dict[type, Callable[[Any], ToolContent]] = {
    v2.Content: lambda item: content(item.content),
    v2.Diff: diff,
    v2.Terminal: reading.terminal_ref,
    Other: reading.unknown_content,
}


def tool_content(item: Any) -> ToolContent:
    """One piece of what a tool call shows."""
    return _TOOL_CONTENT[type(item)](item)


# What a field of a tool call is after null has cleared it.
_CLEARED = {"title": "", "kind": "other", "status": "pending", "name": None, "raw_input": None, "raw_output": None}


def tool_call_fields(update: v2.ToolCallPatch) -> dict[str, Any]:
    """What an update says about a tool call, field by field. Null clears. Metadata is a patch of its own."""
    changes: dict[str, Any] = {}
    for name, cleared in _CLEARED.items():
        value = getattr(update, name)
        if value is not UNSET:
            changes[name] = cleared if value is None else value
    if update.content is not UNSET:
        changes["content"] = reading.replaced(update.content, tool_content)
    if update.locations is not UNSET:
        changes["locations"] = reading.replaced(update.locations, reading.location)
    if update.capabilities is not UNSET:
        changes["can_cancel"] = reading.can_cancel(update.capabilities)
    return changes


def terminal_fields(update: v2.TerminalUpdate) -> dict[str, Any]:
    """What an update says about a terminal, field by field. Null clears; output replaces all bytes there were."""
    changes = reading.three_state(update, "command", "cwd")
    if update.output is None:
        changes["chunks"] = []
    elif update.output is not UNSET:
        data = reading.octets(update.output.data)
        if data is not None:  # what cannot be read counts as left out
            changes["chunks"] = [data]
    if update.exit_status is None:
        changes["exit"] = None
    elif update.exit_status is not UNSET:
        status = update.exit_status
        changes["exit"] = ExitStatus(code=given(status.exit_code), signal=given(status.signal))
    if update.size is None:
        changes["columns"] = changes["rows"] = None
    elif update.size is not UNSET:
        changes["columns"], changes["rows"] = update.size.cols, update.size.rows
    if update.capabilities is not UNSET:
        changes["can_cancel"] = reading.can_cancel(update.capabilities)
    return changes


# Plans, options, commands

_PLANS: dict[type, Callable[[Any], Plan]] = {
    v2.PlanItems: reading.plan_items,
    v2.PlanFile: reading.plan_file,
    v2.PlanMarkdown: reading.plan_markdown,
    Other: reading.plan_unknown,
}


def plan(wire: Any) -> Plan:
    """A plan, whatever its kind."""
    return _PLANS[type(wire)](wire)


def options(config_options: Any = UNSET) -> list[Option]:
    """Everything a user may set. Options of a type that is not known here cannot be set, and are left out."""
    return [_option(wire) for wire in given(config_options) or [] if not isinstance(wire, Other)]


def _option(wire: v2.SessionConfigSelect | v2.SessionConfigBoolean) -> Option:
    choices: list[Choice] = []
    if isinstance(wire, v2.SessionConfigSelect):
        for item in wire.options:
            if isinstance(item, v2.SessionConfigSelectGroup):
                choices += [reading.choice(value, item.group_id, item.name) for value in item.options]
            else:
                choices.append(reading.choice(item))
    return reading.option(wire.config_id, wire, choices)


def commands(available: Any = UNSET) -> list[Command]:
    """Slash commands. One of a type that is not known here is shown as a plain one."""
    return [_command(wire) for wire in given(available) or []]


def _command(wire: v2.Command | Other) -> Command:
    if isinstance(wire, Other):
        return Command(name=wire.data["name"], description=wire.data["description"])
    hint = wire.input.hint if isinstance(wire.input, v2.TextCommandInput) else None
    return Command(name=wire.name, description=wire.description, hint=hint)


# State, subagents


def state(snapshot: v2.StateSnapshot) -> dict[str, Any]:
    """A state, as `Transcript.set_state` takes it."""
    return {
        "state": snapshot.state,
        "stop_reason": given(snapshot.stop_reason),
        "error": reading.plain(snapshot.error),
        "tokens": tokens(snapshot.usage),
        "background": background(snapshot.background),
    }


_BACKGROUND: dict[type, Callable[[Any], Background]] = {
    v2.BackgroundTerminal: lambda work: Background(kind="terminal", id=work.terminal_id),
    v2.BackgroundToolCall: lambda work: Background(kind="tool_call", id=work.tool_call_id),
    v2.BackgroundSubagent: lambda work: Background(kind="subagent", id=work.session_id),
    Other: lambda work: Background(kind=work.tag, id=""),
}


def background(wire: Any) -> list[Background] | None:
    """The work outside the turn; None where it was not reported."""
    if wire is UNSET or wire is None:
        return None
    return [_BACKGROUND[type(work)](work) for work in wire]


def subagent(update: v2.SubagentUpdate) -> dict[str, Any]:
    """What an update says about a subagent, field by field. Null clears. Metadata is a patch of its own."""
    changes = reading.subagent_fields(update)
    if update.state is None:
        changes["state"] = changes["stop_reason"] = None
    elif update.state is not UNSET:
        changes["state"] = update.state.state
        changes["stop_reason"] = given(update.state.stop_reason) if update.state.state == "idle" else None
    return changes


# Requests of the agent, and what it offers


def permission(request: v2.RequestPermissionRequest, tool_calls: Mapping[str, ToolCall]) -> PermissionRequest:
    """A permission request; its tool call as known so far, with what the request adds."""
    result = PermissionRequest(
        session_id=request.session_id,
        title=request.title,
        options=reading.permission_options(request.options),
        description=given(request.description),
        meta=given(request.meta),
    )
    match request.subject:
        case v2.ToolCallPermissionSubject(tool_call=update):
            id = update.tool_call_id
            result.tool_call = copy(tool_calls[id]) if id in tool_calls else ToolCall(id=id)
            patch(result.tool_call, tool_call_fields(update), update.meta)
        case v2.CommandPermissionSubject() as subject:
            result.command, result.cwd = subject.command, subject.cwd
            if isinstance(subject.tool_call_id, str) and subject.tool_call_id in tool_calls:
                result.tool_call = copy(tool_calls[subject.tool_call_id])
        case Other(_, data):
            result.other = data
    return result


_ELICITATIONS: dict[type, Callable[[Any], Elicitation]] = {
    v2.ElicitationFormMode: reading.form,
    v2.ElicitationUrlMode: reading.page,
    Other: reading.unknown_elicitation,
}


def elicitation(request: Any) -> Elicitation:
    """A question to the user."""
    return _ELICITATIONS[type(request)](request)


def auth_method(wire: Any) -> AuthMethod:
    """A way to log in, of a kind known here or not."""
    if isinstance(wire, Other):
        data = wire.data
        return AuthMethod(
            id=data["methodId"] if "methodId" in data else data["id"],
            name=data["name"],
            description=data.get("description"),
            kind=wire.tag,
            meta=data.get("_meta"),
        )
    method = AuthMethod(id=wire.method_id, name=wire.name, description=given(wire.description), meta=given(wire.meta))
    if isinstance(wire, v2.AuthMethodTerminal):
        method.kind, method.args = "terminal", wire.args
        method.env = {variable.name: variable.value for variable in wire.env}
    return method
