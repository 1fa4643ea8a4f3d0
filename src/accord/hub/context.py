"""Shared parts of a hub: the log, the agent processes, the settings and the counters."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from accord.errors import RequestFailed
from accord.hub.agent_host import AgentHost
from accord.hub.agent_process import MAX_SENDER_BYTES
from accord.hub.budgets import Budgets
from accord.hub.commit_queue import CommitQueue
from accord.hub.event_log import EventLog
from accord.hub.permission_policy import PermissionPolicy
from accord.hub.reply import Replies
from accord.policy.engine import Policy

log: logging.Logger = logging.getLogger("accord")

OnDisconnect = Literal["keep", "pause", "cancel"]


class HubSettings(msgspec.Struct, kw_only=True):
    """The settings of a hub; see `Hub`."""

    root: Path
    permissions: PermissionPolicy
    policy: Policy | None
    on_disconnect: OnDisconnect
    grace_seconds: float
    client_files: bool
    shared_sessions: bool
    max_queued_bytes: int
    compact_after: int
    max_session_bytes: int
    idle_seconds: float | None


class Counters(msgspec.Struct):
    """Totals since the start."""

    events: int = 0
    turns: int = 0
    slow_clients: int = 0
    """Clients that were disconnected because they fell behind."""


class WaitingMessages:
    """The sizes of messages that wait until an agent process has started."""

    def __init__(self) -> None:
        self._sizes: Counter[str] = Counter()

    @contextmanager
    def reserve(self, sender: str, size: int) -> Iterator[None]:
        """Count a message of a principal in this block. Raises `RequestFailed` if too much of it waits already."""
        waiting = self._sizes[sender]
        if waiting and waiting + size > MAX_SENDER_BYTES:
            raise RequestFailed(
                f"the agent is starting, and {waiting} bytes of your messages wait for it already; try again later"
            )
        self._sizes[sender] += size
        try:
            yield
        finally:
            self._sizes[sender] -= size


class Context:
    """The shared parts of a hub."""

    def __init__(self, log: EventLog, host: AgentHost, budgets: Budgets, settings: HubSettings) -> None:
        self.log = log
        self.host = host
        self.budgets = budgets
        self.settings = settings
        self.commits: CommitQueue = CommitQueue(log)
        self.commits.on_stalled = host.hold  # otherwise the agents' messages would fill the memory
        self.replies: Replies = Replies(log, self.commits)
        self.counters: Counters = Counters()
        self.waiting: WaitingMessages = WaitingMessages()
        self.has_session: Callable[[str], bool] = lambda id: False
        """Returns whether an id belongs to a session, open or not, of any principal."""
        self.is_draining: bool = False
        """Whether new prompts are rejected, because the hub is closing."""
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine as a task of the hub, which doesn't end with the connection that caused it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a task of the hub failed", exc_info=task.exception())

    async def close(self) -> None:
        """Cancel all tasks."""
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        self.commits.close()
