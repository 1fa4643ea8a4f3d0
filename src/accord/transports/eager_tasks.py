"""Run the first step of a coroutine immediately; it becomes a task only if it has to wait.

Most handlers never wait. Creating a task for each costs more than the handler itself, plus another event loop iteration
before the response is sent. To avoid that, there is a spare task. The first step runs as that task (it *is* the current
task, so `asyncio.timeout`, task groups and cancellation work). If the coroutine isn't finished by then, the spare task
continues it, and a new spare is created. Each coroutine has its own context, as it would in a separate task.

Python 3.12 added eager tasks, but they create a task each time, which is most of the cost."""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # documented for other task implementations; see the contract tests
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any


class EagerTasks:
    """Starts coroutines for one connection."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._spare: _Spare | None = None
        self._busy = False
        self._closed = False

    def start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Run a coroutine until it first waits. Returns the task that continues it; None if it has finished."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()  # asking each time costs a system call in Python 3.11
        if self._busy or self._closed:  # nested starts use a normal task
            return loop.create_task(coroutine)
        spare = self._spare
        if spare is None:
            spare = self._spare = _Spare(loop)
        context = copy_context()
        self._busy = True
        caller = asyncio.current_task(loop)
        if caller is not None:
            _leave_task(loop, caller)
        _enter_task(loop, spare.task)
        try:
            waits_for = context.run(coroutine.send, None)
        except StopIteration:
            return None
        finally:
            _leave_task(loop, spare.task)
            if caller is not None:
                _enter_task(loop, caller)
            self._busy = False
            if spare.task.cancelling():  # by the coroutine itself; this must not cancel the next one
                self._spare = None
        self._spare = None
        spare.take_over(coroutine, context, waits_for)
        return spare.task

    def close(self) -> None:
        """Use normal tasks from now on."""
        self._closed = True
        if self._spare is not None:
            self._spare.task.cancel()
            self._spare = None


class _Spare(Coroutine[Any, Any, None]):
    """The body of a spare task: idle until it takes over a coroutine.

    This is a coroutine object and not an `async def`, because a task that is cancelled before it starts throws the
    cancellation into its first line. An `async def` would end there, together with the coroutine that it took over.
    This way a spare is usable as soon as it is created, even by the hundredth request of one read."""

    __slots__ = ("_called", "_context", "_coroutine", "_has_wait", "_loop", "_waits_for", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._called: asyncio.Future[None] | None = None  # awaited while idle
        self._coroutine: Coroutine[Any, Any, None] | None = None
        self._context: Context
        self._waits_for: Any = None
        self._has_wait = False  # the first step awaits something that the task doesn't know about yet
        self.task: asyncio.Task[None] = loop.create_task(self, name="accord handler")

    def take_over(self, coroutine: Coroutine[Any, Any, None], context: Context, waits_for: Any) -> None:
        """Continue a coroutine that waits for something."""
        self._coroutine, self._context, self._waits_for = coroutine, context, waits_for
        self._has_wait = True
        if self._called is not None and not self._called.done():
            self._called.set_result(None)

    def send(self, value: Any) -> Any:
        if self._coroutine is None:
            self._called = self._loop.create_future()
            return next(self._called.__await__())
        if self._has_wait:
            return self._take_wait()
        return self._context.run(self._coroutine.send, value)

    def throw(self, error: Any, value: Any = None, trace: Any = None) -> Any:
        if value is not None:
            error = value
        if self._coroutine is None:
            raise error
        if self._has_wait:
            # Cancelled before the task started waiting: cancel the awaited future, as the task would have done.
            waits_for = self._take_wait()
            if isinstance(error, asyncio.CancelledError) and asyncio.isfuture(waits_for) and waits_for.cancel():
                return waits_for
        return self._context.run(self._coroutine.throw, error)

    def close(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, None]:
        raise TypeError("only its own task may run it")

    def _take_wait(self) -> Any:
        waits_for, self._waits_for, self._has_wait = self._waits_for, None, False
        return waits_for
