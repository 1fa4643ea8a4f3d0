"""What every test has: a bound on its patience, and `link`, which joins an agent and a client in each version."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Generator
from typing import Any

import pytest
from linked import Link

from accord.testing import link as linked_in_memory

BOUND = 60.0


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """The version of the protocol: a test that asks for it is run for each."""
    return int(request.param)


@pytest.fixture
def link(version: int) -> Link:
    """Joins an agent and a client in memory, over real bytes, in one version."""
    return functools.partial(linked_in_memory, version=version)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that waits for what never comes fails, instead of hanging."""
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = _bounded(item.obj)


def _bounded(test: Any) -> Any:
    @functools.wraps(test)
    async def within(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(BOUND):
            await test(*args, **kwargs)

    return within


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test printed may be no text (that is what some are about); a report that travels must be."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "replace").decode()) for name, text in report.sections]
    return report
