"""What `accord run --json` prints: one object per line. `--output-schema` prints the schema of exactly these."""

from __future__ import annotations

import re
from typing import Any, Union

import msgspec

from accord.model import session as noun
from accord.model.content import TextContent, UnknownContent, text_of
from accord.model.tool import Diff, TerminalRef
from accord.model.tool import ToolCall as ToolCallNoun
from accord.transcript import events as heard


class _Line(msgspec.Struct, tag_field="event", kw_only=True, omit_defaults=True):
    """One line of output."""


class Session(_Line, tag="session"):
    """The session has begun, or was opened again."""

    session_id: str
    agent: str
    """What the agent calls itself."""
    protocol_version: int
    mode: str | None = None
    model: str | None = None


class Prompt(_Line, tag="prompt"):
    """A prompt was sent."""

    text: str
    attached: list[str] = []
    """The files that were embedded, linked or shown with it, by their URIs."""


class Text(_Line, tag="text"):
    """The agent said some more."""

    text: str
    message_id: str | None = None


class Thought(_Line, tag="thought"):
    """The agent thought some more."""

    text: str
    message_id: str | None = None


class Message(_Line, tag="message"):
    """A whole message of the agent's was set at once; what was said under the same id before is replaced by it."""

    message_id: str
    role: str
    text: str


class Media(_Line, tag="media"):
    """A piece of a message that is not text: a picture, a sound, a link, a file."""

    content: Any


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
    """Something was decided about: what, whether it was allowed or refused, and why."""

    title: str
    decision: str
    why: str = ""


class Notice(_Line, tag="notice"):
    """Something to know; from the agent, or from this program."""

    severity: str
    title: str
    description: str | None = None


class Ended(_Line, tag="ended"):
    """A turn is over."""

    stop_reason: str | None
    """Absent words of the agent's own: end_turn, refusal, max_tokens, max_turn_requests, cancelled, or another."""
    text: str
    """All that the agent said in it."""
    error: str | None = None
    code: int | None = None


class Error(_Line, tag="error"):
    """It failed, and not in a turn: the agent could not be started, or did not do as asked."""

    message: str
    stage: str | None = None
    code: int | None = None


class Other(_Line, tag="other"):
    """Anything else that the agent told, by the name of its kind."""

    kind: str
    data: Any = None


Line = Union[
    Session, Prompt, Text, Thought, Message, Media, ToolCall, Plan, Usage, Permission, Notice, Ended, Error, Other
]


def line_of(event: heard.Event) -> Line | None:
    """An event of a session as a line; None for what scripts need not hear."""
    match event:
        case heard.Text(text=text, message_id=id):
            return Text(text=text, message_id=id)
        case heard.Thought(text=text, message_id=id):
            return Thought(text=text, message_id=id)
        case heard.MessageSet(role=role, message_id=id, content=content) if role != "user":
            return Message(message_id=id, role=role, text=text_of(content))
        case heard.UserText() | heard.MessageSet() | heard.StateChanged():
            return None
        case heard.Media(content=content, role=role):
            return Media(content=_plain(content)) if role != "user" else None
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
            return Other(kind=_kind(event), data=_plain(event))


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


def _kind(event: Any) -> str:
    """`OptionsChanged` as scripts write it: options_changed."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()


def _plain(event: Any) -> Any:
    if isinstance(event, UnknownContent):
        return event.data
    try:
        return msgspec.to_builtins(event, enc_hook=_hook)
    except (TypeError, ValueError):
        return None


def _hook(value: Any) -> Any:
    return value.data if isinstance(value, UnknownContent) else str(value)


def schema() -> bytes:
    """The JSON schema of a line."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Line)), indent=2)
