"""Event loops for tests of transports and connections: asyncio's own, and uvloop if it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec

import pytest

Factories = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]


def factories(item: pytest.Item, modules: Collection[str]) -> Factories:
    """Return the event loops for one test: both in modules that depend on the loop, asyncio's own elsewhere."""
    found: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    if item.path.stem in modules and find_spec("uvloop") is not None:
        import uvloop

        found["uvloop"] = uvloop.new_event_loop
    return found
