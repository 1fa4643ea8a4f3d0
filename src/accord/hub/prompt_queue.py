"""The prompts of a session: one at a time in version 1, each attributed to the principal that sent it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from accord.connection.relay_connection import Outcome
from accord.hub.agent_process import AgentProcess
from accord.hub.principal import Principal
from accord.hub.reply import Reply
from accord.rpc.envelope import Success

_CANCELLED = b'{"stopReason":"cancelled"}'


class Prompt:
    """A prompt, from a client's request to the agent's response."""

    def __init__(self, params: bytes, principal: Principal, origin: str, reply: Reply) -> None:
        self.params = params
        """The params for the agent."""
        self.principal = principal
        self.origin = origin
        """The client that sent it."""
        self.reply = reply
        self.agent_request: tuple[AgentProcess, int] | None = None
        """The agent process and the request id there, once the prompt has been forwarded."""


class PromptRunner(Protocol):
    """Passes prompts to the agent."""

    def run(self, prompt: Prompt, done: Callable[[Outcome], None]) -> None:
        """Log a prompt, and forward it. Calls `done` with the response."""

    def finish(self, prompt: Prompt, outcome: Outcome) -> None:
        """Called with the response to each prompt."""


class PromptQueue:
    """The running prompts of a session, and those that wait."""

    def __init__(self, runner: PromptRunner, *, one_at_a_time: bool) -> None:
        self.running: list[Prompt] = []
        self.is_held: bool = False
        """Whether queued prompts are held back."""
        self.last: Prompt | None = None
        """The prompt that was started last."""
        self._runner = runner
        self._one_at_a_time = one_at_a_time
        self._queued: list[Prompt] = []  # a hundred at most; most sessions have none

    def __len__(self) -> int:
        return len(self.running) + len(self._queued)

    @property
    def queued_bytes(self) -> int:
        """The size of the prompts that wait."""
        return sum(len(prompt.params) for prompt in self._queued)

    def count(self, principal: str) -> int:
        """Return how many prompts of a principal run or wait."""
        return sum(prompt.principal.name == principal for prompt in (*self.running, *self._queued))

    def add(self, prompt: Prompt) -> None:
        """Run a prompt, or queue it while another one runs."""
        prompt.reply.on_cancel = lambda: self.cancel_one(prompt)
        self._queued.append(prompt)
        self.start_next()

    def start_next(self) -> None:
        """Start queued prompts, if none is running."""
        while self._queued and not self.is_held and not (self._one_at_a_time and self.running):
            prompt = self._queued.pop(0)
            self.running.append(prompt)
            self.last = prompt
            self._runner.run(prompt, partial(self._finish, prompt))

    def _finish(self, prompt: Prompt, outcome: Outcome) -> None:
        if prompt in self.running:
            self.running.remove(prompt)
            self._runner.finish(prompt, outcome)
            prompt.reply.finish(outcome)
            self.start_next()

    def cancel_one(self, prompt: Prompt) -> None:
        """Cancel a prompt whose client sent `$/cancel_request`."""
        if prompt in self._queued:
            self._queued.remove(prompt)
            prompt.reply.finish(Success(None, _CANCELLED))
        elif prompt.agent_request is not None:
            process, id = prompt.agent_request
            process.connection.cancel(id)
        else:  # it waits for its agent process
            self._finish(prompt, Success(None, _CANCELLED))

    def drop_unsent(self) -> None:
        """Answer running prompts that still wait for their agent process as cancelled."""
        for prompt in [each for each in self.running if each.agent_request is None]:
            self._finish(prompt, Success(None, _CANCELLED))

    def end(self, outcome: Outcome) -> None:
        """Answer every prompt with this outcome, and start no others."""
        self.is_held = True
        for prompt in (*self.running, *self._queued):
            prompt.reply.finish(outcome)
        self.running.clear()
        self._queued.clear()

    def drop_queued(self, origin: str | None = None) -> None:
        """Answer queued prompts as cancelled: those of one client, or all."""
        for prompt in [each for each in self._queued if origin is None or each.origin == origin]:
            self._queued.remove(prompt)
            prompt.reply.finish(Success(None, _CANCELLED))
