"""The recorded session of each provider API, run once for all tests here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from coder.payloads.sessions import Recorded, record


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recorded]:
    """The requests of a wire format."""
    return cache(lambda wire: record(wire, tmp_path_factory.mktemp(wire)))
