"""Read wire types of version 1 into the neutral model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from msgspec import UNSET, structs

from accord.codec import from_wire
from accord.codec.from_wire import cost, notice, or_none, session_info, tokens, usage
from accord.model.content import Content
from accord.model.record import patch
from accord.model.requests import AuthMethod, Elicitation, PermissionRequest
from accord.model.session import Choice, Command, Option, Plan
from accord.model.tool import Diff, ExitStatus, FileChange, ToolCall, ToolContent
from accord.schema import v1
from accord.schema.constructor import unchecked
from accord.schema.shape import Other

__all__ = [
    "auth_method",
    "commands",
    "content",
    "contents",
    "cost",
    "elicitation",
    "notice",
    "options",
    "permission",
    "plan",
    "session_info",
    "subagent",
    "terminal_exit",
    "terminal_info",
    "tokens",
    "tool_call_fields",
    "tool_content",
    "usage",
    "with_config",
    "with_mode",
]

_CONTENT: dict[type, Callable[[Any], Content]] = {
    v1.TextContent: from_wire.text,
    v1.ImageContent: from_wire.image,
    v1.AudioContent: from_wire.audio,
    v1.ResourceLink: from_wire.link,
    v1.EmbeddedResource: lambda block: from_wire.resource(
        block, is_text=isinstance(block.resource, v1.TextResourceContents)
    ),
    Other: from_wire.unknown_content,
}


def content(block: Any) -> Content:
    """Read a content block."""
    return _CONTENT[type(block)](block)


def contents(blocks: list[Any]) -> list[Content]:
    """Read content blocks."""
    return [_CONTENT[type(block)](block) for block in blocks]


# Tool calls


def diff(item: v1.Diff) -> Diff:
    """Read a diff. Without an old text, the file is new."""
    old = or_none(item.old_text)
    operation = "add" if old is None else "modify"
    change = unchecked(FileChange, operation=operation, path=item.path, old_text=old, new_text=item.new_text)
    found: Diff = unchecked(Diff, changes=[change], meta=or_none(item.meta))
    return found


_TOOL_CONTENT: dict[type, Callable[[Any], ToolContent]] = {
    v1.Content: lambda item: content(item.content),
    v1.Diff: diff,
    v1.Terminal: from_wire.terminal_ref,
    Other: from_wire.unknown_content,
}


def tool_content(item: Any) -> ToolContent:
    """Read one item of a tool call's content."""
    return _TOOL_CONTENT[type(item)](item)


_NEW_CALL = {"title": "", "kind": "other", "status": "pending", "content": [], "locations": []}


def tool_call_fields(update: v1.ToolCall | v1.ToolCallPatch) -> dict[str, Any]:
    """Return the fields of a tool call that an update sets. Null doesn't change a field.

    An announcement doesn't show which fields it omitted. Since some agents announce a call twice, or update it before
    announcing it, default values don't change anything either; a new call has them anyway."""
    # One `if` per field: a loop over their names takes twice as long, and there are several updates per call.
    changes: dict[str, Any] = {}
    if update.title is not UNSET and update.title is not None:
        changes["title"] = update.title
    if update.name is not UNSET and update.name is not None:
        changes["name"] = update.name
    if update.kind is not UNSET and update.kind is not None:
        changes["kind"] = update.kind
    if update.status is not UNSET and update.status is not None:
        changes["status"] = update.status
    if update.content is not UNSET and update.content is not None:
        changes["content"] = [tool_content(item) for item in update.content]
    if update.locations is not UNSET and update.locations is not None:
        changes["locations"] = [from_wire.location(place) for place in update.locations]
    if update.raw_input is not UNSET and update.raw_input is not None:
        changes["raw_input"] = update.raw_input
    if update.raw_output is not UNSET and update.raw_output is not None:
        changes["raw_output"] = update.raw_output
    if update.meta is not UNSET and update.meta is not None:
        changes["meta"] = update.meta
    if type(update) is v1.ToolCall:
        for name, default in _NEW_CALL.items():
            if changes.get(name) == default:
                del changes[name]
    return changes


def terminal_info(terminal_meta: Mapping[str, Any]) -> dict[str, Any]:
    """Read the metadata of a tool call about a terminal that the agent runs."""
    return {name: terminal_meta[name] for name in ("command", "cwd") if isinstance(terminal_meta.get(name), str)}


def terminal_exit(terminal_meta: Mapping[str, Any]) -> ExitStatus:
    """Read how the command of such a terminal exited."""
    code, signal = terminal_meta.get("exit_code"), terminal_meta.get("signal")
    is_code = isinstance(code, int) and not isinstance(code, bool)
    return ExitStatus(code=code if is_code else None, signal=signal if isinstance(signal, str) else None)


# Plans, options, commands

_PLANS: dict[type, Callable[[Any], Plan]] = {
    v1.Plan: lambda update: Plan(entries=from_wire.entries(update.entries)),
    v1.PlanItems: from_wire.plan_items,
    v1.PlanFile: from_wire.plan_file,
    v1.PlanMarkdown: from_wire.plan_markdown,
    Other: from_wire.plan_unknown,
}


def plan(wire: Any) -> Plan:
    """Read a plan: the only one, called `main`, or one of several by id."""
    return _PLANS[type(wire)](wire)


