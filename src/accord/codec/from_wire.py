"""Read wire types that are the same in both versions into the neutral model.

The functions take types of either version whose fields have the same names. `from_v1` and `from_v2` assign functions to
types, and read the types of one version."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from accord.model.account import Account, AuthStatus, Provider, ProviderConfig
from accord.model.content import (
    ICON_SCHEMES,
    Annotations,
    Audio,
    Content,
    Icon,
    Image,
    Resource,
    ResourceContents,
    ResourceLink,
    TextContent,
    UnknownContent,
)
from accord.model.requests import Elicitation, Implementation, PermissionOption
from accord.model.session import (
    Choice,
    Cost,
    Notice,
    Option,
    Plan,
    PlanEntry,
    SessionInfo,
    StopReason,
    Tokens,
    Usage,
)
from accord.model.tool import Location, TerminalRef
from accord.schema.constructor import unchecked
from accord.schema.shape import Other


def or_none(value: Any) -> Any:
    """Return the value, or None if it is absent."""
    return None if value is UNSET else value


def plain(value: Any) -> Any:
    """Convert a wire type to plain data, with the keys of the wire; None if absent."""
    return None if value is UNSET or value is None else msgspec.to_builtins(value, enc_hook=_whole)


def _whole(value: Any) -> Any:
    if isinstance(value, Other):
        return value.data
    raise TypeError(f"can't encode {type(value).__name__} in a message")


# Content


def _annotations(wire: Any) -> Annotations | None:
    if wire is UNSET or wire is None:
        return None
    return Annotations(
        audience=or_none(wire.audience),
        priority=or_none(wire.priority),
        last_modified=or_none(wire.last_modified),
        meta=or_none(wire.meta),
    )


def icon(wire: Any) -> Icon:
    return Icon(
        src=wire.src,
        mime_type=or_none(wire.mime_type),
        sizes=or_none(wire.sizes),
        theme=or_none(wire.theme),
        meta=or_none(wire.meta),
    )


def text(block: Any) -> Content:
    return TextContent(block.text, _annotations(block.annotations), or_none(block.meta))


def image(block: Any) -> Content:
    return Image(block.data, block.mime_type, or_none(block.uri), _annotations(block.annotations), or_none(block.meta))


def audio(block: Any) -> Content:
    return Audio(block.data, block.mime_type, _annotations(block.annotations), or_none(block.meta))


def link(block: Any, icons: Any = UNSET) -> Content:
    """Read a resource link. Only version 2 has icons; those from unsafe addresses are dropped (V2-CONTENT-05)."""
    return ResourceLink(
        uri=block.uri,
        name=block.name,
        title=or_none(block.title),
        description=or_none(block.description),
        mime_type=or_none(block.mime_type),
        size=or_none(block.size),
        icons=[icon(each) for each in icons if each.src.startswith(ICON_SCHEMES)] or None if icons else None,
        annotations=_annotations(block.annotations),
        meta=or_none(block.meta),
    )


def resource(block: Any, *, is_text: bool) -> Content:
    contents = block.resource
    return Resource(
        resource=ResourceContents(
            uri=contents.uri,
            text=contents.text if is_text else None,
            blob=None if is_text else contents.blob,
            mime_type=or_none(contents.mime_type),
            meta=or_none(contents.meta),
        ),
        annotations=_annotations(block.annotations),
        meta=or_none(block.meta),
    )


def unknown_content(other: Other) -> Content:
    return UnknownContent(type=other.tag, data=other.data)


def terminal_ref(item: Any) -> TerminalRef:
    return TerminalRef(terminal_id=item.terminal_id, meta=or_none(item.meta))


def location(place: Any) -> Location:
    line = or_none(place.line) or None  # lines count from 1; 0 means no line
    found: Location = unchecked(Location, path=place.path, line=line, meta=or_none(place.meta))
    return found


# Plans, options, usage


def entries(steps: list[Any]) -> list[PlanEntry]:
    return [
        PlanEntry(content=step.content, priority=step.priority, status=step.status, meta=or_none(step.meta))
        for step in steps
    ]


def plan_items(plan: Any) -> Plan:
    return Plan(id=plan.plan_id, entries=entries(plan.entries), meta=or_none(plan.meta))


def plan_file(plan: Any) -> Plan:
    return Plan(id=plan.plan_id, uri=plan.uri, meta=or_none(plan.meta))


def plan_markdown(plan: Any) -> Plan:
    return Plan(id=plan.plan_id, markdown=plan.content, meta=or_none(plan.meta))


def plan_unknown(plan: Other) -> Plan:
    return Plan(id=str(plan.data.get("planId", plan.data.get("id", ""))), other=plan.data)


def option(id: str, wire: Any, choices: list[Choice]) -> Option:
    return Option(
        id=id,
        name=wire.name,
        value=wire.current_value,
        choices=choices,
        description=or_none(wire.description),
        category=or_none(wire.category),
        meta=or_none(wire.meta),
    )


def choice(value: Any, group: str | None = None, group_name: str | None = None) -> Choice:
    return Choice(
        value=value.value,
        name=value.name,
        description=or_none(value.description),
        group=group,
        group_name=group_name,
        meta=or_none(value.meta),
    )


def cost(wire: Any) -> Cost | None:
    """Read a cost; None if absent."""
    if wire is UNSET or wire is None:
        return None
    return Cost(amount=wire.amount, currency=wire.currency, meta=or_none(wire.meta))


def usage(update: Any, cost: Cost | None) -> Usage:
    return Usage(used=update.used, size=update.size, cost=cost)


def tokens(wire: Any) -> Tokens | None:
    """Read token counts; None if absent."""
    if wire is UNSET or wire is None:
        return None
    return Tokens(
        total=wire.total_tokens,
        input=wire.input_tokens,
        output=wire.output_tokens,
        thought=or_none(wire.thought_tokens),
        cached_read=or_none(wire.cached_read_tokens),
        cached_write=or_none(wire.cached_write_tokens),
        meta=or_none(wire.meta),
    )


def notice(update: Any) -> Notice:
    return Notice(severity=update.severity, title=update.title, description=or_none(update.description))


def session_info(info: Any) -> SessionInfo:
    return SessionInfo(
        id=info.session_id,
        cwd=info.cwd,
        title=or_none(info.title),
        updated_at=or_none(info.updated_at),
        additional_directories=info.additional_directories,
        archived=or_none(info.archived),
        meta=or_none(info.meta),
    )


# Accounts and providers

_AUTH_STATES = frozenset({"authenticated", "unauthenticated", "not_required", "unknown"})


def auth_status(wire: Any) -> AuthStatus:
    """Read the state of a login. An unknown state counts as `unknown` (V1-AUTH-28)."""
    return AuthStatus(
        state=wire.state if wire.state in _AUTH_STATES else "unknown",
        accounts=[
            Account(
                label=account.label,
                active=account.active is True,
                name=or_none(account.name),
                email=or_none(account.email),
                organization=or_none(account.organization),
                meta=or_none(account.meta),
            )
            for account in wire.accounts
        ],
        meta=or_none(wire.meta),
    )


def provider(wire: Any) -> Provider:
    """Read a model provider."""
    current = or_none(wire.current)
    return Provider(
        id=wire.provider_id,
        supported=list(wire.supported),
        required=wire.required,
        current=None
        if current is None
        else ProviderConfig(api_type=current.api_type, base_url=current.base_url, meta=or_none(current.meta)),
        meta=or_none(wire.meta),
    )


# Subagents


def subagent_fields(update: Any) -> dict[str, Any]:
    """Return the fields that an update sets, except the state. Null clears a field or all capabilities."""
    changes = three_state(update, "title", "description", "cwd", "additional_directories")
    if update.capabilities is not UNSET:
        changes["can_cancel"] = can_cancel(update.capabilities)
    return changes


def subagent_state(wire: Any) -> tuple[str | None, StopReason | None]:
    """Read the state and stop reason of a subagent; null clears both. Only `idle` has a stop reason."""
    if wire is None:
        return None, None
    tag = wire.tag if isinstance(wire, Other) else wire.__struct_config__.tag
    return str(tag), or_none(wire.stop_reason) if tag == "idle" and not isinstance(wire, Other) else None


def session_message_names(update: Any) -> dict[str, Any]:
    return three_state(update, "sender_session_id", "recipient_session_id", "sender_message_id", "recipient_message_id")


def three_state(update: Any, *names: str) -> dict[str, Any]:
    """Return the named fields that are present, including null ones."""
    values = ((name, getattr(update, name)) for name in names)
    return {name: value for name, value in values if value is not UNSET}


def can_cancel(capabilities: Any) -> bool:
    """Return whether the capabilities of a tool call, terminal or subagent include cancelling it."""
    return bool(capabilities and or_none(capabilities.cancel))


def implementation(wire: Any) -> Implementation | None:
    """Read the name and version of a program; None if absent."""
    if not wire:
        return None
    return Implementation(
        name=wire.name, version=wire.version, title=or_none(wire.title) or None, meta=or_none(wire.meta)
    )


# Requests of the agent


def permission_options(options: list[Any]) -> list[PermissionOption]:
    return [
        PermissionOption(id=option.option_id, name=option.name, kind=option.kind, meta=or_none(option.meta))
        for option in options
    ]


def form(request: Any) -> Elicitation:
    return Elicitation(mode="form", schema=plain(request.requested_schema), **_question(request))


def page(request: Any) -> Elicitation:
    return Elicitation(mode="url", url=request.url, id=request.elicitation_id, **_question(request))


def unknown_elicitation(request: Other) -> Elicitation:
    """Read a request of an unknown kind: the fields that every kind has, and everything in `other`."""
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
        "session_id": or_none(request.session_id),
        "tool_call_id": or_none(request.tool_call_id),
        "request_id": or_none(request.request_id),
        "meta": or_none(request.meta),
    }


def read_list(value: Any, read: Any) -> Any:
    """Read a patch of a list: `UNSET` stays `UNSET`, null becomes an empty list."""
    if isinstance(value, UnsetType):
        return UNSET
    return [] if value is None else [read(item) for item in value]
