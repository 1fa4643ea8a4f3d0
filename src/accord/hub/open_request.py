"""Open requests of an agent to its clients: permissions, forms, and files if the clients serve them.

A request goes to every client that may answer it. It keeps its identity when it is delivered again, and it is resolved
once; the other clients are then informed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from accord.connection.relay_connection import Outcome, RelayConnection
from accord.errors import REQUEST_CANCELLED
from accord.hub.agent_process import fail, succeed
from accord.hub.attachment import Attachment
from accord.hub.permission_policy import FirstAnswer, PermissionPolicy
from accord.hub.principal import Principal
from accord.hub.raw_params import decode, read_object, write_object
from accord.rpc.envelope import Failure
from accord.rpc.ids import RequestId

PERMISSION = "session/request_permission"
CLIENT_FILES = ("fs/", "terminal/")
"""The prefixes of the methods for files and terminals."""
_CANCELLED = {PERMISSION: b'{"outcome":{"outcome":"cancelled"}}', "elicitation/create": b'{"action":"cancel"}'}
Resolve = Callable[[Outcome], None]


class OpenRequest:
    """One request, until it is resolved."""

    def __init__(
        self,
        id: str,
        method: str,
        *,
        agent_id: RequestId,
        originator: str | None,
        driver: str | None,
        policy: PermissionPolicy,
        resolve: Resolve,
    ) -> None:
        self.id = id
        """The stable id."""
        self.method = method
        self.agent_id = agent_id
        """The agent's JSON-RPC id."""
        self.originator = originator
        self.driver: str | None = driver if method.startswith(CLIENT_FILES) else None
        """The only client that gets it; None if there are several."""
        self.policy: PermissionPolicy = policy if method == PERMISSION else FirstAnswer()
        self.resolve: Resolve = resolve
        self.is_resolved: bool = False
        self.resolution: bytes = b""
        """The params of the notice that it was resolved."""
        self._deliveries: dict[RelayConnection, int] = {}
        self._votes: dict[str, str] = {}
        self._answers: dict[str, Outcome] = {}

    def may_answer(self, attachment: Attachment) -> bool:
        """Return whether a client gets this request."""
        if self.driver is not None and attachment.subscriber.origin != self.driver:
            return False
        return attachment.can_drive and self.policy.may_answer(attachment.subscriber.principal, self.originator)

    def deliver(self, connection: RelayConnection, params: bytes, on_answer: Callable[[Outcome], None]) -> None:
        """Send it to a client on a connection on which it hasn't been sent."""
        if not self.is_resolved and connection not in self._deliveries:
            self._deliveries[connection] = connection.request(self.method, params, on_answer)

    def is_asked(self, attachment: Attachment) -> bool:
        """Return whether a client's answer counts: it was asked, and hasn't left or lost its role since then."""
        return attachment.subscriber.connection in self._deliveries and self.may_answer(attachment)

    def withdraw(self, connection: RelayConnection) -> None:
        """Remove a client to which it was delivered: its connection ended, or it left the session."""
        self._deliveries.pop(connection, None)

    def vote(self, principal: Principal, connection: RelayConnection, outcome: Outcome) -> Outcome | None:
        """Count an answer. Returns the response for the agent once it is decided."""
        if isinstance(outcome, Failure):
            self._deliveries.pop(connection, None)
            return None if self._deliveries or self._votes else outcome
        option = read_option(outcome) if self.method == PERMISSION else ""
        if option is None:
            return outcome  # cancelled
        self._votes[principal.name] = option
        self._answers[option] = outcome
        decided = self.policy.decide(self._votes)
        return self._answers[decided] if decided is not None else None

    def others(self, connection: RelayConnection | None) -> Iterable[tuple[RelayConnection, int]]:
        """Return the deliveries to other clients."""
        return [(each, id) for each, id in self._deliveries.items() if each is not connection]

    def cancelled_outcome(self) -> Outcome:
        """Return the response for a cancelled turn."""
        result = _CANCELLED.get(self.method)
        return succeed(result) if result is not None else fail("Request cancelled", REQUEST_CANCELLED)

    def describe_resolution(self, session_id: str, outcome: Outcome, by: str) -> bytes:
        """Return the params of the notice that it was resolved."""
        result = None if isinstance(outcome, Failure) else decode(outcome.result)
        shown = result.get("outcome", result) if isinstance(result, dict) else None
        if self.method != PERMISSION:
            shown = None  # answers to forms are for the agent only
        return write_object({"sessionId": session_id, "request": self.id, "outcome": shown, "by": by})


def read_option(outcome: Outcome) -> str | None:
    """Return the id of the chosen option; None if the request was cancelled."""
    if isinstance(outcome, Failure):
        return None
    chosen = decode(read_object(bytes(outcome.result)).get("outcome"))
    option = chosen.get("optionId") if isinstance(chosen, dict) else None
    return option if isinstance(option, str) else None
