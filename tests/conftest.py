"""Fixtures and hooks of every test: a time limit, prerequisites, and `link`, which connects an agent and a client."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
from collections.abc import Generator
from typing import Any

import pytest
from peers import install
from support import (
    failures,
    proofs,
    properties,  # noqa: F401  (the profile of Hypothesis)
)
from support.link import Link
from support.prerequisites import pytest_runtest_setup, pytest_terminal_summary  # noqa: F401  (hooks)
from support.proofs import pytest_itemcollected  # noqa: F401  (a hook)

from accord.testing import link as linked_in_memory

BOUND = 300.0

install.use_installed_node()


def pytest_addoption(parser: pytest.Parser) -> None:
    failures.pytest_addoption(parser)
    proofs.pytest_addoption(parser)


def pytest_configure(config: pytest.Config) -> None:
    failures.pytest_configure(config)
    proofs.pytest_configure(config)


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """The protocol version: a test that uses it runs once for each."""
    return int(request.param)


@pytest.fixture
def link(version: int) -> Link:
    """Connects an agent and a client in memory, over real bytes, in one version."""
    return functools.partial(linked_in_memory, version=version)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run three workers per two cores with `-n auto`: tests with real programs mostly wait for them."""
    cores = os.cpu_count() or 1
    return cores + max(1, cores // 2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Limit the time of every test, and start with the slowest files.

    A test that waits for what never comes fails, instead of hanging. Files are handed to workers in this order, so no
    worker is left alone at the end with a long one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = _limit(item.obj)


def _limit(test: Any) -> Any:
    @functools.wraps(test)
    async def within(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(BOUND):
            await test(*args, **kwargs)

    return within


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make captured output valid text, because xdist can't transfer reports with invalid UTF-8."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "replace").decode()) for name, text in report.sections]
    return report
