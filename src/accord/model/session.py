"""The parts of a session besides messages: plans, options, commands, usage, state, subagents, and list entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Union

from accord.model.content import Content
from accord.model.list_like import ListLike
from accord.model.record import Meta, PublicRecord, Record

StopReason = Union[Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"], str]
"""Why a turn ended. Agents may use other values."""
State = Union[Literal["idle", "running", "requires_action", "unknown"], str]
Priority = Union[Literal["high", "medium", "low"], str]
Severity = Union[Literal["info", "warning", "error"], str]
"""How serious a notice is. Agents may use other values."""
CompactionStatus = Union[Literal["in_progress", "completed", "failed", "cancelled"], str]
Category = Union[Literal["mode", "model", "model_config", "thought_level"], str]
NOT_UNDERSTOOD = "accord/notUnderstood"
"""The `_meta` key with which an agent without a language model reports that it didn't understand a prompt."""
NO_MODEL = "accord/noModel"
"""The `_meta` key of the notice that no language model is configured, for clients that show this in another way."""
ONE_OFF = "accord/oneOff"
"""The `_meta` key with which a client marks a new session as a single run. Session lists include it."""
EntryStatus = Union[Literal["pending", "in_progress", "completed", "cancelled"], str]


class PlanEntry(PublicRecord):
    """One step of a plan."""

    content: str
    priority: Priority = "medium"
    status: EntryStatus = "pending"
    meta: Meta | None = None


class Plan(Record):
    """The agent's plan: steps, Markdown text, or a file that contains it."""

    id: str = "main"
    entries: list[PlanEntry] = []
    markdown: str | None = None
    uri: str | None = None
    other: dict[str, Any] | None = None
    """A plan of an unknown kind, unchanged."""
    meta: Meta | None = None


PlanLike = Union[Plan, ListLike[Union[str, PlanEntry]]]
"""Values accepted as a plan: a whole plan, or its steps as texts or entries."""


class Choice(PublicRecord):
    """One value of an option."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None
    group_name: str | None = None
    meta: Meta | None = None


class Option(PublicRecord):
    """A setting of the session: a mode, a model, an effort. Covers config options, modes and legacy models."""

    id: str
    name: str
    value: str | bool
    choices: list[Choice] = []
    description: str | None = None
    category: Category | None = None
    legacy: Literal["", "modes", "models"] = ""
    """The older v1 feature that it was read from, if it isn't a config option."""
    other: dict[str, Any] | None = None
    """An option of a custom or unknown type, unchanged; `value` is then empty. It can be shown, but not set. Agents
    send one with `other={"type": "_example.org/slider", …}` (version 2)."""
    meta: Meta | None = None

    @property
    def is_boolean(self) -> bool:
        return isinstance(self.value, bool)

    @property
    def is_known(self) -> bool:
        """Whether its type is known, so that it can be set."""
        return self.other is None

    def accepts(self, value: object) -> bool:
        """Return whether it can have this value: a boolean, or one of the choices."""
        if isinstance(self.value, bool):
            return isinstance(value, bool)
        for choice in self.choices:  # noqa: SIM110 - a generator would take three times as long, and every change asks
            if choice.value == value:
                return True
        return False

    @property
    def value_name(self) -> str:
        """The value as shown to users: the name of the choice, `on`, `off`, or `unsupported` if its type is unknown."""
        if self.other is not None:
            return "unsupported"
        if self.is_boolean:
            return "on" if self.value else "off"
        return next((choice.name for choice in self.choices if choice.value == self.value), str(self.value))


def arrange_options(options: Iterable[Option]) -> list[Option]:
    """Return options in display order: the agent's order, but with settings of the model next to the model."""
    arranged = list(options)
    model = next((each for each in arranged if each.category == "model"), None)
    if model is not None:
        settings = [each for each in arranged if each.category == "model_config"]
        arranged = [each for each in arranged if each.category != "model_config"]
        place = next(index for index, each in enumerate(arranged) if each is model) + 1
        arranged[place:place] = settings
    return arranged


class Mode(PublicRecord):
    """A mode of the agent, such as asking, planning or coding."""

    id: str
    name: str
    description: str | None = None
    meta: Meta | None = None


class Command(PublicRecord):
    """A slash command. `hint` describes its argument."""

    name: str
    description: str
    hint: str | None = None
    input: dict[str, Any] | None = None
    """Structured input of a custom or unknown type, unchanged: `{"type": "_example.org/form", …}` (version 2). Version
    1 has text only, so give a `hint` too."""
    other: dict[str, Any] | None = None
    """A command of a custom or unknown type, unchanged (version 2)."""
    meta: Meta | None = None


class Cost(Record):
    """An amount of money, or of another unit such as credits."""

    amount: float
    currency: str
    meta: Meta | None = None


class Usage(Record):
    """The size of the context, and the cost of the session so far."""

    used: int
    size: int
    cost: Cost | None = None
    meta: Meta | None = None


class Tokens(PublicRecord):
    """Token counts of a turn, as the agent reports them."""

    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None
    meta: Meta | None = None


class Notice(PublicRecord):
    """A notice for the user. It has no effect on the session."""

    severity: Severity
    title: str
    description: str | None = None
    meta: Meta | None = None


class Compaction(Record):
    """A compaction of the agent's context."""

    id: str
    status: CompactionStatus = "in_progress"
    summary: list[Content] = []
    error: str | None = None
    meta: Meta | None = None


class Background(Record):
    """Work outside the turn: a terminal, a tool call or a subagent."""

    kind: str
    id: str
    meta: Meta | None = None


class Subagent(PublicRecord):
    """A child session that the agent runs."""

    session_id: str
    title: str | None = None
    description: str | None = None
    cwd: str | None = None
    additional_directories: list[str] | None = None
    state: State | None = None
    stop_reason: StopReason | None = None
    can_cancel: bool = False
    tool_call_id: str | None = None
    meta: Meta | None = None


class SessionInfo(PublicRecord):
    """The entry of a session in a list."""

    id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    additional_directories: list[str] = []
    archived: bool | None = None
    meta: Meta | None = None
