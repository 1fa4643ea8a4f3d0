"""Neutral statements in the words of version 1. Optional fields are left out, never sent as null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, UnsetType

from accord.agent.offers import ClientOffers
from accord.agent.reading import block
from accord.model import statement as say
from accord.model.requests import PermissionRequest
from accord.model.session import Command, Option, Plan
from accord.model.tool import FINAL, Diff, Location, TerminalRef, ToolContent
from accord.schema import v1
from accord.schema.shape import Other

_KINDS = frozenset({"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"})
_STATUSES = {"pending": "pending", "in_progress": "in_progress", "completed": "completed", "failed": "failed"}


def updates(statement: say.Statement, client: ClientOffers, terminals: dict[str, list[bytes]]) -> list[Any]:
    """A statement as updates. What the client did not ask for, or version 1 cannot say, gives none."""
    found = [*_updates(statement, client, terminals)]
    meta = getattr(statement, "meta", None)
    if meta:
        for update in found:
            update.meta = meta
    return found


def _updates(statement: say.Statement, client: ClientOffers, terminals: dict[str, list[bytes]]) -> Iterator[Any]:
    match statement:
        case say.Said(role=role, message_id=id, content=content):
            yield _CHUNKS[role](message_id=id, content=block(content))
        case say.WholeMessage(role=role, message_id=id, content=contents):
            for content in contents:
                yield _CHUNKS[role](message_id=id, content=block(content))
        case say.ToolPatch():
            yield tool_call(statement, terminals)
        case say.TerminalPatch(id=id, output=bytes(output)):
            terminals[id] = [output]
        case say.TerminalPatch(id=id):
            terminals.setdefault(id, [])  # from now on known as the agent's own, even before it prints anything
        case say.TerminalData(id=id, data=data):
            terminals.setdefault(id, []).append(data)
        case say.PlanSet(plan=the_plan):
            yield from plan(the_plan, client)
        case say.PlanGone(id=id):
            yield v1.PlanRemoved(plan_id=id) if client.plans else v1.Plan(entries=[])
        case say.CommandsAre(commands=commands):
            yield v1.AvailableCommandsUpdate(available_commands=[command(c) for c in commands])
        case say.OptionsAre(options=options, changed=changed):
            yield v1.ConfigOptionUpdate(config_options=config_options(options, client))
            mode = next((o for o in options if o.category == "mode"), None)
            if mode is not None and changed in (None, mode.id):
                yield v1.CurrentModeUpdate(current_mode_id=str(mode.value))
        case say.InfoIs(title=title, updated_at=updated_at):
            yield v1.SessionInfoUpdate(title=title, updated_at=updated_at)
        case say.UsageIs(usage=usage):
            cost = v1.Cost(amount=usage.cost.amount, currency=usage.cost.currency) if usage.cost else UNSET
            yield v1.UsageUpdate(used=usage.used, size=usage.size, cost=cost)
        case say.Noticed(notice=notice) if client.notices:
            yield v1.Notice(severity=notice.severity, title=notice.title, description=notice.description or UNSET)
        case say.Compacted(compaction=shortened) if client.compaction:
            yield v1.CompactionUpdate(
                compaction_id=shortened.id,
                status=shortened.status,
                summary=[block(piece) for piece in shortened.summary] or UNSET,
                error=shortened.error or UNSET,
            )
        case say.CompactionText(id=id, content=content) if client.compaction:
            yield v1.CompactionSummaryChunk(compaction_id=id, content=block(content))
        case say.SubagentIs(subagent=child) if client.subagents:
            yield v1.SubagentUpdate(
                session_id=child.session_id,
                title=child.title or UNSET,
                description=child.description or UNSET,
                cwd=child.cwd or UNSET,
                state=Other.of(child.state, {"state": child.state}) if child.state else UNSET,
                capabilities=v1.SubagentSessionCapabilities(cancel=v1.SessionCancelCapabilities())
                if child.can_cancel
                else UNSET,
            )
        case say.Raw(version=1, update=update):
            yield update


_CHUNKS = {"agent": v1.AgentMessageChunk, "thought": v1.AgentThoughtChunk, "user": v1.UserMessageChunk}


def tool_call(patch: say.ToolPatch, terminals: dict[str, list[bytes]]) -> v1.ToolCall | v1.ToolCallUpdate:
    fields: dict[str, Any] = {"tool_call_id": patch.id}
    for name in ("title", "name", "raw_input", "raw_output"):
        value = getattr(patch, name)
        if value is not UNSET and value is not None:
            fields[name] = value
    if not isinstance(patch.kind, UnsetType):
        fields["kind"] = patch.kind if patch.kind in _KINDS else "other"
    if not isinstance(patch.status, UnsetType):
        # Version 1 has no "cancelled" and no "paused".
        fields["status"] = _STATUSES.get(patch.status, "failed" if patch.status in FINAL else "in_progress")
    if not isinstance(patch.content, UnsetType):
        fields["content"] = tool_contents(patch.content, terminals)
    if not isinstance(patch.locations, UnsetType):
        fields["locations"] = [location(place) for place in patch.locations]
    if patch.first:
        return v1.ToolCall(**fields)
    return v1.ToolCallUpdate(**fields)


def tool_contents(items: list[ToolContent], terminals: dict[str, list[bytes]]) -> list[Any]:
    return [wire for item in items for wire in _tool_content(item, terminals)]


def _tool_content(item: ToolContent, terminals: dict[str, list[bytes]]) -> Iterator[Any]:
    match item:
        case Diff(changes=changes):
            for change in changes:
                # A deletion is a change to nothing.
                yield v1.Diff(
                    path=change.path,
                    old_text=UNSET if change.old_text is None else change.old_text,
                    new_text=change.new_text or "",
                )
        case TerminalRef(terminal_id=id) if id in terminals:
            text = b"".join(terminals[id]).decode("utf-8", "replace")
            yield {"type": "content", "content": {"type": "text", "text": text}}
        case TerminalRef(terminal_id=id):
            yield v1.Terminal(terminal_id=id)
        case _:
            yield {"type": "content", "content": block(item)}


def last_bytes(chunks: list[bytes], most: int) -> list[bytes]:
    """The end of what came in pieces, from a whole character on."""
    size, first = 0, len(chunks)
    while first and size < most:
        first -= 1
        size += len(chunks[first])
    last = b"".join(chunks[first:])
    if size <= most and not first:
        return [last]
    return ["…".encode(), last[-most:].lstrip(bytes(range(0x80, 0xC0)))]


def location(place: Location) -> v1.ToolCallLocation:
    return v1.ToolCallLocation(path=place.path, line=place.line or UNSET)


def plan(the_plan: Plan, client: ClientOffers) -> Iterator[Any]:
    """Clients that do not know several plans get the steps of this one."""
    entries = [
        v1.PlanEntry(
            content=entry.content,
            priority=entry.priority if entry.priority in ("high", "medium", "low") else "medium",  # type: ignore[arg-type]
            status=_plan_status(entry.status),
        )
        for entry in the_plan.entries
    ]
    if client.plans and (the_plan.id != "main" or the_plan.markdown is not None or the_plan.uri is not None):
        if the_plan.markdown is not None:
            yield v1.PlanUpdate(plan=v1.PlanMarkdown(plan_id=the_plan.id, content=the_plan.markdown))
        elif the_plan.uri is not None:
            yield v1.PlanUpdate(plan=v1.PlanFile(plan_id=the_plan.id, uri=the_plan.uri))
        else:
            yield v1.PlanUpdate(plan=v1.PlanItems(plan_id=the_plan.id, entries=entries))
        return
    lines = (the_plan.markdown or the_plan.uri or "").splitlines()
    entries += [v1.PlanEntry(content=line, priority="medium", status="pending") for line in lines if line.strip()]
    yield v1.Plan(entries=entries)


def _plan_status(status: str) -> Any:
    if status in ("pending", "in_progress", "completed"):
        return status
    return "completed" if status == "cancelled" else "pending"


def command(described: Command) -> v1.AvailableCommand:
    hint = v1.UnstructuredCommandInput(hint=described.hint) if described.hint else UNSET
    return v1.AvailableCommand(name=described.name, description=described.description, input=hint)


def config_options(options: list[Option], client: ClientOffers) -> list[Any]:
    return [config_option(option, client) for option in options]


def config_option(option: Option, client: ClientOffers) -> Any:
    description, category = option.description or UNSET, option.category or UNSET
    if not isinstance(option.value, bool):
        value, choices = option.value, select_options(option)
    elif client.boolean_options:
        return v1.SessionConfigBoolean(
            id=option.id, name=option.name, description=description, category=category, current_value=option.value
        )
    else:
        value, choices = "true" if option.value else "false", _on_off()
    return v1.SessionConfigSelect(
        id=option.id,
        name=option.name,
        description=description,
        category=category,
        current_value=value,
        options=choices,
    )


def _on_off() -> list[v1.SessionConfigSelectOption]:
    """An option that is on or off, for clients that can only show lists."""
    return [
        v1.SessionConfigSelectOption(value="true", name="On"),
        v1.SessionConfigSelectOption(value="false", name="Off"),
    ]


def select_options(option: Option) -> Any:
    values, grouped = [], False
    for choice in option.choices:
        description = choice.description or UNSET
        values.append(v1.SessionConfigSelectOption(value=choice.value, name=choice.name, description=description))
        grouped = grouped or bool(choice.group)
    if not grouped:
        return values
    groups: dict[str, v1.SessionConfigSelectGroup] = {}
    for choice, value in zip(option.choices, values, strict=True):
        id = choice.group or ""
        group = groups.setdefault(id, v1.SessionConfigSelectGroup(group=id, name=choice.group_name or id, options=[]))
        group.options.append(value)
    return list(groups.values())


def modes(options: list[Option]) -> v1.SessionModeState | UnsetType:
    """The modes as their own part of the answer, which older clients read."""
    option = next((option for option in options if option.category == "mode"), None)
    if option is None:
        return UNSET
    available = [
        v1.SessionMode(id=choice.value, name=choice.name, description=choice.description or UNSET)
        for choice in option.choices
    ]
    return v1.SessionModeState(current_mode_id=str(option.value), available_modes=available)


def models(options: list[Option]) -> v1.SessionModelState | UnsetType:
    """The models as their own part of the answer, for clients that are older still."""
    option = next((option for option in options if option.category == "model"), None)
    if option is None:
        return UNSET
    available = [
        v1.ModelInfo(model_id=choice.value, name=choice.name, description=choice.description or UNSET)
        for choice in option.choices
    ]
    return v1.SessionModelState(current_model_id=str(option.value), available_models=available)


def permission(request: PermissionRequest, terminals: dict[str, list[bytes]]) -> v1.RequestPermissionRequest:
    return v1.RequestPermissionRequest(
        session_id=request.session_id,
        tool_call=_subject(request, terminals),
        options=[v1.PermissionOption(option_id=o.id, name=o.name, kind=o.kind) for o in request.options],  # type: ignore[arg-type]
    )


def _subject(request: PermissionRequest, terminals: dict[str, list[bytes]]) -> v1.ToolCallPatch:
    """What is asked about. Version 1 has no place for a question of its own: it is the call's title."""
    call = request.tool_call
    assert call is not None
    content = tool_contents(call.content, terminals)
    if request.description:
        content.append({"type": "content", "content": {"type": "text", "text": request.description}})
    patch = v1.ToolCallPatch(
        tool_call_id=call.id,
        title=request.title,
        kind=call.kind if call.kind in _KINDS else "other",  # type: ignore[arg-type]
        status=_STATUSES.get(call.status, "pending"),  # type: ignore[arg-type]
    )
    if content:
        patch.content = content
    if call.locations:
        patch.locations = [location(place) for place in call.locations]
    if request.command is not None:
        patch.raw_input = {"command": request.command, "cwd": request.cwd}
    return patch
