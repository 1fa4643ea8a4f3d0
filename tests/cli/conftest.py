"""`accord`, as each test of the command line has it: with a configuration, data and a project of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Accord, Done

from accord.cli.main import main


@pytest.fixture
def accord(tmp_path: Path) -> Accord:
    """The command in a process of its own."""
    return Accord(tmp_path)


@pytest.fixture
def here(accord: Accord, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command in this process: for what starts no agent and needs no terminal, and is wanted often."""
    for name, value in accord.environment().items():
        if name.startswith("ACCORD_") or name == "HOME":
            monkeypatch.setenv(name, value)
    monkeypatch.chdir(accord.project)

    def run(*words: str) -> Done:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["accord", *words])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capfd.readouterr()
        assert "Traceback" not in printed.err, printed.err
        return Done(int(end.value.code or 0), printed.out, printed.err)

    return run
