"""The identity of a client: its principal, and its credential, by which connections of a revoked token are found."""

from __future__ import annotations

from typing import NamedTuple

from accord.hub.principal import Principal


class Identity(NamedTuple):
    """An authenticated client."""

    principal: Principal
    credential: str
    """The hash of the token, or `origin:` and the origin of a trusted web page."""
