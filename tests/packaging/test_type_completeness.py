"""Type completeness of the public API, as pyright counts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

# Programs, not to be imported: they count for the score, but may leave types to inference.
PROGRAMS = ("accord.cli.", "accord.coder.", "accord.showcase.", "accord.tui.")


@pytest.fixture(scope="module")
def completeness(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Put our Python first on the path: pyright uses it to find the package, whatever `--pythonpath` says."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    command = [sys.executable, "-P", "-m", "pyright", "--verifytypes", "accord", "--ignoreexternal", "--outputjson"]
    done = subprocess.run(
        command,
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**os.environ, "PATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, Any] = json.loads(done.stdout)["typeCompleteness"]
    return found


def test_at_least_98_percent_of_all_public_symbols_have_a_known_type(completeness: dict[str, Any]) -> None:
    assert completeness["completenessScore"] >= 0.98


def test_every_public_symbol_of_the_library_has_a_known_type(completeness: dict[str, Any]) -> None:
    symbols = [each for each in completeness["symbols"] if not each["name"].startswith(PROGRAMS)]

    assert len(symbols) > 5000
    assert [each["name"] for each in symbols if not each["isTypeKnown"]] == []
