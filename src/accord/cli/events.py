"""What `accord run --json` prints: one object per line. `--output-schema` prints the schema of exactly these."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from accord.model import session as noun
from accord.model.content import TextContent, UnknownContent
from accord.model.tool import Diff, TerminalRef
from accord.model.tool import ToolCall as ToolCallNoun
from accord.transcript import events as heard


class _Line(msgspec.Struct, tag_field="event", tag=str.lower, kw_only=True, omit_defaults=True):
    """One line of output."""


class Session(_Line, tag="session"):
    """The session has begun, or was opened again."""

    session_id: str
    agent: str
    protocol_version: int
    mode: str | None = None
    model: str | None = None


class Prompt(_Line, tag="prompt"):
    """A prompt was sent."""

    text: str


class Text(_Line, tag="text"):
    """The agent said some more."""

    text: str


class Thought(_Line, tag="thought"):
    """The agent thought some more."""

    text: str


class Change(msgspec.Struct, omit_defaults=True):
    """A change to files, as a Git patch."""

    paths: list[str]
    patch: str = ""


class ToolCall(_Line, tag="tool_call"):
    """A tool call began or changed; all of it as it stands now."""

    id: str
    title: str
    kind: str
    status: str
    locations: list[str] = []
    text: str = ""
    changes: list[Change] = []
    terminals: list[str] = []
    raw_input: Any = None
    raw_output: Any = None


class Step(msgspec.Struct):
    """One step of a plan."""

    content: str
    status: str
    priority: str


class Plan(_Line, tag="plan"):
    """The plan as it stands now."""

    id: str
    steps: list[Step]
    markdown: str | None = None


class Usage(_Line, tag="usage"):
    """How full the context is, and what the session has cost."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None


class Permission(_Line, tag="permission"):
    """The agent asked for permission; what was decided, and why."""

    title: str
    decision: str
    why: str = ""


class Notice(_Line, tag="notice"):
    """Something to know; from the agent, or from this program."""

    severity: str
    title: str
    description: str | None = None


class Ended(_Line, tag="ended"):
    """The turn is over."""

    stop_reason: str | None
    text: str
    error: str | None = None
    code: int | None = None


class Other(_Line, tag="other"):
    """Anything else that the agent told, by the name of its kind."""

    kind: str
    data: Any = None


Line = Union[Session, Prompt, Text, Thought, ToolCall, Plan, Usage, Permission, Notice, Ended, Other]


def line_of(event: heard.Event) -> Line | None:
    """An event of a session as a line; None for what scripts need not hear."""
    match event:
        case heard.Text(text=text):
            return Text(text=text)
        case heard.Thought(text=text):
            return Thought(text=text)
        case heard.MessageSet(role="agent"):
            return Text(text=event.text)
        case heard.UserText() | heard.MessageSet() | heard.StateChanged():
            return None
        case ToolCallNoun():
            return tool_call(event)
        case noun.Plan(id=id, entries=entries, markdown=markdown):
            steps = [Step(content=e.content, status=e.status, priority=e.priority) for e in entries]
            return Plan(id=id, steps=steps, markdown=markdown)
        case noun.Usage(used=used, size=size, cost=cost):
            return Usage(
                used=used,
                size=size,
                cost=cost.amount if cost else None,
                currency=cost.currency if cost else None,
            )
        case noun.Notice(severity=severity, title=title, description=description):
            return Notice(severity=severity, title=title, description=description)
        case heard.TerminalOutput(terminal_id=id, data=data):
            return Other(kind="terminal_output", data={"terminal": id, "text": data.decode("utf-8", "replace")})
        case heard.Unknown(kind=kind, data=data):
            return Other(kind=kind, data=data)
        case _:
            return Other(kind=type(event).__name__, data=_plain(event))


def tool_call(call: ToolCallNoun) -> ToolCall:
    said = [item.text for item in call.content if isinstance(item, TextContent)]
    changes = [
        Change(paths=[change.path for change in item.changes], patch=item.patch)
        for item in call.content
        if isinstance(item, Diff)
    ]
    return ToolCall(
        id=call.id,
        title=call.title,
        kind=call.kind,
        status=call.status,
        locations=[f"{place.path}:{place.line}" if place.line else place.path for place in call.locations],
        text="\n".join(said),
        changes=changes,
        terminals=[item.terminal_id for item in call.content if isinstance(item, TerminalRef)],
        raw_input=call.raw_input,
        raw_output=call.raw_output,
    )


def _plain(event: Any) -> Any:
    try:
        return msgspec.to_builtins(event, enc_hook=_hook)
    except (TypeError, ValueError):
        return None


def _hook(value: Any) -> Any:
    return value.data if isinstance(value, UnknownContent) else str(value)


def schema() -> bytes:
    """The JSON schema of a line."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Line)), indent=2)
