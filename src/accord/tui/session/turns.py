"""The turns of a session: send prompts, follow which of them the agent accepts, and report how each turn ended.

In version 1 a prompt is part of the transcript at once, in version 2 when the agent confirms it. Until then it stays
in the `PromptQueue`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accord.transcript.message import Message
from accord.tui.errors import explain, report_bug
from accord.tui.session.login_problem import LoginProblem
from accord.tui.session.prompt_queue import GRACE_SECONDS, Prompt, PromptQueue

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.errors import AuthRequired
    from accord.tui.session.checkpoints import TurnCheckpoints
    from accord.tui.session.context import SessionContext

STOP_REASONS = {
    "cancelled": ("info", "Cancelled"),
    "refusal": ("warning", "The agent refused to continue"),
    "max_tokens": ("warning", "The agent ran out of tokens before it finished"),
    "max_turn_requests": ("warning", "The agent hit its request limit for this turn"),
}
STUCK_SECONDS = 4.0
"""How long an agent may keep running after a cancellation before it counts as stuck."""


class Turns:
    """Sends the queued prompts of a session, one turn after another, and reports how each turn ended."""

    def __init__(self, context: SessionContext, queue: PromptQueue, checkpoints: TurnCheckpoints) -> None:
        self.queue = queue
        self.on_turn_end: Callable[[Turn], None] | None = None
        self.on_login_problem: Callable[[LoginProblem], bool] = lambda problem: False
        """Offers the user actions for a missing login; returns whether it did."""
        self.died_at_work: bool = False
        """Whether the agent exited in the middle of a turn, which may be the cause."""
        self.turn_began: float = 0.0
        self.tokens_used: int = 0
        """The tokens of all turns that have ended, if the agent reports them."""
        self.is_cancelling: bool = False
        self._context = context
        self._checkpoints = checkpoints
        self._turn: Turn | None = None
        self._running: list[Prompt] = []
        self._cancelled_at = 0.0
        self._sending = asyncio.Lock()
        """Prompts are prepared one at a time, so that they arrive in the order in which they were typed."""

    @property
    def is_stuck(self) -> bool:
        """Whether the agent was asked to stop and hasn't for a while."""
        return self.is_cancelling and time.monotonic() - self._cancelled_at > STUCK_SECONDS

    @property
    def is_lost(self) -> bool:
        """Whether the session is over although its agent runs: a login restarted it, and the new process doesn't know
        the session."""
        session = self._context.session
        return session is not None and session.closed and session.failure is not None and self._context.process.is_open

    # -- sending

    def send(self, prompt: Prompt) -> None:
        """Send a prompt, or queue it while a turn runs or there is no session. Releases the queue behind it."""
        session = self._context.session
        is_first = self.queue.is_on_hold and session is not None and not session.busy
        self.queue.is_on_hold = False
        self.queue.add(prompt, first=is_first)
        self.send_next()
        self._context.on_change()

    def steer(self, prompt: Prompt) -> None:
        """Send a prompt into the running turn if the protocol supports that; otherwise cancel the turn first."""
        session = self._context.session
        if session is None or not session.busy:
            self.send(prompt)
        elif session.one_turn_at_a_time:
            self.queue.is_on_hold = False
            self.queue.add(prompt, first=True)
            self._context.run(self.cancel())
        else:
            prompt.steers = True
            self._start(prompt)
        self._context.on_change()

    def hold(self) -> None:
        """Hold the queue because the user stopped the turn that the queued prompts were meant to follow."""
        self.queue.is_on_hold = self.queue.is_on_hold or bool(self.queue.waiting)

    def release(self) -> None:
        """Release the queue: the user has seen that it was on hold."""
        self.queue.is_on_hold = False
        self.send_next()
        self._context.on_change()

    def send_next(self) -> None:
        """Start the next queued prompt if nothing prevents it. Without an agent the queue waits for a restart."""
        session, queue = self._context.session, self.queue
        if not queue.waiting:
            queue.is_on_hold = False
        if session is None or session.closed or session.busy or not self._context.process.is_open:
            return
        if queue.waiting and not queue.is_on_hold and not any(prompt.turn is None for prompt in queue.sent):
            self._start(queue.waiting.pop(0))

    def _start(self, prompt: Prompt) -> None:
        prompt.sent_at = time.monotonic()
        self.queue.sent.append(prompt)
        if self._context.session is not None:
            self._context.process.empty_sessions.ids.discard(self._context.session.id)
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._context.on_change)
        self._context.run(self._send(prompt))

    async def _send(self, prompt: Prompt) -> None:
        from accord.errors import AccordError, ConnectionClosed

        session = self._context.session
        assert session is not None
        was_busy = session.busy
        try:
            async with self._sending:
                await self._checkpoints.begin_turn(prompt.text[:80])
                content = await self._read_content(prompt.text)
                prompt.timeline_start = len(session.transcript.timeline)
                turn = prompt.turn = session.prompt(*content)
        except ConnectionClosed:  # the reason is shown when the listener ends
            self.queue.requeue(prompt)
            self._context.on_change()
            return
        except Exception as error:
            reason = explain(error) if isinstance(error, (AccordError, OSError)) else report_bug(error)
            self._context.say("error", "This prompt couldn't be sent", reason)
            self.queue.give_back(prompt)
            self.send_next()
            return
        if session.one_turn_at_a_time:
            self._accept(prompt)
        else:
            turn.on_inserted = lambda: self._accept(prompt)
        self._turn = turn
        if not was_busy:
            self.turn_began = time.monotonic()
            self.is_cancelling = False
        self._running.append(prompt)
        self._context.run(self._wait(prompt, turn))
        self._context.on_usage()
        self._context.on_change()

    async def _read_content(self, text: str) -> list[Any]:
        """Turn a prompt into content blocks. Mentioned files are read in a thread, so that no key has to wait."""
        process = self._context.process
        assert process.agent is not None
        offers = process.agent.offers
        if "@" not in text:
            return process.host.content(text, (), offers)
        return await asyncio.to_thread(process.host.content, text, (), offers)

    # -- following sent prompts

    def _accept(self, prompt: Prompt) -> None:
        """Mark a prompt as part of the transcript."""
        if prompt not in self.queue.sent:
            return
        self.queue.sent.remove(prompt)
        prompt.is_accepted = True
        if prompt.withdrawal:
            self._context.say("info", "Too late to withdraw a prompt: the agent has it")
        self._context.on_change()

    def match_echo(self, message_id: str | None) -> None:
        """Accept the sent prompt that the agent echoes as a user message, which may come before its response."""
        session, sent = self._context.session, self.queue.sent
        if not sent or session is None:
            return
        timeline = session.transcript.timeline
        for place in range(len(timeline) - 1, min(prompt.timeline_start for prompt in sent) - 1, -1):
            item = timeline[place]
            if isinstance(item, Message) and item.role == "user" and message_id in (None, item.id):
                text = item.text.strip()
                candidates = (each for each in sent if each.turn and each.timeline_start <= place)
                if (echoed := next((each for each in candidates if text.startswith(each.text)), None)) is not None:
                    self._accept(echoed)
                return

    async def _wait(self, prompt: Prompt, turn: Turn) -> None:
        from accord.errors import AccordError, AuthRequired, ConnectionClosed

        try:
            await turn
        except ConnectionClosed:  # shown once, with the reason, when the listener ends
            if self.is_lost:
                return
            self.died_at_work = True
            self.queue.requeue(prompt)
        except AuthRequired as error:
            self._report_missing_login(prompt, error)
        except Exception as error:
            reason = explain(error) if isinstance(error, AccordError) else report_bug(error)
            self._context.say("error", "The turn failed", reason)
            if prompt in self.queue.sent:
                self.queue.give_back(prompt)
        else:
            self._end(prompt, turn)
        self._running = [each for each in self._running if each is not prompt]
        self.tokens_used += turn.tokens.total if turn.tokens is not None else 0
        self._context.on_usage()
        session = self._context.session
        self.is_cancelling = self.is_cancelling and session is not None and session.busy
        if self.on_turn_end is not None and (prompt.is_accepted or turn.error is not None):
            self.on_turn_end(turn)
        self.send_next()
        self._context.on_change()

    def _report_missing_login(self, prompt: Prompt, error: AuthRequired) -> None:
        """Report that a login is missing. The prompt goes back to the editor; queued prompts would fail too."""
        from accord.config.redaction import redact_text

        self.queue.give_back(prompt)
        self.queue.is_on_hold = bool(self.queue.waiting)
        problem = LoginProblem.of(error)
        is_offered = bool(problem.reason) and self.on_login_problem(problem)
        title = problem.reason or "You are not logged in"
        if is_offered:
            details = ["Your prompt is back in the input.", self.queue.hold_notice]
        else:
            advice = "Log in with /login, then send your prompt again."
            details = [explain(error), advice, self.queue.hold_notice]
        self._context.say("error", redact_text(title), "\n".join(filter(None, details)))

    def withdraw_unanswered(self) -> None:
        """Remove prompts that the agent accepted but didn't begin from the transcript and requeue them."""
        session = self._context.session
        assert session is not None
        for prompt in self._running:
            if prompt.turn is None or prompt.turn.has_output:
                self.died_at_work = True  # don't repeat work without the user's consent
                continue
            if prompt.is_accepted:
                session.transcript.withdraw_prompt(prompt.timeline_start)
            if prompt not in self.queue.sent:
                self.queue.sent.append(prompt)
            prompt.is_accepted = False
        self._running.clear()

    def _end(self, prompt: Prompt, turn: Turn) -> None:
        if prompt in self.queue.sent and turn.stop_reason == "cancelled":
            self._return_rejected(prompt)
            return
        self._accept(prompt)
        if turn.stop_reason != "end_turn":
            default = ("info", f"The turn ended: {turn.stop_reason}")
            self._context.say(*STOP_REASONS.get(str(turn.stop_reason), default))

    def _return_rejected(self, prompt: Prompt) -> None:
        """Requeue a prompt that the agent rejected, or hand one that the user withdrew back to the editor."""
        if prompt.withdrawal == "edit":
            self.queue.give_back(prompt)
        elif prompt.withdrawal:
            self.queue.sent.remove(prompt)
        else:
            self.queue.requeue(prompt)
            self.queue.is_on_hold = True  # sending it again at once might loop forever
            self._context.say("info", "The agent didn't accept a prompt; it is queued again", self.queue.hold_notice)

    async def cancel(self) -> None:
        """Cancel the running turn. Queued prompts stay."""
        session = self._context.session
        if session is not None and session.busy and self._turn is not None:
            self.is_cancelling = True
            self._cancelled_at = time.monotonic()
            await session.cancel()
        self._context.on_change()
