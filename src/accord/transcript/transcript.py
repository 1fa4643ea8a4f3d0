"""The state of a session, folded from its updates.

The folds in `transcript.v1` and `transcript.v2` translate updates into calls of the methods here. Each method changes
the state and returns the corresponding event. The cost of a method doesn't depend on the length of the
session, except where noted.

An event belongs to its reader, but lists inside a tool call, a running terminal, a compaction or a message between
sessions are shared with the transcript and may still grow. Take a `snapshot` to keep a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Protocol, Union

from msgspec import UNSET, UnsetType, structs

from accord.model.content import Content, TextContent
from accord.model.record import Meta, MetaPatch, patch, patch_meta
from accord.model.session import (
    Background,
    Command,
    Compaction,
    Notice,
    Option,
    Plan,
    State,
    StopReason,
    Subagent,
    Tokens,
    Usage,
)
from accord.model.tool import FINAL, Terminal, ToolCall, ToolContent
from accord.transcript.events import (
    CommandsChanged,
    InfoChanged,
    Media,
    MessageSet,
    OptionsChanged,
    PlanRemoved,
    Role,
    StateChanged,
    SubagentMessage,
    TerminalChanged,
    TerminalOutput,
    Text,
    Thought,
    Unknown,
    UserText,
)
from accord.transcript.message import Message, join
from accord.transcript.snapshot import Snapshot, TimelineItem, take

__all__ = ["TimelineItem", "Transcript"]

TextEvent = Union[Text, Thought, UserText]

_TEXT_EVENTS: dict[Role, type[TextEvent]] = {"agent": Text, "thought": Thought, "user": UserText}


class CallOwners(Protocol):
    """Knows which tool calls belong to earlier turns."""

    def release_call(self, id: str) -> bool:
        """Return whether a new tool call reuses the id of one from an earlier turn, and forget that one if so.

        The specification requires unique ids, but some agents count from 1 in every turn."""


class Transcript:
    """The current state of a session, independent of the protocol version.

    Read the fields, but change them only through the methods (except `replaying` and `owners`)."""

    __slots__ = (
        "_latest",
        "additional_directories",
        "background",
        "commands",
        "compactions",
        "cwd",
        "error",
        "messages",
        "meta",
        "notices",
        "options",
        "owners",
        "plans",
        "replaying",
        "session_id",
        "session_messages",
        "state",
        "stop_reason",
        "subagents",
        "terminals",
        "timeline",
        "title",
        "tokens",
        "tool_calls",
        "unknown",
        "updated_at",
        "usage",
    )

    def __init__(
        self, session_id: str = "", *, cwd: str | None = None, additional_directories: Sequence[str] = ()
    ) -> None:
        self.session_id: str = session_id
        self.cwd: str | None = cwd
        self.additional_directories: list[str] = list(additional_directories)
        self.replaying: bool = False
        """True while the agent replays history: items that start then are marked as replayed."""
        self.owners: CallOwners | None = None
        """Knows the turns of tool calls. The session sets this."""
        self.clear()

    def clear(self) -> None:
        """Forget everything. For a session whose whole history is about to be replayed."""
        self.timeline: list[TimelineItem] = []
        """Messages, tool calls, subagents, compactions and notices, in the order in which they first appeared."""
        self.messages: dict[tuple[Role, str], Message] = {}
        """By role and id: a message and a thought may have the same id."""
        self.tool_calls: dict[str, ToolCall] = {}
        self.terminals: dict[str, Terminal] = {}
        self.plans: dict[str, Plan] = {}
        self.options: list[Option] = []
        self.commands: list[Command] = []
        self.usage: Usage | None = None
        self.title: str | None = None
        self.updated_at: str | None = None
        self.state: State = "unknown"
        self.stop_reason: StopReason | None = None
        """Why the last work ended; None while it runs, or if the agent didn't say."""
        self.error: dict[str, Any] | None = None
        """The error that ended the last work, if any."""
        self.tokens: Tokens | None = None
        """The tokens of the last work, if the agent reported them."""
        self.background: list[Background] | None = None
        """The work outside the turn, as last reported; None if it never was."""
        self.subagents: dict[str, Subagent] = {}
        self.session_messages: dict[str, SubagentMessage] = {}
        """Messages between this session and its subagents."""
        self.notices: list[Notice] = []
        self.compactions: dict[str, Compaction] = {}
        self.unknown: list[Unknown] = []
        """Updates of unknown kinds, whole."""
        self.meta: Meta | None = None
        self._latest: Message | None = None  # the message that a chunk without an id continues; also saves a lookup

    @property
    def text(self) -> str:
        """The agent's text since the last user message."""
        texts: list[str] = []
        for item in reversed(self.timeline):
            if isinstance(item, Message):
                if item.role == "user":
                    break
                if item.role == "agent":
                    texts.append(item.text)
        return "".join(reversed(texts))

    @property
    def has_messages(self) -> bool:
        """Whether there are any messages."""
        return any(isinstance(item, Message) for item in self.timeline)

    def is_background(self, id: str) -> bool:
        """Return whether the agent lists this tool call, terminal or subagent as work outside the turn."""
        return any(work.id == id for work in self.background or ())

    def copy(self) -> Transcript:
        """Copy the containers but not the items, so that another thread can read them while this transcript grows."""
        twin = copy(self)
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, (list, dict)):
                setattr(twin, name, value.copy())
        return twin

    def snapshot(self) -> Snapshot:
        """Copy the whole state. The cost is proportional to the length of the session."""
        return take(self)

    # Messages

    def append_text(self, role: Role, message_id: str | None, text: str) -> TextEvent:
        """Add streamed text to a message.

        Without an id, it continues the latest message if that has the same role and no id either; otherwise it starts
        a new one."""
        message = self._latest
        if message is None or message.given_id != message_id or message.role != role:
            message = self._message(role, message_id)
        message.pieces.append(text)
        return _TEXT_EVENTS[role](text, message.id, self.replaying)

    def append(self, role: Role, message_id: str | None, content: Content) -> TextEvent | Media:
        """Add a block of content to a message, chosen as in `append_text`."""
        if isinstance(content, TextContent) and content.annotations is None and content.meta is None:
            return self.append_text(role, message_id, content.text)
        message = self._latest
        if message is None or message.given_id != message_id or message.role != role:
            message = self._message(role, message_id)
        message.pieces.append(content)
        if isinstance(content, TextContent):
            return _TEXT_EVENTS[role](content.text, message.id, self.replaying)
        return Media(content, role, message.id, self.replaying)

    def set_message(
        self, role: Role, message_id: str, content: list[Content] | UnsetType = UNSET, meta: MetaPatch = UNSET
    ) -> MessageSet:
        """Set a whole message. `content`, if given, replaces everything so far, chunks included."""
        message = self._message(role, message_id)
        # Replace the old pieces with their joined form, so that repeated patches of a long message cost only its
        # blocks.
        message.pieces = join(message.pieces) if isinstance(content, UnsetType) else [*content]
        message.meta = patch_meta(message.meta, meta)
        return MessageSet(role, message_id, message.content, self.replaying)

    def add_message(self, role: Role, content: list[Content], *, place: int | None = None) -> MessageSet:
        """Add a message that the agent didn't send, such as a prompt that it doesn't echo.

        `place` is an index in the timeline; the default is the end. The event gets the list itself."""
        message = self._message(role, None)
        message.pieces = [*content]
        self.end_message()
        if place is not None:
            self.timeline.insert(place, self.timeline.pop())
        return MessageSet(role, message.id, content, self.replaying)

    def end_message(self) -> None:
        """End the current message, so that a chunk without an id starts a new one."""
        self._latest = None

    def withdraw_prompt(self, place: int) -> None:
        """Remove the first user message at or after index `place`: a prompt that the agent never started to handle."""
        for index in range(place, len(self.timeline)):
            item = self.timeline[index]
            if isinstance(item, Message) and item.role == "user":
                del self.timeline[index]
                del self.messages[item.role, item.id]
                if self._latest is item:
                    self._latest = None
                return

    def prepend(self, earlier: Transcript) -> None:
        """Insert the items of an earlier session before this one's, for a session that continues it.

        Does nothing if this session has messages: then the agent has replayed its history. A subagent in both
        transcripts keeps its earlier position, with its current state. Takes time proportional to `earlier`."""
        if earlier is self or self.has_messages:
            return
        above = earlier.snapshot().timeline
        for index, item in enumerate(above):
            if isinstance(item, Subagent) and (known := self.subagents.get(item.session_id)) is not None:
                self.timeline.remove(known)
                above[index] = known
        self.timeline[:0] = above
        for id, terminal in earlier.terminals.items():
            self.terminals.setdefault(id, terminal)

    def _message(self, role: Role, message_id: str | None) -> Message:
        message = None if message_id is None else self.messages.get((role, message_id))
        if message is None:
            id = message_id
            if id is None:
                id = f"~{len(self.timeline)}"
                while (role, id) in self.messages:
                    id = f"~{id}"
            message = Message(role=role, id=id, given_id=message_id, replayed=self.replaying)
            self.messages[role, id] = message
            self.timeline.append(message)
        self._latest = message
        return message

    # Tool calls and terminals

    def patch_tool(
        self, id: str, *, announced: bool = False, meta_patch: MetaPatch = UNSET, **changes: Any
    ) -> ToolCall:
        """Set fields of a tool call. A call that starts may be a new one that reuses an id."""
        return self.change_tool(id, changes, announced=announced, meta_patch=meta_patch)

    def change_tool(
        self, id: str, changes: dict[str, Any], *, announced: bool = False, meta_patch: MetaPatch = UNSET
    ) -> ToolCall:
        """Like `patch_tool`, with the fields in a dict."""
        call = self.tool_calls.get(id) or self._tool_call(id)
        if call.status in FINAL and self.owners is not None:
            begins = announced or changes.get("status", "completed") not in FINAL
            if begins and self.owners.release_call(id):
                del self.tool_calls[id]  # it stays in the timeline
                call = self._tool_call(id)
        patch(call, changes, meta_patch)
        return structs.replace(call)  # half the time of `copy`

    def append_tool_content(self, id: str, content: ToolContent) -> ToolCall:
        """Add one piece to the content of a tool call."""
        call = self._tool_call(id)
        call.content.append(content)
        return copy(call)

    def cancel_open_calls(self, ids: Iterable[str]) -> list[ToolCall]:
        """Mark the unfinished ones of these tool calls as cancelled, locally: later updates still apply.

        Calls that the agent lists as work outside the turn keep running and are left alone."""
        background = {work.id for work in self.background or () if work.kind == "tool_call"}
        return [
            self.patch_tool(call.id, status="cancelled")
            for id in ids
            if (call := self.tool_calls.get(id)) is not None and not call.is_final and id not in background
        ]

    def _tool_call(self, id: str) -> ToolCall:
        call = self.tool_calls.get(id)
        if call is None:
            call = self.tool_calls[id] = ToolCall(id=id, replayed=self.replaying)
            self.timeline.append(call)
        return call

    def patch_terminal(self, id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> TerminalChanged:
        """Set fields of a terminal. `chunks` replaces all output so far."""
        terminal = self._terminal(id)
        patch(terminal, changes, meta_patch)
        return _terminal_changed(terminal)

    def set_terminal(self, terminal: Terminal) -> TerminalChanged:
        """Replace a terminal, for output that the client has and the agent doesn't."""
        self.terminals[terminal.id] = terminal
        return _terminal_changed(terminal)

    def append_output(self, id: str, data: bytes) -> TerminalOutput:
        """Add bytes to the output of a terminal. They may end inside a character."""
        self._terminal(id).chunks.append(data)
        return TerminalOutput(id, data)

    def _terminal(self, id: str) -> Terminal:
        terminal = self.terminals.get(id)
        if terminal is None:
            terminal = self.terminals[id] = Terminal(id=id)
        return terminal

    def patch_compaction(self, id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> Compaction:
        """Set fields of a compaction."""
        compaction = self._compaction(id)
        patch(compaction, changes, meta_patch)
        return copy(compaction)

    def append_summary(self, id: str, content: Content) -> Compaction:
        """Add one piece to the summary of a compaction. A new compaction is in progress."""
        compaction = self._compaction(id)
        compaction.summary.append(content)
        return copy(compaction)

    def _compaction(self, id: str) -> Compaction:
        compaction = self.compactions.get(id)
        if compaction is None:
            compaction = self.compactions[id] = Compaction(id=id)
            self.timeline.append(compaction)
        return compaction

    def add_notice(self, notice: Notice) -> Notice:
        """Add a notice for the user."""
        self.notices.append(notice)
        self.timeline.append(notice)
        return notice

    def add_unknown(self, kind: str, data: dict[str, Any]) -> Unknown:
        """Add an update of an unknown kind."""
        unknown = Unknown(kind, data)
        self.unknown.append(unknown)
        return unknown

    # Plans, options, state

    def set_plan(self, plan: Plan) -> Plan:
        """Add a plan, or replace the one with its id."""
        self.plans[plan.id] = plan
        return plan

    def remove_plan(self, id: str) -> PlanRemoved:
        """Remove a plan, if it exists."""
        self.plans.pop(id, None)
        return PlanRemoved(id)

    def set_options(self, options: list[Option]) -> OptionsChanged:
        """Replace all options."""
        self.options = options
        return OptionsChanged([*options])

    def set_option(self, id: str, value: str | bool) -> OptionsChanged:
        """Set the value of an option, if it exists."""
        return self.set_options([_with_value(option, value) if option.id == id else option for option in self.options])

    def set_commands(self, commands: list[Command]) -> CommandsChanged:
        """Replace all commands."""
        self.commands = commands
        return CommandsChanged([*commands])

    def set_usage(self, usage: Usage) -> Usage:
        """Set the size of the context and the cost."""
        self.usage = usage
        return usage

    def set_info(
        self,
        *,
        title: str | UnsetType | None = UNSET,
        updated_at: str | UnsetType | None = UNSET,
        meta: Meta | UnsetType | None = UNSET,
        meta_patch: MetaPatch = UNSET,
    ) -> InfoChanged:
        """Set the session's fields in lists."""
        if not isinstance(title, UnsetType):
            self.title = title
        if not isinstance(updated_at, UnsetType):
            self.updated_at = updated_at
        if not isinstance(meta, UnsetType):
            self.meta = meta
        self.meta = patch_meta(self.meta, meta_patch)
        return InfoChanged(self.title, self.updated_at)

    def set_state(
        self,
        state: State,
        *,
        stop_reason: StopReason | None = None,
        error: dict[str, Any] | None = None,
        tokens: Tokens | None = None,
        background: list[Background] | None = None,
    ) -> StateChanged:
        """Set the state. Repeating it changes nothing.

        A background of None means that none was reported, so the last one remains valid. The outcome of the last work
        is kept until new work starts: an unknown state, or another idle state without a reason, doesn't clear it."""
        self.state = state
        if state != "idle":
            stop_reason = error = tokens = None  # they describe work that has ended
            if state != "unknown":
                self.stop_reason = self.error = self.tokens = None
        elif stop_reason is not None:
            self.stop_reason = stop_reason
            self.error = error
            self.tokens = tokens
        if background is not None:
            self.background = background
        return StateChanged(state, stop_reason, error, tokens, background)

    def patch_subagent(self, session_id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> Subagent:
        """Set fields of a subagent. A new one is added at the end of the timeline, because the protocol doesn't say
        what started it."""
        subagent = self.subagents.get(session_id)
        if subagent is None:
            subagent = self.subagents[session_id] = Subagent(session_id=session_id)
            self.timeline.append(subagent)
        patch(subagent, changes, meta_patch)
        return copy(subagent)

    def roots_of(self, session_id: str) -> tuple[str | None, list[str]]:
        """Return the working directory and the additional directories of a subagent; each defaults to ours."""
        child = self.subagents.get(session_id)
        cwd = self.cwd if child is None or child.cwd is None else child.cwd
        further = None if child is None else child.additional_directories
        return cwd, [*(self.additional_directories if further is None else further)]

    def set_session_message(
        self,
        message_id: str,
        content: list[Content] | UnsetType = UNSET,
        *,
        meta_patch: MetaPatch = UNSET,
        **data: Any,
    ) -> SubagentMessage:
        """Set a message between sessions. `data` names sender and recipient; None removes a name."""
        message = self._session_message(message_id)
        if not isinstance(content, UnsetType):
            message.content = [*content]
        if not isinstance(meta_patch, UnsetType):
            data["meta"] = patch_meta(message.data.get("meta"), meta_patch)
        message.data = {key: value for key, value in {**message.data, **data}.items() if value is not None}
        return copy(message)

    def append_session_message(self, message_id: str, content: Content) -> SubagentMessage:
        """Add one piece to a message between sessions."""
        message = self._session_message(message_id)
        message.content.append(content)
        return copy(message)

    def messages_with(self, session_id: str) -> list[SubagentMessage]:
        """Return the messages from and to a subagent."""
        return [
            message for message in self.session_messages.values() if session_id in (message.sender, message.recipient)
        ]

    def _session_message(self, id: str) -> SubagentMessage:
        message = self.session_messages.get(id)
        if message is None:
            message = self.session_messages[id] = SubagentMessage(id, [], {})
        return message


def _with_value(option: Option, value: str | bool) -> Option:
    option = copy(option)
    option.value = value
    return option


def _terminal_changed(terminal: Terminal) -> TerminalChanged:
    found = copy(terminal)
    if found.exit is not None:
        # Readers take the output so far from this event. Output that arrives later has its own events: with a shared
        # list a reader that lags behind would get it twice. `output` joins the chunks, so only the first time is slow.
        output = terminal.output
        found.chunks = [output] if output else []
    return TerminalChanged(found)
