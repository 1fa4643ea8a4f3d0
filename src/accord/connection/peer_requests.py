"""The peer's requests: each is handled inline or in its own task, and answered exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import Answer, Handler, encode_result, fault_of, log
from accord.connection.lanes import current_lane
from accord.errors import InvalidValue, RequestFailed
from accord.rpc.conversation import Conversation
from accord.rpc.envelope import Fault
from accord.rpc.ids import RequestId
from accord.transports.eager_tasks import EagerTasks

if TYPE_CHECKING:
    from accord.connection.connection import Connection

current_request: ContextVar[RequestId] = ContextVar("accord_request", default=None)
"""The id of the request whose handler is running."""


class PeerRequests:
    """The peer's open requests on one connection."""

    def __init__(self, connection: Connection, conversation: Conversation[Any]) -> None:
        self._connection = connection
        self._conversation = conversation
        self.tasks: dict[RequestId, asyncio.Task[None]] = {}
        self._eager = EagerTasks()
        self._cancelled_early: set[RequestId] = set()
        self.required_results: dict[str, str] = {}
        self.has_begun: bool = False
        """Whether any request other than `initialize` has been handled."""

    def begin(self, id: RequestId, handler: Handler, params: Any, name: str) -> None:
        """Run a handler inline; an async one continues in a task once it has to wait."""
        if self._cancelled_early and id in self._cancelled_early:
            self._cancelled_early.discard(id)
            self.refuse(id, fault_of(asyncio.CancelledError(), name))
            return
        if not self.has_begun and name != "initialize":
            self.has_begun = True
        try:
            result = handler(params)
        except (Exception, asyncio.CancelledError) as error:
            self.refuse(id, fault_of(error, name))
            return
        if type(result) is CoroutineType or hasattr(result, "__await__"):
            serving = self._serve(id, result, name)
            if name == "initialize":
                # It changes how later lines are decoded, so it must not run while a block is being decoded.
                task: asyncio.Task[None] | None = asyncio.get_running_loop().create_task(serving)
            else:
                task = self._eager.start(serving)
            if task is not None:
                self.tasks[id] = task
        else:
            self.answer(id, result, name)

    def begin_from_lane(self, id: RequestId, handler: Handler, params: Any, name: str) -> None:
        """Like `begin`, for a request that was queued in a lane. The handler itself isn't part of the lane."""
        token = current_lane.set(None)
        try:
            self.begin(id, handler, params, name)
        finally:
            current_lane.reset(token)

    async def _serve(self, id: RequestId, result: Awaitable[Any], name: str) -> None:
        current_request.set(id)
        try:
            self.answer(id, await result, name)
        except (Exception, asyncio.CancelledError) as error:
            self.refuse(id, fault_of(error, name))
        finally:
            self.tasks.pop(id, None)

    def answer(self, id: RequestId, result: Any, name: str) -> None:
        """Send a result. A result that can't be encoded becomes an error response."""
        then = None
        if isinstance(result, Answer):
            result, then = result.result, result.then
        if result is None and name in self.required_results:
            log.error("the handler of %s returned None; it must return %s(…)", name, self.required_results[name])
        try:
            body = encode_result(result)
        except InvalidValue as error:
            log.error("%s: the result can't be encoded: %s", name, error)
            self.refuse(id, fault_of(RequestFailed(f"{name}: the result can't be encoded: {error}"), name))
            return
        connection = self._connection
        if connection.can_answer and self._conversation.owes_response(id):
            connection.send_quietly(self._conversation.answer(id, body))
        if then is not None:
            try:
                then()
            except Exception as error:  # the response was sent, so this can only be logged
                log.error("%s: a callback after its response failed", name, exc_info=error)

    def refuse(self, id: RequestId, fault: Fault) -> None:
        """Send an error response."""
        if not self._conversation.owes_response(id):
            return
        self._connection.send_quietly(self._conversation.refuse(id, fault))
        self._connection.on_refused(id)

    def cancel(self, id: RequestId) -> None:
        """Cancel a handler: the peer no longer wants the response, but gets one anyway."""
        task = self.tasks.get(id)
        if task is not None:
            _cancel_after_first_step(task)
        else:
            self._cancelled_early.add(id)

    def close(self) -> None:
        """Start no more handlers inline."""
        self._eager.close()

    async def finish(self, seconds: float, but: asyncio.Task[Any] | None = None) -> None:
        """Give open requests this many seconds to finish. One that finishes may let the next one start."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (tasks := [task for task in self.tasks.values() if task is not but]) and loop.time() < until:
            await asyncio.wait(tasks, timeout=until - loop.time(), return_when=asyncio.FIRST_COMPLETED)

    def cancel_all(self, but: asyncio.Task[Any] | None = None) -> list[asyncio.Task[None]]:
        """Cancel every handler except one. Returns the cancelled tasks."""
        tasks = [task for task in self.tasks.values() if task is not but]
        for task in tasks:
            _cancel_after_first_step(task)
        return tasks


def _cancel_after_first_step(task: asyncio.Task[None]) -> None:
    """Cancel a task in the next iteration of the event loop. A task that is cancelled before it starts never runs, and
    so would never answer."""
    asyncio.get_running_loop().call_soon(task.cancel)
