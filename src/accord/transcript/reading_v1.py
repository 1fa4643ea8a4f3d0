"""What version 1 says, as neutral nouns. Pure functions, for the fold and for the client's dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from msgspec import UNSET

from accord.model.content import Content
from accord.model.requests import AuthMethod, Elicitation, PermissionRequest
from accord.model.session import Choice, Command, Option, Plan, StopReason
from accord.model.tool import Diff, ToolCall, ToolContent
from accord.schema import v1
from accord.schema.shape import Other
from accord.transcript import reading
from accord.transcript.fields import patch
from accord.transcript.reading import cost, given, notice, session_info, tokens, usage

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
    "tokens",
    "tool_call_fields",
    "tool_content",
    "usage",
    "with_config",
    "with_mode",
]

_CONTENT: dict[type, Callable[[Any], Content]] = {
    v1.TextContent: reading.text,
    v1.ImageContent: reading.image,
    v1.AudioContent: reading.audio,
    v1.ResourceLink: reading.link,
    v1.EmbeddedResource: reading.resource,
    Other: reading.unknown_content,
}


def content(block: Any) -> Content:
    """A content block."""
    return _CONTENT[type(block)](block)


def contents(blocks: list[Any]) -> list[Content]:
    """Several content blocks."""
    return [_CONTENT[type(block)](block) for block in blocks]


# Tool calls


def diff(item: v1.Diff) -> Diff:
    """A change of one file, with its texts; a file without a text before is new."""
    return Diff.of(item.path, given(item.old_text), item.new_text)


_TOOL_CONTENT: dict[type, Callable[[Any], ToolContent]] = {
    v1.Content: lambda item: content(item.content),
    v1.Diff: diff,
    v1.Terminal: reading.terminal_ref,
    Other: reading.unknown_content,
}


def tool_content(item: Any) -> ToolContent:
    """One piece of what a tool call shows."""
    return _TOOL_CONTENT[type(item)](item)


_TOOL_FIELDS = ("title", "name", "kind", "status", "content", "locations", "raw_input", "raw_output", "meta")
_TOOL_LISTS: dict[str, Callable[[Any], Any]] = {"content": tool_content, "locations": reading.location}
_NEW_CALL = {"title": "", "kind": "other", "status": "pending", "content": [], "locations": []}


def tool_call_fields(update: v1.ToolCall | v1.ToolCallPatch) -> dict[str, Any]:
    """What an update says about a tool call, field by field. Null says nothing, like leaving a field out.

    An announcement does not show which defaults it left out. Agents announce a call twice, or update it before; so its
    defaults say nothing either, and a call that is new has them anyway."""
    silent = _NEW_CALL if isinstance(update, v1.ToolCall) else {}
    changes: dict[str, Any] = {}
    for name in _TOOL_FIELDS:
        value = getattr(update, name)
        if value is UNSET or value is None or (name in silent and value == silent[name]):
            continue
        read = _TOOL_LISTS.get(name)
        changes[name] = value if read is None else [read(item) for item in value]
    return changes


# Plans, options, commands

_PLANS: dict[type, Callable[[Any], Plan]] = {
    v1.Plan: lambda update: Plan(entries=reading.entries(update.entries)),
    v1.PlanItems: reading.plan_items,
    v1.PlanFile: reading.plan_file,
    v1.PlanMarkdown: reading.plan_markdown,
    Other: reading.plan_unknown,
}


def plan(wire: Any) -> Plan:
    """A plan: the only one, called `main`, or one of several by its id."""
    return _PLANS[type(wire)](wire)


def options(config_options: Any = UNSET, modes: Any = UNSET, models: Any = UNSET) -> list[Option]:
    """Everything a user may set, as one list: config options, then modes and models where no option stands for them."""
    found = [_option(wire) for wire in given(config_options) or []]
    if modes and not _covered(found, "mode"):
        found.append(_modes(modes))
    if models and not _covered(found, "model"):
        found.append(_models(models))
    return found


def with_config(known: list[Option], config_options: list[Any]) -> list[Option]:
    """The options after config options were told anew. Modes and models stay where no option stands for them."""
    found = [_option(wire) for wire in config_options]
    return found + [option for option in known if option.legacy and not _covered(found, option.category or option.id)]


def with_mode(known: list[Option], mode_id: str) -> list[Option]:
    """The options after the session went into another mode."""
    modes = [option for option in known if option.category == "mode" or option.id == "mode"]
    if not modes:  # told before the list of modes was
        return [*known, Option(id="mode", name="Mode", value=mode_id, category="mode", legacy="modes")]
    found = copy(modes[0])
    # A config option may know other values than the modes do.
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
                choices += [reading.choice(value, item.group, item.name) for value in item.options]
            else:
                choices.append(reading.choice(item))
    return reading.option(wire.id, wire, choices)


def _modes(state: v1.SessionModeState) -> Option:
    choices = [
        Choice(value=mode.id, name=mode.name, description=given(mode.description)) for mode in state.available_modes
    ]
    return Option(id="mode", name="Mode", value=state.current_mode_id, choices=choices, category="mode", legacy="modes")


def _models(state: v1.SessionModelState) -> Option:
    choices = [
        Choice(value=model.model_id, name=model.name, description=given(model.description))
        for model in state.available_models
    ]
    return Option(
        id="model", name="Model", value=state.current_model_id, choices=choices, category="model", legacy="models"
    )


def commands(available: list[v1.AvailableCommand]) -> list[Command]:
    """Slash commands."""
    return [
        Command(name=wire.name, description=wire.description, hint=wire.input.hint if wire.input else None)
        for wire in available
    ]


# Subagents


def subagent(update: v1.SubagentUpdate) -> dict[str, Any]:
    """What an update says about a subagent, field by field. Null clears."""
    changes = reading.subagent_fields(update)
    if update.meta is not UNSET:
        changes["meta"] = update.meta
    if update.state is not UNSET:
        changes["state"], changes["stop_reason"] = _state(update.state)
    return changes


def _state(wire: Any) -> tuple[str | None, StopReason | None]:
    if wire is None:
        return None, None
    tag = wire.tag if isinstance(wire, Other) else wire.__struct_config__.tag
    return str(tag), given(wire.stop_reason) if isinstance(wire, v1.IdleStateUpdate) else None


# Requests of the agent, and what it offers


def permission(request: v1.RequestPermissionRequest, tool_calls: Mapping[str, ToolCall]) -> PermissionRequest:
    """A permission request; its tool call as known so far, with what the request adds."""
    id = request.tool_call.tool_call_id
    call = copy(tool_calls[id]) if id in tool_calls else ToolCall(id=id)
    patch(call, tool_call_fields(request.tool_call), UNSET)
    return PermissionRequest(
        session_id=request.session_id,
        title=call.title or "The agent asks for permission",
        options=reading.permission_options(request.options),
        tool_call=call,
        meta=given(request.meta),
    )


_ELICITATIONS: dict[type, Callable[[Any], Elicitation]] = {
    v1.ElicitationFormMode: reading.form,
    v1.ElicitationUrlMode: reading.page,
    Other: reading.unknown_elicitation,
}


def elicitation(request: Any) -> Elicitation:
    """A question to the user."""
    return _ELICITATIONS[type(request)](request)


def auth_method(wire: v1.AuthMethodAgent | v1.AuthMethodTerminal) -> AuthMethod:
    """A way to log in."""
    method = AuthMethod(id=wire.id, name=wire.name, description=given(wire.description), meta=given(wire.meta))
    if isinstance(wire, v1.AuthMethodTerminal):
        method.kind, method.args, method.env = "terminal", wire.args, wire.env
    return method
