"""Programs that tools run: their output, line by line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from accord.coder.tools.project import program
from accord.coder.tools.project.program import run_program


async def test_a_program_that_prints_an_endless_line_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "MAX_LINE_BYTES", 1_000_000)
    lines: list[bytes] = []

    def take(line: bytes) -> bool:
        lines.append(line)
        return True

    code = "import sys; sys.stdout.write('first\\n' + 'x' * 5_000_000); sys.stdout.flush()"
    await run_program([sys.executable, "-c", code], take, cwd=str(tmp_path), env=dict(os.environ), seconds=300)
    assert lines == [b"first"]
