"""After every test: no task is left, and no error has reached the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from connection.one_end import passes
from support.event_loops import Factories, factories


@pytest.fixture(autouse=True)
async def nobody_is_left_behind() -> AsyncIterator[None]:
    escaped: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: escaped.append(context))
    yield
    await passes()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, left
    assert not escaped, escaped


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    """Tasks, descriptors and signals are the loop's: what depends on them is tested on both."""
    return factories(item, {"test_order", "test_eager", "test_back_pressure", "test_cancellation"})
