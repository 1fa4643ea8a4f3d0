"""The verbs that tell about the session: plans, options, commands, usage, title, state, subagents."""

from __future__ import annotations

from copy import copy
from typing import Any

from msgspec import UNSET, UnsetType

from accord.model.content import Content
from accord.model.noun import Meta
from accord.model.session import (
    Background,
    Command,
    Option,
    Plan,
    State,
    StopReason,
    Subagent,
    Tokens,
    Usage,
)
from accord.transcript.events import (
    CommandsChanged,
    InfoChanged,
    OptionsChanged,
    PlanRemoved,
    StateChanged,
    SubagentMessage,
)
from accord.transcript.fields import Fields, MetaPatch, patch, patched_meta


class About(Fields):
    """What is known of a session besides its conversation."""

    __slots__ = ()

    def set_plan(self, plan: Plan) -> Plan:
        """Shows a plan in place of the one with its id."""
        self.plans[plan.id] = plan
        return plan

    def remove_plan(self, id: str) -> PlanRemoved:
        """Takes a plan away, if it is there."""
        self.plans.pop(id, None)
        return PlanRemoved(id)

    def set_options(self, options: list[Option]) -> OptionsChanged:
        """Replaces all options."""
        self.options = options
        return OptionsChanged([*options])

    def set_option(self, id: str, value: str | bool) -> OptionsChanged:
        """Gives one option another value, if there is such an option."""
        return self.set_options([_with_value(option, value) if option.id == id else option for option in self.options])

    def set_commands(self, commands: list[Command]) -> CommandsChanged:
        """Replaces all commands."""
        self.commands = commands
        return CommandsChanged([*commands])

    def set_usage(self, usage: Usage) -> Usage:
        """Tells anew how full the context is, and the cost."""
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
        """Changes what a listing would show of the session."""
        if not isinstance(title, UnsetType):
            self.title = title
        if not isinstance(updated_at, UnsetType):
            self.updated_at = updated_at
        if not isinstance(meta, UnsetType):
            self.meta = meta
        self.meta = patched_meta(self.meta, meta_patch)
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
        """Takes a snapshot of the state. Saying the same again changes nothing.

        A background of None says that none was reported, so the last one stands. How the last work ended stays known
        until new work begins: a state that is not known, or idle once more without a reason, does not undo it."""
        self.state = state
        if state != "idle":
            stop_reason = error = tokens = None  # they speak of work that has ended
            if state != "unknown":
                self.stop_reason = self.error = self.tokens = None
        elif stop_reason is not None:
            self.stop_reason, self.error, self.tokens = stop_reason, error, tokens
        if background is not None:
            self.background = background
        return StateChanged(state, stop_reason, error, tokens, background)

    def patch_subagent(self, session_id: str, *, meta_patch: MetaPatch = UNSET, **changes: Any) -> Subagent:
        """Sets fields of a subagent, which is made when its session is first heard of."""
        subagent = self.subagents.get(session_id)
        if subagent is None:
            subagent = self.subagents[session_id] = Subagent(session_id=session_id)
            self.subagents_after[session_id] = self.timeline[-1] if self.timeline else None
        patch(subagent, changes, meta_patch)
        return copy(subagent)

    def roots_of(self, session_id: str) -> tuple[str | None, list[str]]:
        """The working directory and the further directories of a subagent: its own or else ours, each for itself."""
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
        """Sets what one session said to another. `data` names sender and recipient; None takes a name away."""
        message = self._session_message(message_id)
        if not isinstance(content, UnsetType):
            message.content = [*content]
        if not isinstance(meta_patch, UnsetType):
            data["meta"] = patched_meta(message.data.get("meta"), meta_patch)
        message.data = {key: value for key, value in {**message.data, **data}.items() if value is not None}
        return copy(message)

    def append_session_message(self, message_id: str, content: Content) -> SubagentMessage:
        """Adds one piece to what one session says to another."""
        message = self._session_message(message_id)
        message.content.append(content)
        return copy(message)

    def _session_message(self, id: str) -> SubagentMessage:
        message = self.session_messages.get(id)
        if message is None:
            message = self.session_messages[id] = SubagentMessage(id, [], {})
        return message


def _with_value(option: Option, value: str | bool) -> Option:
    option = copy(option)
    option.value = value
    return option
