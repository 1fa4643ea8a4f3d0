"""Read wire types of version 2 into the neutral model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from msgspec import UNSET

from accord.codec import from_wire
from accord.codec.from_wire import cost, notice, or_none, session_info, tokens, usage
from accord.model.content import Content
from accord.model.record import patch
from accord.model.requests import AuthMethod, Elicitation, PermissionRequest
from accord.model.session import Background, Choice, Command, Option, Plan
from accord.model.tool import Diff, ExitStatus, FileChange, ToolCall, ToolContent
from accord.schema import v2
from accord.schema.common.octets import octets
from accord.schema.shape import Other

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
    v2.TextContent: from_wire.text,
    v2.ImageContent: from_wire.image,
    v2.AudioContent: from_wire.audio,
    v2.ResourceLink: lambda block: from_wire.link(block, block.icons),
    v2.EmbeddedResource: lambda block: from_wire.resource(
        block, is_text=isinstance(block.resource, v2.TextResourceContents)
    ),
    Other: from_wire.unknown_content,
}


def content(block: Any) -> Content:
    """Read a content block."""
    return _CONTENT[type(block)](block)


def contents(blocks: list[Any]) -> list[Content]:
    """Read content blocks."""
    return [_CONTENT[type(block)](block) for block in blocks]


# Tool calls and terminals


def diff(item: v2.Diff) -> Diff:
    """Read a diff. Patches in unknown formats are ignored; the list of changes remains."""
    given_patch = item.patch.text if item.patch and item.patch.format == "git_patch" else None
    changes = [_change(change) for change in item.changes]
    return Diff(changes=changes, given_patch=given_patch, meta=or_none(item.meta))


def _change(change: Any) -> FileChange:
    if isinstance(change, Other):
        words = {key: value for key, value in change.data.items() if isinstance(value, str)}
        return FileChange(
            operation=change.tag,
            path=words.get("path", ""),
            old_path=words.get("oldPath"),
            file_type=words.get("fileType"),
            mime_type=words.get("mimeType"),
            meta=change.data.get("_meta"),
        )
    return FileChange(
        operation=change.__struct_config__.tag,
        path=change.path,
        old_path=change.old_path if isinstance(change, v2.DiffPathPairChange) else None,
        file_type=or_none(change.file_type),
        mime_type=or_none(change.mime_type),
        meta=or_none(change.meta),
    )


_TOOL_CONTENT: dict[type, Callable[[Any], ToolContent]] = {
    v2.Content: lambda item: content(item.content),
    v2.Diff: diff,
    v2.Terminal: from_wire.terminal_ref,
    Other: from_wire.unknown_content,
}


def tool_content(item: Any) -> ToolContent:
    """Read one item of a tool call's content."""
    return _TOOL_CONTENT[type(item)](item)


# The value of a field of a tool call after null has cleared it.
_CLEARED = {"title": "", "kind": "other", "status": "pending", "name": None, "raw_input": None, "raw_output": None}


def tool_call_fields(update: v2.ToolCallPatch) -> dict[str, Any]:
    """Return the fields of a tool call that an update sets. Null clears a field. Metadata is patched separately."""
    changes: dict[str, Any] = {}
    for name, cleared in _CLEARED.items():
        value = getattr(update, name)
        if value is not UNSET:
            changes[name] = cleared if value is None else value
    if update.content is not UNSET:
        changes["content"] = from_wire.read_list(update.content, tool_content)
    if update.locations is not UNSET:
        changes["locations"] = from_wire.read_list(update.locations, from_wire.location)
    if update.capabilities is not UNSET:
        changes["can_cancel"] = from_wire.can_cancel(update.capabilities)
    return changes


def terminal_fields(update: v2.TerminalUpdate) -> dict[str, Any]:
    """Return the fields of a terminal that an update sets. Null clears a field; output replaces all output so far."""
    changes = from_wire.three_state(update, "command", "cwd")
    if update.output is None:
        changes["chunks"] = []
    elif update.output is not UNSET:
        data = octets(update.output.data)
        if data is not None:  # invalid base64 counts as absent
            changes["chunks"] = [data]
    if update.exit_status is None:
        changes["exit"] = None
    elif update.exit_status is not UNSET:
        status = update.exit_status
        changes["exit"] = ExitStatus(
            code=or_none(status.exit_code), signal=or_none(status.signal), meta=or_none(status.meta)
        )
    if update.size is None:
        changes["columns"] = changes["rows"] = None
    elif update.size is not UNSET:
        changes["columns"], changes["rows"] = update.size.cols, update.size.rows
    if update.capabilities is not UNSET:
        changes["can_cancel"] = from_wire.can_cancel(update.capabilities)
    return changes


# Plans, options, commands

_PLANS: dict[type, Callable[[Any], Plan]] = {
    v2.PlanItems: from_wire.plan_items,
    v2.PlanFile: from_wire.plan_file,
    v2.PlanMarkdown: from_wire.plan_markdown,
    Other: from_wire.plan_unknown,
}


def plan(wire: Any) -> Plan:
    """Read a plan of any kind."""
    return _PLANS[type(wire)](wire)


