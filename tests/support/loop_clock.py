"""A clock for timeouts: the test decides when they expire, not the machine."""

from __future__ import annotations

import asyncio

import pytest


class LoopClock:
    """The clock of the running event loop. Whatever is due when it is advanced happens at once."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._ahead = 0.0
        real = loop.time
        patch.setattr(loop, "time", lambda: real() + self._ahead)

    def advance(self, seconds: float) -> None:
        self._ahead += seconds
