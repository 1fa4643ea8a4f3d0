"""The first words between a proxy and the one that starts it."""

from __future__ import annotations

from accord.schema.v2.initialize import InitializeRequest, InitializeResponse


class InitializeProxyRequest(InitializeRequest):
    """Opens a connection to a proxy, which has a successor to pass this on to."""


class InitializeProxyResponse(InitializeResponse):
    """Settles the version as the successor answered it."""