def options(config_options: Any = UNSET) -> list[Option]:
    """Read the options. Those of unknown types can be shown, but not set."""
    return [_option(wire) for wire in or_none(config_options) or []]


def _option(wire: v2.SessionConfigSelect | v2.SessionConfigBoolean | Other) -> Option:
    if isinstance(wire, Other):
        data = wire.data
        return Option(
            id=data["configId"] if "configId" in data else data["id"],
            name=data["name"],
            value="",
            description=data.get("description"),
            category=data.get("category"),
            other=data,
            meta=data.get("_meta"),
        )
    choices: list[Choice] = []
    if isinstance(wire, v2.SessionConfigSelect):
        for item in wire.options:
            if isinstance(item, v2.SessionConfigSelectGroup):
                choices += [from_wire.choice(value, item.group_id, item.name) for value in item.options]
            else:
                choices.append(from_wire.choice(item))
    return from_wire.option(wire.config_id, wire, choices)


def commands(available: Any = UNSET) -> list[Command]:
    """Read slash commands. Those of unknown types are preserved unchanged."""
    return [_command(wire) for wire in or_none(available) or []]


def _command(wire: v2.Command | Other) -> Command:
    if isinstance(wire, Other):
        data = wire.data
        return Command(name=data["name"], description=data["description"], other=data, meta=data.get("_meta"))
    command = Command(name=wire.name, description=wire.description, meta=or_none(wire.meta))
    if isinstance(wire.input, v2.TextCommandInput):
        command.hint = wire.input.hint
    elif isinstance(wire.input, Other):
        command.input = wire.input.data
    return command


# State, subagents


def state(update: v2.StateUpdate) -> dict[str, Any]:
    """Read a state, as arguments of `Transcript.set_state`."""
    return {
        "state": update.state,
        "stop_reason": or_none(update.stop_reason),
        "error": from_wire.plain(update.error),
        "tokens": tokens(update.usage),
        "background": background(update.background),
    }


_BACKGROUND: dict[type, Callable[[Any], Background]] = {
    v2.BackgroundTerminal: lambda work: Background(kind="terminal", id=work.terminal_id, meta=or_none(work.meta)),
    v2.BackgroundToolCall: lambda work: Background(kind="tool_call", id=work.tool_call_id, meta=or_none(work.meta)),
    v2.BackgroundSubagent: lambda work: Background(kind="subagent", id=work.session_id, meta=or_none(work.meta)),
    Other: lambda work: Background(kind=work.tag, id="", meta=work.data.get("_meta")),
}


def background(wire: Any) -> list[Background] | None:
    """Read the background work; None if it wasn't reported."""
    if wire is UNSET or wire is None:
        return None
    return [_BACKGROUND[type(work)](work) for work in wire]


def subagent(update: v2.SubagentUpdate) -> dict[str, Any]:
    """Return the fields of a subagent that an update sets. Null clears a field. Metadata is patched separately."""
    changes = from_wire.subagent_fields(update)
    if update.state is not UNSET:
        changes["state"], changes["stop_reason"] = from_wire.subagent_state(update.state)
    return changes


# Requests and capabilities of the agent


def permission(request: v2.RequestPermissionRequest, tool_calls: Mapping[str, ToolCall]) -> PermissionRequest:
    """Read a permission request. Its tool call is the known one, with the changes of the request."""
    result = PermissionRequest(
        session_id=request.session_id,
        title=request.title,
        options=from_wire.permission_options(request.options),
        description=or_none(request.description),
        meta=or_none(request.meta),
    )
    match request.subject:
        case v2.ToolCallPermissionSubject(tool_call=update):
            id = update.tool_call_id
            result.tool_call = copy(tool_calls[id]) if id in tool_calls else ToolCall(id=id)
            patch(result.tool_call, tool_call_fields(update), update.meta)
        case v2.CommandPermissionSubject() as subject:
            result.command, result.cwd = subject.command, subject.cwd
            result.terminal_id = or_none(subject.terminal_id)
            if isinstance(subject.tool_call_id, str) and subject.tool_call_id in tool_calls:
                result.tool_call = copy(tool_calls[subject.tool_call_id])
        case Other(_, data):
            result.other = data
    return result


_ELICITATIONS: dict[type, Callable[[Any], Elicitation]] = {
    v2.ElicitationFormMode: from_wire.form,
    v2.ElicitationUrlMode: from_wire.page,
    Other: from_wire.unknown_elicitation,
}


def elicitation(request: Any) -> Elicitation:
    """Read a form or URL request."""
    return _ELICITATIONS[type(request)](request)


def auth_method(wire: Any) -> AuthMethod:
    """Read a login method of any kind."""
    if isinstance(wire, Other):
        data = wire.data
        return AuthMethod(
            id=data["methodId"] if "methodId" in data else data["id"],
            name=data["name"],
            description=data.get("description"),
            kind=wire.tag,
            meta=data.get("_meta"),
        )
    method = AuthMethod(
        id=wire.method_id, name=wire.name, description=or_none(wire.description), meta=or_none(wire.meta)
    )
    if isinstance(wire, v2.AuthMethodTerminal):
        method.kind, method.args = "terminal", wire.args
        method.env = {variable.name: variable.value for variable in wire.env}
    return method
