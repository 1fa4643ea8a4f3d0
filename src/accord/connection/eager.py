"""Runs the first step of a coroutine at once; only what has to wait becomes a task.

Most handlers never wait. Making a task for each costs more than the handler itself, and another pass of the event loop
before an answer leaves. So a spare task stands by: the first step runs under its name (it *is* the
current task, so `asyncio.timeout`, task groups and cancellation find what they need), and if the coroutine is not over
after that, the spare goes on with it to its end and a new one takes its place. Each coroutine has a context of its own,
as it would in a task of its own."""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # what other implementations of tasks are told to use
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from typing import Any


class Eager:
    """Starts coroutines for one connection."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._spare: _Spare | None = None
        self._busy = False
        self._closed = False

    def start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Runs a coroutine up to where it waits. Gives the task that goes on with it; None when it is over."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()  # asking each time costs a system call in Python 3.11
        spare = self._spare
        if self._busy or spare is None or not spare.stands_by:
            # A task that has not begun yet would be lost if it were cancelled now.
            if spare is None and not self._closed:
                self._spare = _Spare(loop)
            return loop.create_task(coroutine)
        context = copy_context()
        self._busy = True  # what is started from within the first step is started the usual way
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
            if spare.task.cancelling():  # by the coroutine itself: it must not meet another one
                self._spare = None
        self._spare = None
        spare.go_on(coroutine, context, waits_for)
        return spare.task

    def close(self) -> None:
        """Nothing more will be started, or in the usual way."""
        self._closed = True
        if self._spare is not None:
            self._spare.task.cancel()
            self._spare = None


class _Spare:
    """A task that waits for a coroutine to go on with."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stands_by = False
        self._called: asyncio.Future[None] = loop.create_future()
        self._rest: _Rest | None = None
        self.task: asyncio.Task[None] = loop.create_task(self._live(), name="accord handler")

    def go_on(self, coroutine: Coroutine[Any, Any, None], context: Context, waits_for: Any) -> None:
        self._rest = _Rest(coroutine, context, waits_for)
        if not self._called.done():
            self._called.set_result(None)

    async def _live(self) -> None:
        self.stands_by = True
        try:
            await self._called
        except asyncio.CancelledError as cancelled:
            if self._rest is None:
                raise
            self._rest.thrown = cancelled  # meant for the coroutine, which does not wait here any more
        assert self._rest is not None
        await self._rest


class _Rest:
    """What is left of a coroutine after its first step, to be awaited."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], context: Context, waits_for: Any) -> None:
        self._coroutine = coroutine
        self._context = context
        self._waits_for = waits_for
        self.thrown: BaseException | None = None

    def __await__(self) -> Generator[Any, Any, None]:
        coroutine, context, waits_for, thrown = self._coroutine, self._context, self._waits_for, self.thrown
        while True:
            value = None
            if thrown is None:
                try:
                    value = yield waits_for
                except BaseException as error:
                    thrown = error
            step = partial(coroutine.send, value) if thrown is None else partial(coroutine.throw, thrown)
            thrown = None
            try:
                waits_for = context.run(step)
            except StopIteration:
                return
