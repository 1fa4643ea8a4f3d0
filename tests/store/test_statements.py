"""SQL statements that every supported Python takes without a warning."""

from __future__ import annotations

import re
from pathlib import Path

import accord

NUMBERED = re.compile(r"^[^#\n]*\?\d", re.MULTILINE)


def test_no_placeholder_is_numbered() -> None:
    """Python 3.12.0 to 3.12.3 warn about `?1` bound by position, and a warning fails the tests of an application."""
    sources = [path for path in Path(accord.__file__).parent.rglob("*.py") if "sqlite3" in path.read_text("utf-8")]

    assert len(sources) > 2
    assert [path.name for path in sources if NUMBERED.search(path.read_text("utf-8"))] == []
