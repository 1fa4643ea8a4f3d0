"""A connected client: its capabilities, and the agent's messages to it outside of sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from accord.agent.accounts import encode_auth_status
from accord.agent.offers import ClientOffers
from accord.agent.pending_answer import PendingAnswer
from accord.agent.questions import ask_client
from accord.errors import LocalProtocolError, UsageError
from accord.model.account import AuthStatus
from accord.model.record import Meta
from accord.model.requests import Implementation, Reply
from accord.model.values import text
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.side import AgentSide

AUTH_STATUS_UPDATE = "auth/status_update"


class Client:
    """One connected client. An agent gets it in `on_connect`, `login` and `on_disconnect`, and as `session.client`.

    Methods that send something do so when called; awaiting them only waits while the client is slow. Notifications
    sent in `on_connect` follow the response to `initialize`; requests can't be sent before it."""

    def __init__(self, side: AgentSide, offers: ClientOffers, meta: Meta | None) -> None:
        self.offers = offers
        """The client's capabilities."""
        self.meta: Meta = meta or {}
        """The `_meta` of the client's `initialize`."""
        self._side = side
        self._early: list[Callable[[], object]] | None = []

    @property
    def version(self) -> int:
        """The negotiated protocol version."""
        return self.offers.version

    @property
    def info(self) -> Implementation | None:
        """The client's name and version, if it sent them."""
        return self.offers.info

    # -- questions to the user

    def ask(
        self,
        message: str,
        schema: dict[str, Any] | None = None,
        *,
        url: str | None = None,
        id: str | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[Reply]:
        """Ask the user to fill in a form or to visit a page, on behalf of the request that is being handled.

        For `login`, and other handlers that have no session; see `Session.ask`. Raises `CapabilityError` if the client
        has no forms or can't open pages, and `LocalProtocolError` if no request is being handled."""
        self._check_ready("ask the user")
        return PendingAnswer(ask_client(self._side, message, schema or {}, url, id, meta), Reply, "client.ask")

    def page_done(self, id: str) -> Awaitable[None]:
        """Tell the client that the user is finished with a page that `ask` opened."""
        return self.notify("elicitation/complete", {"elicitationId": text("id", id)})

    # -- the login

    def set_auth_status(self, status: AuthStatus) -> Awaitable[None]:
        """Report that the login has changed (unstable). A status that was already sent isn't repeated."""
        params = encode_auth_status(status)
        agent = self._side.agent
        if not agent.unstable:
            return READY
        if not agent.offers("auth_status"):
            name = type(agent).__name__
            raise UsageError(f"{name} has no auth_status method; define one, so that clients can query the status too")
        return self.notify(AUTH_STATUS_UPDATE, params)

    # -- extensions of the protocol

    def request(self, method: str, params: Any = None) -> Awaitable[Any]:
        """Send a request that the protocol doesn't define."""
        self._check_ready("answer requests")
        return self._side.extension_request(method, params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Send a notification that the protocol doesn't define."""
        if self._early is not None:
            self._early.append(lambda: self._side.extension_notification(method, params))
            return READY
        return self._side.extension_notification(method, params)

    # -- for the library

    def release(self) -> None:
        """Send held notifications: the response to `initialize` has been sent."""
        early, self._early = self._early or [], None
        for send in early:
            send()

    def _check_ready(self, what: str) -> None:
        if self._early is not None:
            raise LocalProtocolError(
                f"the client can't {what} before initialize is answered; do it in login or session_opened"
            )

    def __repr__(self) -> str:
        return f"<Client {self.info.name if self.info else 'without a name'}, version {self.version}>"
