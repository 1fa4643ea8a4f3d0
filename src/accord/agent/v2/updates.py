"""Convert neutral statements to updates of version 2."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, UnsetType

from accord.agent.dialect import encode_tokens
from accord.agent.dialect import unwrap_unknown as encodable
from accord.model import statement as s
from accord.model.content import Content
from accord.model.requests import PermissionRequest
from accord.model.session import Command, Option, Plan, StopReason
from accord.model.tool import Diff, FileChange, Location, TerminalRef, ToolContent
from accord.model.values import meta as check_meta
from accord.schema import v2
from accord.schema.repair import read
from accord.schema.shape import Other

_CHUNKS = {"agent": v2.AgentMessageChunk, "thought": v2.AgentThoughtChunk, "user": v2.UserMessageChunk}
_MESSAGES = {"agent": v2.AgentMessage, "thought": v2.AgentThought, "user": v2.UserMessage}


def updates(statement: s.Statement, *, unstable: bool) -> list[Any]:
    """Convert a statement to updates. Those of the unstable schema are included only if `unstable` is true."""
    found = [*_updates(statement, unstable)]
    # By far the most frequent statement needs no lookup.
    meta = statement.meta if type(statement) is s.ToolPatch else s.meta_of(statement)
    if meta:
        check_meta(meta)
        for update in found:
            update.meta = meta
    return found


def _updates(statement: s.Statement, unstable: bool) -> Iterator[Any]:
    match statement:
        case s.MessageChunk(role=role, message_id=id, content=content):
            yield _CHUNKS[role](message_id=id, content=encodable(content))
        case s.WholeMessage(role=role, message_id=id, content=contents):
            yield _MESSAGES[role](message_id=id, content=_contents(contents))
        case s.ToolPatch(added=added) if not isinstance(added, UnsetType) and not statement.first:
            yield v2.ToolCallContentChunk(tool_call_id=statement.id, content=tool_content(added))
        case s.ToolPatch():
            yield tool_call(statement)
        case s.TerminalPatch():
            yield terminal(statement)
        case s.TerminalData(id=id, data=data):
            yield v2.TerminalOutputChunk(terminal_id=id, data=base64.b64encode(data).decode())
        case s.SetPlan(plan=the_plan):
            yield v2.PlanUpdate(plan=plan(the_plan, unstable))
        case s.RemovePlan(id=id):
            yield v2.PlanRemoved(plan_id=id) if unstable else v2.PlanUpdate(plan=v2.PlanItems(plan_id=id, entries=[]))
        case s.SetCommands(commands=commands):
            yield v2.AvailableCommandsUpdate(available_commands=[command(c) for c in commands])
        case s.SetOptions(options=options):
            yield v2.ConfigOptionUpdate(config_options=config_options(options))
        case s.SetInfo(title=title, updated_at=updated_at):
            yield v2.SessionInfoUpdate(title=title, updated_at=updated_at)
        case s.SetUsage(usage=usage):
            paid = usage.cost
            cost = v2.Cost(amount=paid.amount, currency=paid.currency, meta=paid.meta or UNSET) if paid else UNSET
            yield v2.UsageUpdate(used=usage.used, size=usage.size, cost=cost)
        case s.AddNotice(notice=notice):
            yield v2.Notice(severity=notice.severity, title=notice.title, description=notice.description or UNSET)
        case s.SetCompaction(compaction=compaction):
            yield v2.CompactionUpdate(
                compaction_id=compaction.id,
                status=compaction.status,
                summary=[encodable(piece) for piece in compaction.summary] or UNSET,
                error=compaction.error or UNSET,
            )
        case s.CompactionText(id=id, content=content):
            yield v2.CompactionSummaryChunk(compaction_id=id, content=encodable(content))
        case s.SetState():
            yield state(statement, unstable)
        case s.SetSubagent(subagent=child) if unstable:
            yield v2.SubagentUpdate(
                session_id=child.session_id,
                title=child.title or UNSET,
                description=child.description or UNSET,
                cwd=child.cwd or UNSET,
                additional_directories=UNSET
                if child.additional_directories is None
                else list(child.additional_directories),
                state=snapshot(child.state, child.stop_reason) if child.state else UNSET,
                capabilities=v2.SubagentSessionCapabilities(cancel=v2.SessionCancelCapabilities())
                if child.can_cancel
                else UNSET,
            )
        case s.SessionMessage(content=contents) if unstable:
            yield v2.SessionMessage(
                message_id=statement.id,
                sender_session_id=statement.sender,
                recipient_session_id=statement.recipient,
                sender_message_id=statement.sender_message_id,
                recipient_message_id=statement.recipient_message_id,
                content=_contents(contents),
            )
        case s.SessionMessageText(id=id, content=content) if unstable:
            yield v2.SessionMessageChunk(message_id=id, content=encodable(content))
        case s.Raw(version=2, update=update):
            yield update


def _contents(contents: list[Content] | UnsetType | None) -> Any:
    """Convert the content of a message. None clears it."""
    return [encodable(piece) for piece in contents] if isinstance(contents, list) else contents


def snapshot(name: str, stop_reason: StopReason | None = None) -> v2.StateSnapshot:
    """Build the state of a session for use in a field; only `idle` has a stop reason."""
    result = {"stopReason": stop_reason} if name == "idle" and stop_reason else {}
    found: v2.StateSnapshot = read(v2.StateSnapshot, {"state": name, **result})
    return found


def state(now: s.SetState, unstable: bool) -> v2.StateUpdate:
    update = v2.StateUpdate(state=now.state)
    if now.stop_reason is not None:
        update.stop_reason = now.stop_reason
    if now.error is not None:
        error: Any = now.error
        update.error = error
    if now.tokens is not None and unstable:
        update.usage = encode_tokens(now.tokens)
    if now.background is not None:
        kinds: dict[str, Any] = {
            "terminal": lambda id: v2.BackgroundTerminal(terminal_id=id),
            "tool_call": lambda id: v2.BackgroundToolCall(tool_call_id=id),
            "subagent": lambda id: v2.BackgroundSubagent(session_id=id),
        }
        update.background = [kinds[work.kind](work.id) for work in now.background if work.kind in kinds]
    return update


def tool_call(patch: s.ToolPatch) -> v2.ToolCallUpdate:
    fields: dict[str, Any] = {"tool_call_id": patch.id}
    for name in ("title", "name", "kind", "status", "raw_input", "raw_output"):
        value = getattr(patch, name)
        if value is not UNSET:
            fields[name] = value
    if not isinstance(patch.content, UnsetType):
        fields["content"] = None if patch.content is None else [tool_content(item) for item in patch.content]
    if not isinstance(patch.locations, UnsetType):
        fields["locations"] = None if patch.locations is None else [location(place) for place in patch.locations]
    if not isinstance(patch.can_cancel, UnsetType):
        cancel = v2.ToolCallCancelCapabilities() if patch.can_cancel else UNSET
        fields["capabilities"] = v2.ToolCallCapabilities(cancel=cancel) if patch.can_cancel else None
    return v2.ToolCallUpdate(**fields)


def tool_content(item: ToolContent) -> Any:
    match item:
        case Diff(changes=changes):
            text = item.patch
            patch = v2.DiffPatch(format="git_patch", text=text) if text else UNSET
            listed = [diff_change(change) for change in changes]
            return v2.Diff(changes=listed, patch=patch, meta=item.meta or UNSET)
        case TerminalRef(terminal_id=id):
            return v2.Terminal(terminal_id=id, meta=item.meta or UNSET)
        case _:
            return {"type": "content", "content": encodable(item)}


def diff_change(change: FileChange) -> Any:
    more: dict[str, Any] = {"file_type": change.file_type or "text", "mime_type": change.mime_type or UNSET}
    if change.meta:
        more["meta"] = change.meta
    if change.operation in ("move", "copy"):
        pair = v2.DiffMove if change.operation == "move" else v2.DiffCopy
        return pair(path=change.path, old_path=change.old_path or change.path, **more)
    single = {"add": v2.DiffAdd, "delete": v2.DiffDelete}.get(change.operation, v2.DiffModify)
    return single(path=change.path, **more)


def location(place: Location) -> v2.ToolCallLocation:
    return v2.ToolCallLocation(path=place.path, line=place.line or UNSET, meta=place.meta or UNSET)


def terminal(patch: s.TerminalPatch) -> v2.TerminalUpdate:
    update = v2.TerminalUpdate(terminal_id=patch.id, command=patch.command, cwd=patch.cwd)
    if not isinstance(patch.output, UnsetType):
        data = patch.output
        update.output = None if data is None else v2.TerminalOutput(data=base64.b64encode(data).decode())
    if isinstance(patch.columns, int) and isinstance(patch.rows, int):
        update.size = v2.TerminalSize(cols=patch.columns, rows=patch.rows)
    elif patch.columns is None:
        update.size = None
    if not isinstance(patch.exit, UnsetType):
        update.exit_status = v2.TerminalExitStatus(
            exit_code=UNSET if patch.exit.code is None else patch.exit.code,
            signal=patch.exit.signal or UNSET,
            meta=patch.exit.meta or UNSET,
        )
    if patch.can_cancel is True:
        update.capabilities = v2.TerminalCapabilities(cancel=v2.TerminalCancelCapabilities())
    elif patch.can_cancel is False and not isinstance(patch.exit, UnsetType):
        update.capabilities = None
    return update


def plan(the_plan: Plan, unstable: bool) -> Any:
    if the_plan.markdown is not None and unstable:
        return v2.PlanMarkdown(plan_id=the_plan.id, content=the_plan.markdown)
    if the_plan.uri is not None and unstable:
        return v2.PlanFile(plan_id=the_plan.id, uri=the_plan.uri)
    entries = [
        v2.PlanEntry(content=e.content, priority=e.priority, status=e.status, meta=e.meta or UNSET)
        for e in the_plan.entries
    ]
    lines = (the_plan.markdown or the_plan.uri or "").splitlines()
    entries += [v2.PlanEntry(content=line, priority="medium", status="pending") for line in lines if line.strip()]
    return v2.PlanItems(plan_id=the_plan.id, entries=entries)


def command(described: Command) -> v2.Command | Other:
    if described.other is not None:
        fields = {**described.other, "name": described.name, "description": described.description}
        return Other.of(fields["type"], fields)
    hint: Any = v2.TextCommandInput(hint=described.hint) if described.hint else UNSET
    if described.input is not None:
        hint = Other.of(described.input["type"], described.input)
    return v2.Command(name=described.name, description=described.description, input=hint, meta=described.meta or UNSET)


def config_options(options: list[Option]) -> list[Any]:
    return [config_option(option) for option in options]


def config_option(option: Option) -> Any:
    if option.other is not None:
        return Other.of(option.other["type"], {**option.other, "configId": option.id, "name": option.name})
    common: dict[str, Any] = {
        "config_id": option.id,
        "name": option.name,
        "description": option.description or UNSET,
        "category": option.category or UNSET,
        "meta": option.meta or UNSET,
    }
    if isinstance(option.value, bool):
        return v2.SessionConfigBoolean(**common, current_value=option.value)
    values = [
        v2.SessionConfigSelectOption(
            value=c.value, name=c.name, description=c.description or UNSET, meta=c.meta or UNSET
        )
        for c in option.choices
    ]
    if not any(choice.group for choice in option.choices):
        return v2.SessionConfigSelect(**common, current_value=option.value, options=values)
    groups: dict[str, v2.SessionConfigSelectGroup] = {}
    for choice, value in zip(option.choices, values, strict=True):
        id = choice.group or ""
        group = groups.setdefault(
            id, v2.SessionConfigSelectGroup(group_id=id, name=choice.group_name or id, options=[])
        )
        group.options.append(value)
    return v2.SessionConfigSelect(**common, current_value=option.value, options=list(groups.values()))


def permission(request: PermissionRequest) -> v2.RequestPermissionRequest:
    subject: Any = UNSET
    call = request.tool_call
    if request.other is not None:
        subject = Other.of(request.other["type"], request.other)
    elif request.command is not None:
        subject = v2.CommandPermissionSubject(
            command=request.command,
            cwd=request.cwd or "/",
            tool_call_id=call.id if call is not None else UNSET,
            terminal_id=request.terminal_id or UNSET,
        )
    elif call is not None:
        about = v2.ToolCallPatch(tool_call_id=call.id, title=call.title, kind=call.kind, status=call.status)
        if call.content:
            about.content = [tool_content(item) for item in call.content]
        if call.locations:
            about.locations = [location(place) for place in call.locations]
        subject = v2.ToolCallPermissionSubject(tool_call=about)
    return v2.RequestPermissionRequest(
        session_id=request.session_id,
        title=request.title,
        description=request.description or UNSET,
        subject=subject,
        options=[
            v2.PermissionOption(option_id=o.id, name=o.name, kind=o.kind, meta=o.meta or UNSET) for o in request.options
        ],
        meta=request.meta or UNSET,
    )
