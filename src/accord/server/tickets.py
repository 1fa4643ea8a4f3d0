"""Tickets: one-use credentials for web pages, which can't send headers with a WebSocket.

A page (or its server) exchanges a bearer token for a ticket, and offers it as a WebSocket subprotocol. A ticket lasts
for seconds, works once, and only for the origin that it was issued for."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from accord.server.identity import Identity
from accord.server.tokens import hash_token

LIFETIME_SECONDS = 30.0
MAX_TICKETS = 1000
SUBPROTOCOL = "accord.ticket."
"""The prefix of the WebSocket subprotocol that carries a ticket."""


class _Ticket(NamedTuple):
    identity: Identity
    origin: str
    expires: float


class Tickets:
    """The tickets that can still be used. Stored as hashes, so that the time of a lookup reveals nothing."""

    def __init__(self, *, lifetime: float = LIFETIME_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self.lifetime = lifetime
        self._clock = clock
        self._tickets: dict[str, _Ticket] = {}

    def issue(self, identity: Identity, origin: str) -> str:
        """Create a ticket for a page of this origin."""
        now = self._clock()
        self._tickets = {key: each for key, each in self._tickets.items() if each.expires > now}
        while len(self._tickets) >= MAX_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(32)
        self._tickets[hash_token(ticket)] = _Ticket(identity, origin, now + self.lifetime)
        return ticket

    def redeem(self, ticket: str, origin: str) -> Identity | None:
        """Use a ticket, and return its owner; None if it isn't valid for this origin. It can't be used again in either
        case."""
        found = self._tickets.pop(hash_token(ticket), None)
        if found is None or found.expires <= self._clock() or found.origin != origin:
            return None
        return found.identity