def options(config_options: Any = UNSET, modes: Any = UNSET, models: Any = UNSET) -> list[Option]:
    """Return all settings as one list: config options, then modes and models that no config option covers."""
    found = [_option(wire) for wire in or_none(config_options) or []]
    if modes and not _covered(found, "mode"):
        found.append(_modes(modes))
    if models and not _covered(found, "model"):
        found.append(_models(models))
    return found


def with_config(known: list[Option], config_options: list[Any]) -> list[Option]:
    """Replace the config options. Modes and models stay unless a config option covers them."""
    found = [_option(wire) for wire in config_options]
    return found + [option for option in known if option.legacy and not _covered(found, option.category or option.id)]


def with_mode(known: list[Option], mode_id: str) -> list[Option]:
    """Return the options with another mode."""
    modes = [option for option in known if option.category == "mode" or option.id == "mode"]
    if not modes:  # the list of modes hasn't arrived yet
        return [*known, Option(id="mode", name="Mode", value=mode_id, category="mode", legacy="modes")]
    found = copy(modes[0])
    # A config option may have other values than the modes.
    if found.legacy or any(choice.value == mode_id for choice in found.choices):
        found.value = mode_id
    return [found if option is modes[0] else option for option in known]


def _covered(options: list[Option], category: str) -> bool:
    return any(option.category == category or option.id == category for option in options)


def _option(wire: v1.SessionConfigSelect | v1.SessionConfigBoolean) -> Option:
    choices: list[Choice] = []
    if type(wire) is v1.SessionConfigSelect:
        for item in wire.options:
            if type(item) is v1.SessionConfigSelectGroup:
                choices += [from_wire.choice(value, item.group, item.name) for value in item.options]
            else:
                choices.append(from_wire.choice(item))
    return from_wire.option(wire.id, wire, choices)


def _modes(state: v1.SessionModeState) -> Option:
    choices = [
        Choice(value=mode.id, name=mode.name, description=or_none(mode.description), meta=or_none(mode.meta))
        for mode in state.available_modes
    ]
    return Option(id="mode", name="Mode", value=state.current_mode_id, choices=choices, category="mode", legacy="modes")


def _models(state: v1.SessionModelState) -> Option:
    choices = [
        Choice(value=model.model_id, name=model.name, description=or_none(model.description), meta=or_none(model.meta))
        for model in state.available_models
    ]
    return Option(
        id="model", name="Model", value=state.current_model_id, choices=choices, category="model", legacy="models"
    )


def commands(available: list[v1.AvailableCommand]) -> list[Command]:
    """Read slash commands."""
    return [
        Command(
            name=wire.name,
            description=wire.description,
            hint=wire.input.hint if wire.input else None,
            meta=or_none(wire.meta),
        )
        for wire in available
    ]


# Subagents


def subagent(update: v1.SubagentUpdate) -> dict[str, Any]:
    """Return the fields of a subagent that an update sets. Null clears a field."""
    changes = from_wire.subagent_fields(update)
    if update.meta is not UNSET:
        changes["meta"] = update.meta
    if update.state is not UNSET:
        changes["state"], changes["stop_reason"] = from_wire.subagent_state(update.state)
    return changes


# Requests and capabilities of the agent


def permission(request: v1.RequestPermissionRequest, tool_calls: Mapping[str, ToolCall]) -> PermissionRequest:
    """Read a permission request. Its tool call is the known one, with the changes of the request."""
    id = request.tool_call.tool_call_id
    call = structs.replace(tool_calls[id]) if id in tool_calls else ToolCall(id=id)
    patch(call, tool_call_fields(request.tool_call), UNSET)
    return PermissionRequest(
        session_id=request.session_id,
        title=call.title or "The agent asks for permission",
        options=from_wire.permission_options(request.options),
        tool_call=call,
        meta=or_none(request.meta),
    )


_ELICITATIONS: dict[type, Callable[[Any], Elicitation]] = {
    v1.ElicitationFormMode: from_wire.form,
    v1.ElicitationUrlMode: from_wire.page,
    Other: from_wire.unknown_elicitation,
}


def elicitation(request: Any) -> Elicitation:
    """Read a form or URL request."""
    return _ELICITATIONS[type(request)](request)


def auth_method(wire: v1.AuthMethodAgent | v1.AuthMethodTerminal) -> AuthMethod:
    """Read a login method."""
    method = AuthMethod(id=wire.id, name=wire.name, description=or_none(wire.description), meta=or_none(wire.meta))
    if isinstance(wire, v1.AuthMethodTerminal):
        method.kind, method.args, method.env = "terminal", wire.args, wire.env
    if not method.args:
        _read_terminal_auth(method)
    return method


def _read_terminal_auth(method: AuthMethod) -> None:
    """Read a terminal login from metadata, a convention from before version 1 had terminal logins.

    Copilot, opencode and others offer no other kind. They send no `type` and refuse `authenticate` for these."""
    terminal_meta = (method.meta or {}).get("terminal-auth")
    command = terminal_meta.get("command") if isinstance(terminal_meta, dict) else None
    if not isinstance(terminal_meta, dict) or not isinstance(command, str) or not command:
        return
    args, env = terminal_meta.get("args"), terminal_meta.get("env")
    method.kind, method.command = "terminal", command
    method.args = [str(each) for each in args] if isinstance(args, list) else []
    method.env = {name: str(value) for name, value in env.items()} if isinstance(env, dict) else {}
