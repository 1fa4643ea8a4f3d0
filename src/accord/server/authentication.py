"""Authentication: finds the identity of a request's client, or refuses the request with instructions."""

from __future__ import annotations

from urllib.parse import parse_qsl

from accord.hub.principal import Principal
from accord.server.identity import Identity
from accord.server.limits import RateLimiter, ServerLimits, refuse_rate
from accord.server.request import Refusal, Request
from accord.server.tickets import SUBPROTOCOL, Tickets
from accord.server.tokens import PREFIX, WEB, Tokens
from accord.server.web import OriginCheck

_SECRET_PARAMETERS = frozenset(
    {
        "token",
        "access_token",
        "auth",
        "authorization",
        "bearer",
        "key",
        "api_key",
        "apikey",
        "secret",
        "password",
        "ticket",
    }
)
_CHALLENGE = [(b"www-authenticate", b'Bearer realm="accord"')]


class Authenticator:
    """Checks bearer tokens, tickets and trusted origins, and limits failures per address."""

    def __init__(self, tokens: Tokens, tickets: Tickets, origins: OriginCheck, limits: ServerLimits) -> None:
        self.tokens = tokens
        self.tickets = tickets
        self._origins = origins
        per_minute = limits.failures_per_minute
        self._failures = RateLimiter(per_minute / 60, max(per_minute, 1))

    def authenticate(self, request: Request) -> Identity:
        """Return the client's identity, or raise `Refusal`."""
        if self._failures.level(request.address) < 1:
            raise refuse_rate("Too many failed logins from this address. Wait a minute.")
        identity = self._identify(request)
        if identity is None:
            self._failures.take(request.address)
            message = "The token is invalid, expired or revoked. To create one: accord serve token new NAME"
            raise Refusal(401, message, why="token", headers=_CHALLENGE)
        return identity

    def _identify(self, request: Request) -> Identity | None:
        values = request.values("authorization")
        if values:
            scheme, _, token = values[0].partition(" ")
            if len(values) != 1 or scheme.lower() != "bearer":
                return None
            return self.tokens.identify(token.strip())
        if request.is_websocket and (ticket := find_ticket(request)):
            identity = self.tickets.redeem(ticket, request.origin or "")
            return identity if identity is not None and self.tokens.is_still_valid(identity) else None
        if self._origins.trusts(request):
            return Identity(Principal(WEB, "driver"), f"origin:{request.origin}")
        message = "A token is required. Send it as: Authorization: Bearer TOKEN"
        raise Refusal(401, message, why="no token", headers=_CHALLENGE)


def find_ticket(request: Request) -> str | None:
    """Return the ticket among the WebSocket subprotocols that the client offers."""
    offered = (each.removeprefix(SUBPROTOCOL) for each in request.subprotocols if each.startswith(SUBPROTOCOL))
    return next(offered, None)


def check_url(request: Request) -> None:
    """Refuse credentials in the URL: URLs end up in logs, histories and referrers."""
    named = {name.lower() for name, _ in parse_qsl(request.query, keep_blank_values=True)}
    if named & _SECRET_PARAMETERS or PREFIX in request.query or PREFIX in request.path:
        message = (
            "Never put a token in a URL: URLs are logged. Send it as: Authorization: Bearer TOKEN. Revoke this one."
        )
        raise Refusal(400, message, why="token in URL")
