"""Prompts that are not part of the conversation: those that wait, and those that were sent and not taken yet.

Nothing that was typed is lost on the way. A prompt leaves the queue when it is sent, and is held here until it is part
of the conversation; one that the agent did not take comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.client.turn import Turn
    from accord.tui.link import Link

GRACE = 0.5
"""Seconds that an agent may take for an ordinary prompt before it is shown that it has not taken it."""

_numbers = count()


@dataclass(eq=False)
class Prompt:
    """Something to be sent, or on its way. Files and pictures are mentioned in it."""

    text: str
    turn: Turn | None = None
    """Its turn, once it was sent."""
    steers: bool = False
    """Whether it was sent into a turn that was running."""
    taken: bool = False
    """Whether it is part of the conversation."""
    wanted: Literal["", "back", "away"] = ""
    """What the user wants with it, though it was sent: to have it back, or to be rid of it."""

    def __post_init__(self) -> None:
        self.number = next(_numbers)
        self.since = 0.0
        self.place = 0
        """How much had been said when it was sent: what the agent repeats before that is not this one."""

    @property
    def is_late(self) -> bool:
        """Whether the user should see that the agent has not taken it."""
        return self.steers or time.monotonic() - self.since >= GRACE


class Pending:
    """The part of a talk that keeps prompts until the agent has them."""

    def __init__(self, link: Link, on_change: Callable[[], None]) -> None:
        self.link = link
        self.session: Session | None = None
        self.on_change = on_change
        self.on_unsent: Callable[[Prompt], None] | None = None
        """Gets a prompt that cannot be sent as it is, or that the user wants back, to be changed."""
        self.queue: list[Prompt] = []
        self.sent: list[Prompt] = []
        """Prompts that left the queue and are not known to be part of the conversation."""
        self.on_hold = False
        """Whether the queue waits for the user: what happened since is a reason to look at it first."""

    @property
    def pending(self) -> list[Prompt]:
        """Everything to be shown that is not part of the conversation: what was sent and not taken, then the queue."""
        return [*(prompt for prompt in self.sent if prompt.is_late), *self.queue]

    @property
    def unsent(self) -> list[str]:
        """What would be lost if all this ended now."""
        return [prompt.text for prompt in [*self.sent, *self.queue] if prompt.wanted != "away"]

    @property
    def held_words(self) -> str:
        """Says that the queue is on hold, if it is."""
        if not self.on_hold or not self.queue:
            return ""
        those = "The prompt that waits is" if len(self.queue) == 1 else f"The {len(self.queue)} prompts that wait are"
        return f"{those} on hold: enter in an empty prompt sends what waits, f6 selects"

    def wait_with(self, texts: Iterable[str]) -> None:
        """Prompts that waited when their client ended wait here, before others, and are not sent unasked."""
        prompts = [Prompt(text) for text in texts]
        if prompts:
            self.queue[:0] = prompts
            self.on_hold = True
            self.on_change()

    def take_back(self, prompt: Prompt, *, away: bool = False) -> bool:
        """Takes a prompt that is pending out of the queue, or back from the agent; then it comes, or goes, later.
        Gives False when it is the agent's by now."""
        if prompt in self.queue:
            self.queue.remove(prompt)
            if not away and self.on_unsent is not None:
                self.on_unsent(prompt)
        elif prompt in self.sent and prompt.turn is not None and prompt.turn.withdraw():
            prompt.wanted = "away" if away else "back"
        else:
            return False
        self.on_change()
        return True

    def take_all(self) -> list[Prompt]:
        """Hands over everything that is not part of the conversation, to be sent by another talk."""
        for prompt in list(self.sent):
            self._came_back(prompt)
        queue, self.queue = self.queue, []
        return queue

    def _came_back(self, prompt: Prompt) -> None:
        """A prompt that was sent waits again, before whatever was typed after it."""
        if prompt not in self.sent:
            return
        self.sent.remove(prompt)
        if prompt.wanted != "away":
            later = (place for place, each in enumerate(self.queue) if each.number > prompt.number)
            self.queue.insert(next(later, len(self.queue)), prompt)
        prompt.turn, prompt.wanted = None, ""
