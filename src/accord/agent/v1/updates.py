"""Convert neutral statements to updates of version 1. Optional fields are left out, never sent as null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from msgspec import UNSET, UnsetType, structs

from accord.agent.dialect import unwrap_unknown
from accord.agent.offers import ClientOffers
from accord.errors import InvalidValue
from accord.model import statement as s
from accord.model.check import PERMISSION_KINDS
from accord.model.content import Content, ResourceLink
from accord.model.requests import PermissionRequest
from accord.model.session import Command, Option, Plan
from accord.model.tool import FINAL, Diff, FileChange, Location, TerminalRef, ToolContent
from accord.model.values import meta as check_meta
from accord.schema import v1
from accord.schema.shape import Other

# The values that version 1 knows. Others are replaced.
_KINDS: dict[str, v1.ToolKind] = {kind: kind for kind in get_args(v1.ToolKind)}
_STATUSES: dict[str, v1.ToolCallStatus] = {status: status for status in get_args(v1.ToolCallStatus)}
_PRIORITIES: dict[str, v1.PlanEntryPriority] = {priority: priority for priority in get_args(v1.PlanEntryPriority)}


def updates(statement: s.Statement, client: ClientOffers, terminals: dict[str, list[bytes]]) -> list[Any]:
    """Convert a statement to updates. There are none if the client doesn't support it or version 1 has no
    equivalent."""
    if type(statement) is s.ToolPatch:  # by far the most frequent statement; a generator would double its cost
        found: list[Any] = [tool_call(statement, terminals)]
        meta = statement.meta
    else:
        found = [*_updates(statement, client, terminals)]
        meta = s.meta_of(statement)
    if meta:
        check_meta(meta)
        for update in found:
            update.meta = meta
    return found


def _updates(statement: s.Statement, client: ClientOffers, terminals: dict[str, list[bytes]]) -> Iterator[Any]:
    match statement:
        case s.MessageChunk(role=role, message_id=id, content=content):
            yield _CHUNKS[role](message_id=id, content=encodable(content))
        case s.WholeMessage(role=role, message_id=id, content=contents):
            for content in contents or ():  # version 1 can't clear a message
                yield _CHUNKS[role](message_id=id, content=encodable(content))
        case s.ToolPatch():
            yield tool_call(statement, terminals)
        case s.TerminalPatch(id=id, output=output) if not isinstance(output, UnsetType):
            terminals[id] = [output or b""]
        case s.TerminalPatch(id=id):
            terminals.setdefault(id, [])  # marks it as the agent's own, even before its first output
        case s.TerminalData(id=id, data=data):
            terminals.setdefault(id, []).append(data)
        case s.SetPlan(plan=the_plan):
            yield from plan(the_plan, client)
        case s.RemovePlan(id=id):
            yield v1.PlanRemoved(plan_id=id) if client.plans else v1.Plan(entries=[])
        case s.SetCommands(commands=commands):
            yield v1.AvailableCommandsUpdate(available_commands=[command(c) for c in commands])
        case s.SetOptions(options=options, changed=changed):
            yield v1.ConfigOptionUpdate(config_options=config_options(options, client))
            mode = next((o for o in options if o.category == "mode"), None)
            if mode is not None and changed in (None, mode.id):
                yield v1.CurrentModeUpdate(current_mode_id=str(mode.value))
        case s.SetInfo(title=title, updated_at=updated_at):
            yield v1.SessionInfoUpdate(title=title, updated_at=updated_at)
        case s.SetUsage(usage=usage):
            paid = usage.cost
            cost = v1.Cost(amount=paid.amount, currency=paid.currency, meta=paid.meta or UNSET) if paid else UNSET
            yield v1.UsageUpdate(used=usage.used, size=usage.size, cost=cost)
        case s.AddNotice(notice=notice) if client.notices:
            yield v1.Notice(severity=notice.severity, title=notice.title, description=notice.description or UNSET)
        case s.SetCompaction(compaction=compaction) if client.compaction:
            yield v1.CompactionUpdate(
                compaction_id=compaction.id,
                status=compaction.status,
                summary=[encodable(piece) for piece in compaction.summary] or UNSET,
                error=compaction.error or UNSET,
            )
        case s.CompactionText(id=id, content=content) if client.compaction:
            yield v1.CompactionSummaryChunk(compaction_id=id, content=encodable(content))
        case s.SetSubagent(subagent=child) if client.subagents:
            yield v1.SubagentUpdate(
                session_id=child.session_id,
                title=child.title or UNSET,
                description=child.description or UNSET,
                cwd=child.cwd or UNSET,
                additional_directories=_or_unset(child.additional_directories),
                state=Other.of(child.state, {"state": child.state}) if child.state else UNSET,
                capabilities=v1.SubagentSessionCapabilities(cancel=v1.SessionCancelCapabilities())
                if child.can_cancel
                else UNSET,
            )
        case s.SessionMessage(content=contents) if client.subagents:
            yield v1.SessionMessage(
                message_id=statement.id,
                sender_session_id=statement.sender,
                recipient_session_id=statement.recipient,
                sender_message_id=statement.sender_message_id,
                recipient_message_id=statement.recipient_message_id,
                content=_contents(contents),
            )
        case s.SessionMessageText(id=id, content=content) if client.subagents:
            yield v1.SessionMessageChunk(message_id=id, content=encodable(content))
        case s.Raw(version=1, update=update):
            yield update


def encodable(content: Any) -> Any:
    """Return the encodable form of content. Version 1 has no icons."""
    if isinstance(content, ResourceLink) and content.icons is not None:
        return structs.replace(content, icons=None)
    return unwrap_unknown(content)


def _contents(contents: list[Content] | UnsetType | None) -> Any:
    """Convert the content of a message. None clears it."""
    return [encodable(piece) for piece in contents] if isinstance(contents, list) else contents


def _or_unset(value: Any) -> Any:
    return UNSET if value is None else value


_CHUNKS = {"agent": v1.AgentMessageChunk, "thought": v1.AgentThoughtChunk, "user": v1.UserMessageChunk}


def tool_call(patch: s.ToolPatch, terminals: dict[str, list[bytes]]) -> v1.ToolCall | v1.ToolCallUpdate:
    # The fields are written out because a patch sets only one or two: a loop over all of them takes twice as long.
    kind: Any = v1.ToolCall if patch.first else v1.ToolCallUpdate
    update: v1.ToolCall | v1.ToolCallUpdate = kind(
        tool_call_id=patch.id,
        title="" if patch.title is None else patch.title,  # null means "unchanged" in version 1
        name=UNSET if patch.name is None else patch.name,
        raw_input=UNSET if patch.raw_input is None else patch.raw_input,
        raw_output=UNSET if patch.raw_output is None else patch.raw_output,
    )
    if patch.kind is not UNSET:
        update.kind = _KINDS.get(patch.kind or "", "other")
    if patch.status is not UNSET:
        # Version 1 has neither "cancelled" nor "paused".
        update.status = _STATUSES.get(patch.status) or ("failed" if patch.status in FINAL else "in_progress")
    if patch.content is not UNSET:
        update.content = tool_contents(patch.content or [], terminals)
    if patch.locations is not UNSET:
        update.locations = [location(place) for place in patch.locations or ()]
    return update


def tool_contents(items: list[ToolContent], terminals: dict[str, list[bytes]]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if isinstance(item, Diff):
            found += [_diff(change, item) for change in item.changes]
        elif not isinstance(item, TerminalRef):
            found.append({"type": "content", "content": encodable(item)})
        elif item.terminal_id in terminals:
            text = b"".join(terminals[item.terminal_id]).decode("utf-8", "replace")
            found.append({"type": "content", "content": {"type": "text", "text": text}})
        else:
            found.append(v1.Terminal(terminal_id=item.terminal_id, meta=item.meta or UNSET))
    return found


def _diff(change: FileChange, diff: Diff) -> v1.Diff:
    """Convert the change of one file. A deletion is sent as a change to an empty text."""
    old_text = UNSET if change.old_text is None else change.old_text
    meta = change.meta or diff.meta or UNSET
    return v1.Diff(path=change.path, old_text=old_text, new_text=change.new_text or "", meta=meta)


def last_bytes(chunks: list[bytes], most: int) -> list[bytes]:
    """Return the last `most` bytes of a list of chunks, starting at a character boundary."""
    size, first = 0, len(chunks)
    while first and size < most:
        first -= 1
        size += len(chunks[first])
    last = b"".join(chunks[first:])
    if size <= most and not first:
        return [last]
    return ["…".encode(), last[-most:].lstrip(bytes(range(0x80, 0xC0)))]


def location(place: Location) -> v1.ToolCallLocation:
    return v1.ToolCallLocation(path=place.path, line=place.line or UNSET, meta=place.meta or UNSET)


def plan(the_plan: Plan, client: ClientOffers) -> Iterator[Any]:
    """Convert a plan. Clients that don't support multiple plans get only its steps."""
    entries = [
        v1.PlanEntry(
            content=entry.content,
            priority=_PRIORITIES.get(entry.priority, "medium"),
            status=_plan_status(entry.status),
            meta=entry.meta or UNSET,
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
    return v1.AvailableCommand(
        name=described.name, description=described.description, input=hint, meta=described.meta or UNSET
    )


def config_options(options: list[Option], client: ClientOffers) -> list[Any]:
    return [config_option(option, client) for option in options if option.is_known]


def config_option(option: Option, client: ClientOffers) -> Any:
    description, category = option.description or UNSET, option.category or UNSET
    if not isinstance(option.value, bool):
        value, choices = option.value, select_options(option)
    elif client.boolean_options:
        return v1.SessionConfigBoolean(
            id=option.id,
            name=option.name,
            description=description,
            category=category,
            current_value=option.value,
            meta=option.meta or UNSET,
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
        meta=option.meta or UNSET,
    )


def _on_off() -> list[v1.SessionConfigSelectOption]:
    """Return the choices of a boolean option, for clients that support only lists."""
    return [
        v1.SessionConfigSelectOption(value="true", name="On"),
        v1.SessionConfigSelectOption(value="false", name="Off"),
    ]


def select_options(option: Option) -> Any:
    values, grouped = [], False
    for choice in option.choices:
        description = choice.description or UNSET
        meta = choice.meta or UNSET
        values.append(
            v1.SessionConfigSelectOption(value=choice.value, name=choice.name, description=description, meta=meta)
        )
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
    """Convert the option of category `mode` to the `modes` field, which older clients read."""
    option = next((option for option in options if option.category == "mode"), None)
    if option is None:
        return UNSET
    available = [
        v1.SessionMode(
            id=choice.value,
            name=choice.name,
            description=choice.description or UNSET,
            meta=choice.meta or UNSET,
        )
        for choice in option.choices
    ]
    return v1.SessionModeState(current_mode_id=str(option.value), available_modes=available)


def models(options: list[Option]) -> v1.SessionModelState | UnsetType:
    """Convert the option of category `model` to the `models` field, for still older clients."""
    option = next((option for option in options if option.category == "model"), None)
    if option is None:
        return UNSET
    available = [
        v1.ModelInfo(model_id=choice.value, name=choice.name, description=choice.description or UNSET)
        for choice in option.choices
    ]
    return v1.SessionModelState(current_model_id=str(option.value), available_models=available)


def permission(request: PermissionRequest, terminals: dict[str, list[bytes]]) -> v1.RequestPermissionRequest:
    """Build a permission request. Custom option kinds are an error in version 1: mapping one to a standard kind could
    change its meaning for clients that decide by kind."""
    for index, option in enumerate(request.options):
        if option.kind not in PERMISSION_KINDS:
            where = f"options[{index}].kind"
            known = ", ".join(sorted(PERMISSION_KINDS))
            raise InvalidValue(f"{where} is {option.kind!r}; version 1 has only {known}", argument=where)
    return v1.RequestPermissionRequest(
        session_id=request.session_id,
        tool_call=_subject(request, terminals),
        options=[
            v1.PermissionOption(option_id=o.id, name=o.name, kind=o.kind, meta=o.meta or UNSET) for o in request.options
        ],
        meta=request.meta or UNSET,
    )


def _subject(request: PermissionRequest, terminals: dict[str, list[bytes]]) -> v1.ToolCallPatch:
    """Build the tool call that a permission request is about. Version 1 has no field for the question, so it is the
    call's title."""
    call = request.tool_call
    assert call is not None
    content = tool_contents(call.content, terminals)
    if request.description:
        content.append({"type": "content", "content": {"type": "text", "text": request.description}})
    patch = v1.ToolCallPatch(
        tool_call_id=call.id,
        title=request.title,
        kind=_KINDS.get(call.kind, "other"),
        status=_STATUSES.get(call.status, "pending"),
    )
    if content:
        patch.content = content
    if call.locations:
        patch.locations = [location(place) for place in call.locations]
    if request.command is not None:
        patch.raw_input = {"command": request.command, "cwd": request.cwd}
    return patch
