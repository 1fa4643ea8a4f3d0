from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(params=["loop", "threads"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test twice: with a loop that can watch descriptors, and with one that cannot, as on Windows."""
    if request.param == "threads":
        blind = asyncio.AbstractEventLoop
        monkeypatch.setattr(asyncio.SelectorEventLoop, "add_reader", blind.add_reader)
        monkeypatch.setattr(asyncio.SelectorEventLoop, "add_writer", blind.add_writer)
    return str(request.param)
