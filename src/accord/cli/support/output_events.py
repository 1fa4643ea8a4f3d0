"""The lines of `accord run --json`, one type per event. `--output-schema` prints their schema."""

from __future__ import annotations

import re
from typing import Any, Union

import msgspec

from accord.model import session as neutral
from accord.model.content import TextContent, UnknownContent, text_of
from accord.model.tool import Diff, TerminalRef
from accord.model.tool import ToolCall as NeutralToolCall
from accord.transcript import events as heard


class _Line(msgspec.Struct, tag_field="event", kw_only=True, omit_defaults=True):
    """One line of output."""


class Session(_Line, tag="session"):
    """The session was created or opened."""

    session_id: str
    agent: str
    """The agent's name."""
    protocol_version: int
    mode: str | None = None
    model: str | None = None


class Background(_Line, tag="background"):
    """The run continues in the background (--no-wait). Its own lines go to `log`."""

    name: str
    """The name of the session."""
    process_id: int
    log: str
    session_id: str | None = None
    """The session, unless the run is queued behind an earlier one."""


class Prompt(_Line, tag="prompt"):
    """A prompt was sent."""

    text: str
    attached: list[str] = []
    """The URIs of attached files."""


class Text(_Line, tag="text"):
    """More text from the agent."""

    text: str
    message_id: str | None = None


class Thought(_Line, tag="thought"):
    """More of the agent's thoughts."""

    text: str
    message_id: str | None = None


class Message(_Line, tag="message"):
    """A whole message of the agent, which replaces the text streamed under the same id."""

    message_id: str
    role: str
    text: str


class Media(_Line, tag="media"):
    """Content that isn't text: an image, audio, a link or a file."""

    content: Any


class Change(msgspec.Struct, omit_defaults=True):
    """A change to files, as a Git patch."""

    paths: list[str]
    patch: str = ""


class ToolCall(_Line, tag="tool_call"):
    """The current state of a tool call that started or changed."""

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


class Terminal(_Line, tag="terminal"):
    """A command shown by a tool call started, printed something, or exited. The agent runs it, or Accord does."""

    id: str
    """The id, as listed in the `terminals` of a tool call."""
    command: str | None = None
    cwd: str | None = None
    text: str = ""
    """Output since the last event about this terminal."""
    output: str = ""
    """The whole output, once the command has exited."""
    exit_code: int | None = None
    signal: str | None = None


class Step(msgspec.Struct):
    """One step of a plan."""

    content: str
    status: str
    priority: str


class Plan(_Line, tag="plan"):
    """The current plan."""

    id: str
    steps: list[Step]
    markdown: str | None = None


class Usage(_Line, tag="usage"):
    """The size of the context, and the cost of the session."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None


class Permission(_Line, tag="permission"):
    """A permission decision: what it was about, whether it was allowed, and why."""

    title: str
    decision: str
    why: str = ""
    allow: list[str] = []
    """Rules to pass to --allow, if it was refused because nobody could be asked."""


class Notice(_Line, tag="notice"):
    """A notice from the agent or from Accord."""

    severity: str
    title: str
    description: str | None = None


class Disconnected(_Line, tag="disconnected"):
    """The network connection to a remote agent was lost and is being restored. The turn continues."""

    reason: str


class Resumed(_Line, tag="resumed"):
    """The network connection to a remote agent was restored. Nothing was lost."""

    attempts: int
    seconds: float
    """How long the connection was down."""


class Ended(_Line, tag="ended"):
    """A turn is over."""

    stop_reason: str | None
    """end_turn, refusal, max_tokens, max_turn_requests, cancelled, or a custom value."""
    text: str
    """The agent's whole text in this turn."""
    silent: bool = False
    """The turn ended without any output or action."""
    error: str | None = None
    code: int | None = None
    data: Any = None
    """The `data` of the agent's error, with secrets masked."""


class Error(_Line, tag="error"):
    """An error outside a turn: the agent couldn't be started, or refused a request."""

    message: str
    stage: str | None = None
    code: int | None = None
    data: Any = None
    """The `data` of the agent's error, with secrets masked."""


class Other(_Line, tag="other"):
    """Any other update, by kind."""

    kind: str
    data: Any = None


Line = Union[
    Background,
    Session,
    Prompt,
    Text,
    Thought,
    Message,
    Media,
    ToolCall,
    Terminal,
    Plan,
    Usage,
    Permission,
    Notice,
    Disconnected,
    Resumed,
    Ended,
    Error,
    Other,
]


def is_output(event: heard.Event) -> bool:
    """Return whether an event is part of an answer: text, tool calls, notices; not thoughts, usage or settings."""
    match event:
        case heard.MessageSet(role=role) | heard.Media(role=role):
            return role == "agent"
        case (
            heard.Text()
            | NeutralToolCall()
            | neutral.Plan()
            | neutral.Notice()
            | neutral.Compaction()
            | neutral.Subagent()
        ):
            return True
        case _:
            return False


def to_line(event: heard.Event) -> Line | None:
    """Convert an event of a session into a line; None for events that aren't printed."""
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
        case NeutralToolCall():
            return tool_call(event)
        case neutral.Plan(id=id, entries=entries, markdown=markdown):
            steps = [Step(content=e.content, status=e.status, priority=e.priority) for e in entries]
            return Plan(id=id, steps=steps, markdown=markdown)
        case neutral.Usage(used=used, size=size, cost=cost):
            return Usage(
                used=used,
                size=size,
                cost=cost.amount if cost else None,
                currency=cost.currency if cost else None,
            )
        case neutral.Notice(severity=severity, title=title, description=description):
            return Notice(severity=severity, title=title, description=description)
        case heard.Disconnected(reason=reason):
            return Disconnected(reason=reason)
        case heard.Resumed(attempts=attempts, seconds=seconds):
            return Resumed(attempts=attempts, seconds=round(seconds, 3))
        case heard.TerminalOutput(terminal_id=id, data=data):
            return Terminal(id=id, text=data.decode("utf-8", "replace"))
        case heard.TerminalChanged(terminal=terminal):
            return Terminal(
                id=terminal.id,
                command=terminal.command,
                cwd=terminal.cwd,
                output=terminal.text if terminal.exit else "",  # it grows until then
                exit_code=terminal.exit.code if terminal.exit else None,
                signal=terminal.exit.signal if terminal.exit else None,
            )
        case heard.Unknown(kind=kind, data=data):
            return Other(kind=kind, data=data)
        case _:
            return Other(kind=_kind(event), data=_plain(event))


def tool_call(call: NeutralToolCall) -> ToolCall:
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
    """Convert a class name to snake case: `OptionsChanged` becomes options_changed."""
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
    """Return the JSON schema of a line."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Line)), indent=2)
