"""`accord`, as each test of the command line has it: with a configuration, data and a project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Accord


@pytest.fixture
def accord(tmp_path: Path) -> Accord:
    return Accord(tmp_path)
