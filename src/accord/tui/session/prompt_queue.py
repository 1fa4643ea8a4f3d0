"""Prompts that aren't in the transcript yet: those waiting to be sent, and those sent but not accepted by the agent.

No typed text is lost on the way. A prompt leaves the queue when it is sent, and is held here until it is part of the
transcript. A prompt the agent doesn't accept returns to the queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from accord.client.turn import Turn

GRACE_SECONDS = 0.5
"""How long an agent may take to accept an ordinary prompt before the prompt is shown as pending."""

_numbers = count()


@dataclass(eq=False)
class Prompt:
    """A prompt to be sent, or on its way. Files and images are mentioned in its text."""

    text: str
    turn: Turn | None = None
    """Its turn, once it was sent."""
    steers: bool = False
    """Whether it was sent into a turn that was already running."""
    is_accepted: bool = False
    """Whether it is part of the transcript."""
    withdrawal: Literal["", "edit", "discard"] = ""
    """The user's request to get it back after it was sent, to edit or to discard it."""

    def __post_init__(self) -> None:
        self.number: int = next(_numbers)
        self.sent_at: float = 0.0
        self.timeline_start = 0
        """The length of the timeline when it was sent: a message echoed before that isn't this prompt."""

    @property
    def is_overdue(self) -> bool:
        """Whether the user should see that the agent hasn't accepted it."""
        return self.steers or time.monotonic() - self.sent_at >= GRACE_SECONDS


class PromptQueue:
    """The pending prompts of one session, in order."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.waiting: list[Prompt] = []
        self.sent: list[Prompt] = []
        """Prompts that were sent and aren't known to be part of the transcript."""
        self.is_on_hold: bool = False
        """Whether the user has to release the queue, because of something that happened since."""
        self.on_returned: Callable[[Prompt], None] | None = None
        """Receives a prompt to edit: one that can't be sent as it is, or that the user took back."""
        self._on_change = on_change

    @property
    def pending(self) -> list[Prompt]:
        """The prompts to show as pending: sent ones that are overdue, then the waiting ones."""
        return [*(prompt for prompt in self.sent if prompt.is_overdue), *self.waiting]

    @property
    def unsent(self) -> list[str]:
        """The texts that would be lost if the client ended now."""
        return [prompt.text for prompt in [*self.sent, *self.waiting] if prompt.withdrawal != "discard"]

    @property
    def hold_notice(self) -> str:
        """Tell the user that the queue is on hold, if it is."""
        if not self.is_on_hold or not self.waiting:
            return ""
        count = len(self.waiting)
        which = "The queued prompt is" if count == 1 else f"The {count} queued prompts are"
        return f"{which} on hold. Enter in an empty prompt sends, f6 selects."

    def add(self, prompt: Prompt, *, first: bool = False) -> None:
        self.waiting.insert(0 if first else len(self.waiting), prompt)

    def restore(self, texts: Iterable[str]) -> None:
        """Queue prompts that an earlier client left behind, before all others and on hold."""
        prompts = [Prompt(text) for text in texts]
        if prompts:
            self.waiting[:0] = prompts
            self.is_on_hold = True
            self._on_change()

    def take_over(self, other: PromptQueue, *, is_on_hold: bool) -> None:
        """Take every pending prompt from the queue of a session that this one continues."""
        for prompt in list(other.sent):
            other.requeue(prompt)
        self.waiting, other.waiting = other.waiting, []
        self.is_on_hold = is_on_hold

    def take_back(self, prompt: Prompt, *, discard: bool = False) -> bool:
        """Remove a pending prompt from the queue, or withdraw it from the agent, to edit or discard it.

        Return False if the agent has already accepted it. A withdrawn prompt returns when the agent confirms."""
        if prompt in self.waiting:
            self.waiting.remove(prompt)
            if not discard:
                self.give_back(prompt)
        elif prompt in self.sent and prompt.turn is not None and prompt.turn.withdraw():
            prompt.withdrawal = "discard" if discard else "edit"
        else:
            return False
        self._on_change()
        return True

    def give_back(self, prompt: Prompt) -> None:
        """Hand a prompt to the user for editing."""
        if prompt in self.sent:
            self.sent.remove(prompt)
        if self.on_returned is not None:
            self.on_returned(prompt)

    def requeue(self, prompt: Prompt) -> None:
        """Queue a sent prompt again, before everything that was typed after it."""
        if prompt not in self.sent:
            return
        self.sent.remove(prompt)
        if prompt.withdrawal != "discard":
            later = (place for place, each in enumerate(self.waiting) if each.number > prompt.number)
            self.waiting.insert(next(later, len(self.waiting)), prompt)
        prompt.turn, prompt.withdrawal = None, ""
