"""Actions that wait for the next commit of the event log, so that everything is durable before it is sent."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from accord.errors import StoreFailed
from accord.hub.event_log import EventLog

log: logging.Logger = logging.getLogger("accord")

RETRY_SECONDS = 1.0
"""How long to wait after a failed commit before trying again."""

Action = Callable[[Any], object]


class CommitQueue:
    """Commits once per iteration of the event loop, then runs the waiting actions in order.

    One commit covers all messages that arrived together, across all sessions."""

    def __init__(self, log: EventLog) -> None:
        self.error: StoreFailed | None = None
        """Why the last commit failed; None if it succeeded."""
        self.on_stalled: Callable[[bool], None] = lambda is_stalled: None
        """Called with True when saving fails, and with False when it works again."""
        self._log = log
        self._actions: deque[tuple[Action, Any]] = deque()
        self._is_dirty = False
        self._is_running = False
        self._scheduled: asyncio.Handle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def touch(self) -> None:
        """Schedule a commit: something was written to the log."""
        self._is_dirty = True
        if self._scheduled is None:
            self._schedule()

    def then(self, action: Action, value: Any = None) -> None:
        """Call `action(value)` once all earlier writes are durable, after earlier actions."""
        if self._is_dirty or self._actions or self._is_running:
            self._actions.append((action, value))
            if self._scheduled is None:
                self._schedule()
        else:
            action(value)

    def _schedule(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()  # asking each time costs a system call in Python 3.11
        self._scheduled = self._loop.call_soon(self._commit_scheduled)

    def commit(self) -> None:
        """Commit now and run the waiting actions. Raises `StoreFailed`."""
        while self._is_dirty or (self._actions and not self._is_running):
            if self._is_dirty:
                self._save()
            if self._is_running:  # called by an action: later actions run when it returns
                return
            self._run(len(self._actions))

    def _save(self) -> None:
        try:
            self._log.commit()
        except StoreFailed as error:
            if self.error is None:
                log.error("the event log can't be written: %s", error)
                self.on_stalled(True)
            self.error = error
            self._retry()
            raise
        if self.error is not None:
            self.error = None
            self.on_stalled(False)
        self._is_dirty = False

    def _run(self, count: int) -> None:
        """Run the actions that waited for the last commit. Actions that they add may depend on the next one."""
        self._is_running = True
        try:
            for _ in range(count):
                action, value = self._actions.popleft()
                try:
                    action(value)
                except Exception as error:  # one client's problem must not affect the others
                    log.error("a message couldn't be passed on", exc_info=error)
        finally:
            self._is_running = False

    def _retry(self) -> None:
        if self._scheduled is not None:
            self._scheduled.cancel()
        self._scheduled = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._commit_scheduled)

    def _commit_scheduled(self) -> None:
        self._scheduled = None
        with suppress(StoreFailed):  # it is logged, stored in `error`, and retried
            self.commit()

    def close(self) -> None:
        """Stop waiting for a commit."""
        if self._scheduled is not None:
            self._scheduled.cancel()
            self._scheduled = None
