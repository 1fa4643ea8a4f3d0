"""The state that the parts of one open session share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from accord.model.session import Notice
from accord.transcript.timing import Timing
from accord.tui.errors import report_bug

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.transcript.transcript import Transcript
    from accord.tui.agent.process import AgentProcess
    from accord.tui.session.previous import PreviousSession
    from accord.tui.transcript.blocks.factory import Key


class SessionContext:
    """The agent process, the session once it is open, what has changed since the last frame, and background tasks."""

    def __init__(self, process: AgentProcess, on_change: Callable[[], None]) -> None:
        self.process = process
        self.session: Session | None = None
        self.previous: PreviousSession | None = None
        """The session that this one continues, if its agent died."""
        self.on_change = on_change
        self.changed: set[Key] = set()
        """Transcript items that changed since the last frame."""
        self.on_usage: Callable[[], None] = lambda: None
        """Called when the agent may have used more: with each report, and when a turn begins or ends."""
        self.timing: Timing = Timing()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def transcript(self) -> Transcript | None:
        """The transcript, even if the agent has exited."""
        if self.session is not None:
            return self.session.transcript
        return self.previous.transcript if self.previous is not None else None

    def mark_changed(self, *keys: Key) -> None:
        """Draw these items again with the next frame."""
        self.changed.update(keys)
        self.on_change()

    def say(self, severity: str, title: str, description: str | None = None) -> None:
        """Show the user a notice in the transcript."""
        if self.session is not None:
            self.session.transcript.add_notice(Notice(severity=severity, title=title, description=description or None))
        self.on_change()

    def report_bug(self, error: BaseException) -> None:
        """Show an unexpected exception as a notice; everything else continues."""
        self.say("error", "Something went wrong here", report_bug(error))

    # -- tasks

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine in the background until the session is closed."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.report_bug(error)

    def cancel_tasks(self) -> None:
        """Cancel everything that still runs in the background."""
        for task in list(self._tasks):
            task.cancel()
