"""Makes ready what reading a version's messages takes: its types are read once, which takes as long as a short answer.

A connection does this by itself when the version is agreed. Whoever waits for an agent to start can do it meanwhile."""

from __future__ import annotations

from typing import Any

import msgspec

_HEARD = ("SESSION_UPDATE", "SESSION_REQUEST_PERMISSION", "ELICITATION_CREATE")
_ANSWERED = ("INITIALIZE", "SESSION_NEW", "SESSION_PROMPT")


def warm(version: int) -> None:
    """Loads one version, and reads the types that a client of it meets first."""
    methods: Any
    if version == 1:
        from accord.client import v1  # noqa: F401
        from accord.schema.v1 import methods
    else:
        from accord.client import v2  # noqa: F401
        from accord.schema.v2 import methods
    for name in _HEARD:
        msgspec.json.Decoder(getattr(methods, name).params)
    for name in _ANSWERED:
        msgspec.json.Decoder(getattr(methods, name).result)
