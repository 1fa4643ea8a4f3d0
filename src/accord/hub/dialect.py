"""The differences between the protocol versions that matter to the hub. `v1` and `v2` implement them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

from msgspec import Raw

from accord.hub.event_log import SessionRecord
from accord.hub.raw_params import decode, read_object, write_object
from accord.policy.action import Action
from accord.policy.question import Question


class OpenParams(NamedTuple):
    """The history that a client requests when it opens a session."""

    history: Literal["full", "none", "after"]
    cursor: str = ""


class Usage(NamedTuple):
    """Tokens and costs that a message reports; None if it doesn't."""

    turn_tokens: int | None = None
    context_tokens: int | None = None
    session_cost: float | None = None


class Dialect(ABC):
    """The rules of one version."""

    version: int
    has_queue: bool
    """Whether the hub queues prompts of a busy session; otherwise the agent does."""
    has_files: bool
    """Whether agents may use files and terminals of their client."""

    @abstractmethod
    def offer_capabilities(self, params: dict[str, Raw], *, has_workspace: bool) -> dict[str, Raw]:
        """Change a client's `initialize` params for the agent: `has_workspace` if the hub serves files itself."""

    @abstractmethod
    def extend_capabilities(self, result: dict[str, Raw]) -> dict[str, Raw]:
        """Change the agent's `initialize` result for clients: the hub opens, lists, closes and deletes sessions."""

    @abstractmethod
    def restore_request(self, record: SessionRecord, capabilities: dict[str, Any]) -> tuple[str, bytes] | None:
        """Return the request that opens a session in a new agent process; None if the agent can't do that."""

    @abstractmethod
    def offers(self, result: dict[str, Raw], name: str) -> bool:
        """Return whether the agent has a capability for sessions, by its result of `initialize`."""

    @abstractmethod
    def can_list(self, result: dict[str, Raw]) -> bool:
        """Return whether the agent offers `session/list`, by its result of `initialize`."""

    @abstractmethod
    def adopt_request(self, params: bytes, result: dict[str, Raw]) -> tuple[str, bytes] | None:
        """Return the request that opens a session of the agent with its history; None if the agent can't do that."""

    @abstractmethod
    def describe_status(self, is_open: bool, *, is_busy: bool, is_asked: bool) -> dict[str, Any]:
        """Return the result of `session/status`. `is_asked` is whether a request waits for an answer."""

    @abstractmethod
    def can_close(self, capabilities: dict[str, Any]) -> bool:
        """Return whether the agent offers `session/close`."""

    @abstractmethod
    def can_delete(self, capabilities: dict[str, Any]) -> bool:
        """Return whether the agent offers `session/delete`."""

    @abstractmethod
    def can_archive(self, capabilities: dict[str, Any]) -> bool:
        """Return whether the agent offers `session/archive` and `session/unarchive`."""

    @abstractmethod
    def read_open(self, method: str, params: dict[str, Raw], meta: dict[str, Raw]) -> OpenParams:
        """Read how a client opens a session."""

    @abstractmethod
    def prompt_updates(self, session_id: str, params: dict[str, Raw]) -> list[bytes]:
        """Return the params of the updates that echo a prompt to other clients, if the agent doesn't do that."""

    @abstractmethod
    def end_turn_update(self, session_id: str, message: str) -> bytes | None:
        """Return the params of the update that ends a turn whose agent process has ended; None if the response does
        that."""

    @abstractmethod
    def is_busy_after(self, update: dict[str, Raw]) -> bool | None:
        """Return whether an update reports that the session is working; None if it reports no state."""

    @abstractmethod
    def permission_params(self, session_id: str, question: Question, tool_call_id: str) -> bytes:
        """Return the params of the permission request for a question of the server's policy."""

    def read_usage(self, update: dict[str, Raw], kind: str | None) -> Usage:
        """Read the usage that an update reports."""
        if kind != "usage_update":
            return Usage()
        cost = decode(update.get("cost"))
        amount = cost.get("amount") if isinstance(cost, dict) else None
        used = decode(update.get("used"))
        return Usage(
            context_tokens=used if isinstance(used, int) else None,
            session_cost=float(amount) if isinstance(amount, (int, float)) else None,
        )


def turn_tokens(value: Any) -> int | None:
    """Return the total of a turn's `usage`."""
    total = value.get("totalTokens") if isinstance(value, dict) else None
    return total if isinstance(total, int) else None


def title_of(action: Action) -> str:
    """Describe an action that the agent attempts, in one line."""
    if action.line is not None:
        return f"Run {action.line}"
    what = ", ".join(action.paths) or action.url or action.title
    return f"{action.kind.capitalize()} {what}"


def options_of(question: Question) -> list[dict[str, str]]:
    """Return a question's choices as permission options."""
    return [{"optionId": each.id, "name": each.name, "kind": each.kind} for each in question.choices]


def capabilities_of(holder: dict[str, Raw], name: str) -> dict[str, Raw]:
    """Return an object of capabilities, split."""
    return read_object(holder.get(name, Raw(b"{}")))


def join(fields: dict[str, Any]) -> Raw:
    """Join an object and return it as a raw value."""
    return Raw(write_object(fields))


EMPTY = Raw(b"{}")
