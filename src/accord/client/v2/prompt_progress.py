"""Detect when the work for a prompt has ended, in version 2.

A prompt is answered when it becomes part of the conversation; its echo and that response may come in either order. The
end of the work is a state of the session. This class tracks the order of these messages, so that a prompt neither ends
with the work of another one nor waits for an end that has already been reported."""

from __future__ import annotations

from accord.client.turn import Turn


class PromptProgress:
    """Counts the echoes and idle states of one session."""

    def __init__(self) -> None:
        self._idles = 0
        self._sent: dict[int, tuple[int, bool]] = {}  # by turn number: idle states so far, and whether it ran alone
        self._echoes: dict[str, int] = {}  # by message id: idle states so far

    def add_prompt(self, turn: Turn) -> None:
        """Record that a prompt is being sent."""
        self._sent[turn.number] = self._idles, turn.session.open_turns == [turn]

    def add_echo(self, message_id: str) -> None:
        """Record that the agent has echoed a message of the user."""
        self._echoes.setdefault(message_id, self._idles)

    def add_idle(self) -> None:
        """Record that the session has become idle."""
        self._idles += 1

    def has_echo(self, turn: Turn) -> bool:
        """Return whether the agent seems to have echoed this prompt."""
        if turn.message_id is not None:
            return turn.message_id in self._echoes
        return any(idles >= self._sent[turn.number][0] for idles in self._echoes.values())

    def is_over(self, turn: Turn) -> bool:
        """Return whether the work for a prompt had already ended when its response arrived.

        That is so if an idle state came after its echo. If the agent gave the prompt no id, an idle state must have
        come after the prompt was sent to a session without other work."""
        if turn.message_id is not None:
            return self._idles > self._echoes.get(turn.message_id, self._idles)
        idles, alone = self._sent[turn.number]
        return alone and self._idles > idles and self.has_echo(turn)
