from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace

import pytest
from support.event_loops import Factories, factories

from accord.transports import descriptors, threads


@pytest.fixture(params=["loop", "threads", "windows"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test with a loop that can watch descriptors, with one that cannot, and by the rules of Windows: there
    descriptors are never made non-blocking, and a thread waits for one thing only."""
    if request.param != "loop":
        blind = asyncio.AbstractEventLoop
        monkeypatch.setattr(asyncio.SelectorEventLoop, "add_reader", blind.add_reader)
        monkeypatch.setattr(asyncio.SelectorEventLoop, "add_writer", blind.add_writer)
    if request.param == "windows":
        for module in (descriptors, threads):
            monkeypatch.setattr(module, "sys", SimpleNamespace(platform="win32"))
    return str(request.param)


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    """Tasks, descriptors and signals are the loop's: what depends on them is tested on both."""
    return factories(item, {"test_memory", "test_subprocess", "test_fd"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out threads on uvloop: its descriptors can't be hidden, and it doesn't run on Windows."""
    items[:] = [item for item in items if not re.search(r"\[uvloop-(threads|windows)", item.name)]
