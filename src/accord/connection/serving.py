"""Their requests: each is handled in place or in a task of its own, and answered exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import Answer, Handler, encode_result, fault_of, log
from accord.connection.eager import Eager
from accord.connection.lanes import inside
from accord.errors import RequestFailed
from accord.rpc.conversation import Conversation
from accord.rpc.envelope import Fault
from accord.rpc.ids import RequestId

if TYPE_CHECKING:
    from accord.connection.connection import Connection

current_request: ContextVar[RequestId] = ContextVar("accord_request", default=None)
"""The id of the request whose handler is running."""


class Serving:
    """The requests of theirs that are open on one connection."""

    def __init__(self, connection: Connection, conversation: Conversation[Any]) -> None:
        self._connection = connection
        self._conversation = conversation
        self.tasks: dict[RequestId, asyncio.Task[None]] = {}
        self._eager = Eager()
        self._cancelled_early: set[RequestId] = set()

    def begin(self, id: RequestId, handler: Handler, params: Any, name: str) -> None:
        """Runs a handler: a plain one in place, an async one in a task from where it first waits."""
        if self._cancelled_early and id in self._cancelled_early:
            self._cancelled_early.discard(id)
            self.refuse(id, fault_of(asyncio.CancelledError(), name))
            return
        try:
            result = handler(params)
        except (Exception, asyncio.CancelledError) as error:
            self.refuse(id, fault_of(error, name))
            return
        if type(result) is CoroutineType or hasattr(result, "__await__"):
            serving = self._serve(id, result, name)
            if name == "initialize":  # its end changes how the lines behind it are read: not while they are
                task: asyncio.Task[None] | None = asyncio.get_running_loop().create_task(serving)
            else:
                task = self._eager.start(serving)
            if task is not None:
                self.tasks[id] = task
        else:
            self.answer(id, result, name)

    def begin_behind(self, id: RequestId, handler: Handler, params: Any, name: str) -> None:
        """The same, called by a lane once it got there: the handler is no part of the lane."""
        token = inside.set(None)
        try:
            self.begin(id, handler, params, name)
        finally:
            inside.reset(token)

    async def _serve(self, id: RequestId, result: Awaitable[Any], name: str) -> None:
        current_request.set(id)
        try:
            self.answer(id, await result, name)
        except (Exception, asyncio.CancelledError) as error:
            self.refuse(id, fault_of(error, name))
        finally:
            self.tasks.pop(id, None)

    def answer(self, id: RequestId, result: Any, name: str) -> None:
        """Sends a result; what cannot be encoded becomes an error, never silence."""
        then = None
        if isinstance(result, Answer):
            result, then = result.result, result.then
        try:
            body = encode_result(result)
        except Exception as error:
            log.error("%s: the result cannot be encoded", name, exc_info=error)
            self.refuse(id, fault_of(RequestFailed(f"{name}: the result cannot be encoded: {error}"), name))
            return
        connection = self._connection
        if connection.can_answer and self._conversation.owes(id):
            connection.send_quietly(self._conversation.answer(id, body))
        if then is not None:
            try:
                then()
            except Exception as error:  # the answer has left: there is nobody to tell but our own log
                log.error("%s: what follows its answer failed", name, exc_info=error)

    def refuse(self, id: RequestId, fault: Fault) -> None:
        """Sends an error."""
        if not self._conversation.owes(id):
            return
        try:
            line = self._conversation.refuse(id, fault)
        except Exception:  # data or text that cannot be encoded must not leave them waiting
            text = str(fault.message).encode(errors="replace").decode()
            line = self._conversation.refuse(id, Fault(fault.code, text))
        self._connection.send_quietly(line)
        self._connection.refused(id)

    def cancel(self, id: RequestId) -> None:
        """They no longer want an answer; they get one all the same."""
        task = self.tasks.get(id)
        if task is not None:
            _cancel_after_first_step(task)
        else:
            self._cancelled_early.add(id)

    def close(self) -> None:
        """Nothing more will be handled."""
        self._eager.close()

    async def finish(self, seconds: float, but: asyncio.Task[Any] | None = None) -> None:
        """Lets what is being handled come to its end, for so long. One request may let the next begin."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (tasks := [task for task in self.tasks.values() if task is not but]) and loop.time() < until:
            await asyncio.wait(tasks, timeout=until - loop.time(), return_when=asyncio.FIRST_COMPLETED)

    def cancel_all(self, but: asyncio.Task[Any] | None = None) -> list[asyncio.Task[None]]:
        """Cancels every handler but the one that wants it; gives back what was cancelled."""
        tasks = [task for task in self.tasks.values() if task is not but]
        for task in tasks:
            _cancel_after_first_step(task)
        return tasks


def _cancel_after_first_step(task: asyncio.Task[None]) -> None:
    """A task that is cancelled before it began never runs, and would never answer; by the next pass it has begun."""
    asyncio.get_running_loop().call_soon(task.cancel)
