"""Whatever a connection does, it leaves nobody behind and lets nothing escape into the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from connection.ends import passes


@pytest.fixture(autouse=True)
async def nobody_is_left_behind() -> AsyncIterator[None]:
    escaped: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: escaped.append(context))
    yield
    await passes()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, left
    assert not escaped, escaped
