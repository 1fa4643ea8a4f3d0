"""All open requests of a session's agent to its clients."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

from accord.connection.relay_connection import Outcome, RelayConnection
from accord.errors import REQUEST_CANCELLED
from accord.hub.agent_process import fail
from accord.hub.attachment import Attachment
from accord.hub.event_log import Event, EventKind
from accord.hub.open_request import OpenRequest, Resolve
from accord.hub.permission_policy import PermissionPolicy
from accord.rpc.ids import RequestId

RESOLVED = "_accord/permission_resolved"


class Publish(Protocol):
    """Logs an event of the session, and sends it to its clients."""

    def __call__(
        self, method: str, params: bytes, kind: EventKind = "notification", *, origin: str = "", request: str = ""
    ) -> Event: ...


class OpenRequests:
    """The requests of one session that wait for an answer."""

    def __init__(self, session_id: str, epoch: str, policy: PermissionPolicy, publish: Publish) -> None:
        self._session_id = session_id
        self._epoch = epoch
        self._policy = policy
        self._publish = publish
        self.on_added: Callable[[], None] = lambda: None
        """Called after each new request."""
        self._requests: dict[str, OpenRequest] = {}
        self._events: dict[str, Event] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def add(
        self,
        method: str,
        params: bytes,
        resolve: Resolve,
        *,
        originator: str | None,
        driver: str | None = None,
        agent_id: RequestId = None,
    ) -> OpenRequest:
        """Send a request to the clients that may answer it. `resolve` is called with the answer.

        `originator` is the principal whose prompt is running, and `driver` the client that sent it."""
        request = OpenRequest(
            secrets.token_hex(8),
            method,
            agent_id=agent_id,
            originator=originator,
            driver=driver,
            policy=self._policy,
            resolve=resolve,
        )
        self._requests[request.id] = request
        self._events[request.id] = self._publish(method, params, "request", request=request.id)
        self.on_added()
        return request

    async def ask(self, method: str, params: bytes, *, originator: str | None) -> Outcome:
        """Send a request of the hub itself, and wait for the answer."""
        answered: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        request = self.add(method, params, answered.set_result, originator=originator)
        try:
            return await answered
        finally:
            if not answered.done():
                self.resolve(request, request.cancelled_outcome(), "")

    def send(self, attachment: Attachment, event: Event) -> None:
        """Send the request of an event to a client, if it is open and the client may answer it."""
        request = self._requests.get(event.request)
        if request is None or not request.may_answer(attachment):
            return
        connection = attachment.subscriber.connection
        request.deliver(
            connection,
            attachment.params_for(event, self._epoch),
            lambda outcome: self._on_answer(request, attachment, outcome),
        )

    def send_all(self, attachment: Attachment) -> None:
        """Send a client all open requests that it hasn't received."""
        for event in list(self._events.values()):
            if event.seq <= attachment.seq:
                self.send(attachment, event)

    def withdraw(self, connection: RelayConnection) -> None:
        """Remove the requests that were delivered to a client that has left."""
        for request in self._requests.values():
            request.withdraw(connection)

    def _on_answer(self, request: OpenRequest, attachment: Attachment, outcome: Outcome) -> None:
        subscriber = attachment.subscriber
        if request.is_resolved:
            if request.resolution and subscriber.is_resume_aware:  # too late: inform the client about the decision
                subscriber.connection.notify(RESOLVED, request.resolution)
            return
        if not request.is_asked(attachment):
            return
        decided = request.vote(subscriber.principal, subscriber.connection, outcome)
        if decided is not None:
            self.resolve(request, decided, subscriber.principal.name, subscriber.connection)

    def resolve(
        self, request: OpenRequest, outcome: Outcome, by: str, connection: RelayConnection | None = None
    ) -> None:
        """Answer a request, and inform the other clients. `connection` is the client that decided."""
        if request.is_resolved:
            return
        request.is_resolved = True
        request.resolution = request.describe_resolution(self._session_id, outcome, by)
        del self._requests[request.id], self._events[request.id]
        request.resolve(outcome)
        for other, id in request.others(connection):
            other.cancel(id)
        self._publish(RESOLVED, request.resolution, "notice")

    def cancel_all(self) -> None:
        """Answer every request as cancelled, because the turn was cancelled or the agent has ended."""
        for request in list(self._requests.values()):
            self.resolve(request, request.cancelled_outcome(), "")

    def cancel_by_agent(self, agent_id: RequestId) -> None:
        """Handle the cancellation of a request by the agent."""
        for request in [each for each in self._requests.values() if each.agent_id == agent_id]:
            self.resolve(request, fail("Request cancelled", REQUEST_CANCELLED), "")
