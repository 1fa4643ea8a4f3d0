"""The turns that the messages and tool calls of a session belong to."""

from __future__ import annotations

from accord.model.tool import ToolCall
from accord.transcript.events import Event, Media, MessageSet, Text, Thought, UserText

_MESSAGE_EVENTS = (Text, Thought, UserText, Media, MessageSet)
OWNED = frozenset({ToolCall, *_MESSAGE_EVENTS})
"""Events about items that belong to the turn in which they first appeared."""


class ItemOwners:
    """Records the turn in which each item first appeared. Turns are numbered from 1.

    A transcript asks it about reused ids and may outlive the session, for example on the screen after the agent was
    restarted, so it refers to nothing else."""

    __slots__ = ("_message", "_message_turn", "_turns", "running", "streaming")

    def __init__(self) -> None:
        self.running: int = 0
        """The number of the running turn; 0 if there is none. `set_running` changes it."""
        self.streaming: str | None = None
        """The id of the message with the latest event, if it belongs to the running turn."""
        self._turns: dict[str, int] = {}
        self._message: str | None = None
        self._message_turn = 0

    def set_running(self, number: int) -> None:
        """Set the running turn."""
        self.running = number
        self.streaming = None

    def find(self, event: Event) -> int:
        """Return the number of the turn that an event belongs to. Late updates of a message or tool call belong to the
        turn in which it first appeared; everything else belongs to the running turn."""
        if type(event) is ToolCall:
            return self._turns.setdefault(event.id, self.running)
        if isinstance(event, _MESSAGE_EVENTS) and event.message_id is not None:
            id = event.message_id
            if id != self._message:
                self._message = id
                self._message_turn = self._turns.setdefault(f"message {id}", self.running)
                self.streaming = id if self.running and self._message_turn == self.running else None
            return self._message_turn
        return self.running

    def find_message(self, id: str) -> int | None:
        """Return the number of the turn in which a message first appeared."""
        return self._turns.get(f"message {id}")

    def clear(self) -> None:
        """Forget all items: the history is about to be replayed."""
        self._turns.clear()
        self._message = self.streaming = None

    def assign_message(self, id: str) -> None:
        """Let a replayed message belong to the running turn."""
        self._turns[f"message {id}"] = self.running

    def assign_call(self, id: str) -> None:
        """Let a replayed tool call belong to the running turn."""
        self._turns[id] = self.running

    def release_call(self, id: str) -> bool:
        """Return whether a new tool call reuses the id of one from an earlier turn, and forget that one if so."""
        if not self.running or self._turns.get(id) == self.running:
            return False
        self._turns.pop(id, None)
        return True
