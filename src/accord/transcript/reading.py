"""What both versions spell alike, read as neutral nouns.

The functions take wire types of either version: those whose fields have the same names. `reading_v1` and `reading_v2`
say which function reads which type, and read themselves what only one version says so."""

from __future__ import annotations

from binascii import a2b_base64
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from accord.model.content import Audio, Content, Image, Link, Resource, ResourceContents, TextContent, UnknownContent
from accord.model.requests import Elicitation, PermissionOption
from accord.model.session import Choice, Cost, Notice, Option, Plan, PlanEntry, SessionInfo, Tokens, Usage
from accord.model.tool import Location, TerminalRef
from accord.schema.shape import Other


def given(value: Any) -> Any:
    """The value, or None where nothing was given."""
    return None if value is UNSET else value


def plain(value: Any) -> Any:
    """A wire type as plain data, with the keys of the wire; None where nothing was given."""
    return None if value is UNSET or value is None else msgspec.to_builtins(value, enc_hook=_whole)


def _whole(value: Any) -> Any:
    if isinstance(value, Other):
        return value.data
    raise TypeError(f"{type(value).__name__} has no place in a message")


# Content


def text(block: Any) -> Content:
    return TextContent(block.text, plain(block.annotations), given(block.meta))


def image(block: Any) -> Content:
    return Image(block.data, block.mime_type, given(block.uri), plain(block.annotations), given(block.meta))


def audio(block: Any) -> Content:
    return Audio(block.data, block.mime_type, plain(block.annotations), given(block.meta))


def link(block: Any) -> Content:
    return Link(
        uri=block.uri,
        name=block.name,
        title=given(block.title),
        description=given(block.description),
        mime_type=given(block.mime_type),
        size=given(block.size),
        annotations=plain(block.annotations),
        meta=given(block.meta),
    )


def resource(block: Any) -> Content:
    contents = block.resource
    return Resource(
        resource=ResourceContents(
            uri=contents.uri,
            text=getattr(contents, "text", None),
            blob=getattr(contents, "blob", None),
            mime_type=given(contents.mime_type),
            meta=given(contents.meta),
        ),
        annotations=plain(block.annotations),
        meta=given(block.meta),
    )


def unknown_content(other: Other) -> Content:
    return UnknownContent(type=other.tag, data=other.data)


def terminal_ref(item: Any) -> TerminalRef:
    return TerminalRef(terminal_id=item.terminal_id)


def location(place: Any) -> Location:
    return Location(path=place.path, line=given(place.line))


# Plans, options, usage


def entries(steps: list[Any]) -> list[PlanEntry]:
    return [PlanEntry(content=step.content, priority=step.priority, status=step.status) for step in steps]


def plan_items(plan: Any) -> Plan:
    return Plan(id=plan.plan_id, entries=entries(plan.entries))


def plan_file(plan: Any) -> Plan:
    return Plan(id=plan.plan_id, uri=plan.uri)


def plan_markdown(plan: Any) -> Plan:
    return Plan(id=plan.plan_id, markdown=plan.content)


def plan_unknown(plan: Other) -> Plan:
    return Plan(id=str(plan.data.get("planId", plan.data.get("id", ""))), other=plan.data)


def option(id: str, wire: Any, choices: list[Choice]) -> Option:
    return Option(
        id=id,
        name=wire.name,
        value=wire.current_value,
        choices=choices,
        description=given(wire.description),
        category=given(wire.category),
    )


def choice(value: Any, group: str | None = None, group_name: str | None = None) -> Choice:
    return Choice(
        value=value.value, name=value.name, description=given(value.description), group=group, group_name=group_name
    )


def cost(wire: Any) -> Cost | None:
    """An amount; None where none was given."""
    return None if wire is UNSET or wire is None else Cost(amount=wire.amount, currency=wire.currency)


def usage(update: Any, cost: Cost | None) -> Usage:
    return Usage(used=update.used, size=update.size, cost=cost)


def tokens(wire: Any) -> Tokens | None:
    """The tokens that some work took; None where they were not counted."""
    if wire is UNSET or wire is None:
        return None
    return Tokens(
        total=wire.total_tokens,
        input=wire.input_tokens,
        output=wire.output_tokens,
        thought=given(wire.thought_tokens),
        cached_read=given(wire.cached_read_tokens),
        cached_write=given(wire.cached_write_tokens),
    )


def notice(update: Any) -> Notice:
    return Notice(severity=update.severity, title=update.title, description=given(update.description))


def session_info(info: Any) -> SessionInfo:
    return SessionInfo(
        id=info.session_id,
        cwd=info.cwd,
        title=given(info.title),
        updated_at=given(info.updated_at),
        additional_directories=info.additional_directories,
        archived=given(info.archived),
        meta=given(info.meta),
    )


# Subagents


def subagent_fields(update: Any) -> dict[str, Any]:
    """What is new about a subagent, but for its state: null clears, and clears all that could be done with it."""
    changes = three_state(update, "title", "description", "cwd", "additional_directories")
    if update.capabilities is not UNSET:
        changes["can_cancel"] = can_cancel(update.capabilities)
    return changes


def session_message_names(update: Any) -> dict[str, Any]:
    return three_state(update, "sender_session_id", "recipient_session_id", "sender_message_id", "recipient_message_id")


def three_state(update: Any, *names: str) -> dict[str, Any]:
    """The named fields that were given, null included."""
    values = ((name, getattr(update, name)) for name in names)
    return {name: value for name, value in values if value is not UNSET}


def can_cancel(capabilities: Any) -> bool:
    return isinstance(capabilities, msgspec.Struct) and bool(given(getattr(capabilities, "cancel", None)))


# Requests of the agent


def permission_options(options: list[Any]) -> list[PermissionOption]:
    return [PermissionOption(id=option.option_id, name=option.name, kind=option.kind) for option in options]


def form(request: Any) -> Elicitation:
    return Elicitation(mode="form", schema=plain(request.requested_schema), **_question(request))


def page(request: Any) -> Elicitation:
    return Elicitation(mode="url", url=request.url, id=request.elicitation_id, **_question(request))


def unknown_elicitation(request: Other) -> Elicitation:
    """A question of a kind that is not known here. What every kind has is read, the rest is in `other`."""
    data = request.data
    return Elicitation(
        message=data.get("message", ""),
        mode=request.tag,
        session_id=data.get("sessionId"),
        tool_call_id=data.get("toolCallId"),
        request_id=data.get("requestId"),
        other=data,
        meta=data.get("_meta"),
    )


def _question(request: Any) -> dict[str, Any]:
    return {
        "message": request.message,
        "session_id": given(request.session_id),
        "tool_call_id": given(request.tool_call_id),
        "request_id": given(request.request_id),
        "meta": given(request.meta),
    }


# Bytes


def octets(data: str) -> bytes | None:
    """The bytes of a base64 text, each text for itself. None for what is no base64."""
    try:
        return a2b_base64(data + "=" * (-len(data) % 4))
    except ValueError:
        return None


def replaced(value: Any, read: Any) -> Any:
    """A patch of a list: `UNSET` stays, null is an empty list, items are read one by one."""
    if isinstance(value, UnsetType):
        return UNSET
    return [] if value is None else [read(item) for item in value]
