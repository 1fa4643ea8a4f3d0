"""When the work for a prompt is over, in version 2.

A prompt is answered when it becomes part of the conversation, and its echo and that answer may come in either order;
the end of the work is a state of the session. This counts what came when, so that no prompt ends by the end of another
and none waits for an end that has come already."""

from __future__ import annotations

from accord.client.turn import Turn


class Waiting:
    """What one session has told about its prompts."""

    def __init__(self) -> None:
        self._idles = 0
        self._sent: dict[int, tuple[int, bool]] = {}  # by number of the turn: idles so far, and whether it was alone
        self._echoes: dict[str, int] = {}  # by message: idles so far

    def sent(self, turn: Turn) -> None:
        """A prompt leaves."""
        self._sent[turn.number] = self._idles, turn.session.open_turns == [turn]

    def echoed(self, message_id: str) -> None:
        """The agent repeats what a user said."""
        self._echoes.setdefault(message_id, self._idles)

    def idle(self) -> None:
        """The session's work is over."""
        self._idles += 1

    def has_echo(self, turn: Turn) -> bool:
        """Whether the agent has repeated this prompt, as far as can be told."""
        if turn.message_id is not None:
            return turn.message_id in self._echoes
        return any(idles >= self._sent[turn.number][0] for idles in self._echoes.values())

    def is_over(self, turn: Turn) -> bool:
        """Whether the work for a prompt that is answered only now has ended already: after its echo, or, where the
        agent gave it no name, after it was sent to a session that had nothing else to do."""
        if turn.message_id is not None:
            return self._idles > self._echoes.get(turn.message_id, self._idles)
        idles, alone = self._sent[turn.number]
        return alone and self._idles > idles and self.has_echo(turn)
