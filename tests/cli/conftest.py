"""The `accord` command with a separate configuration, data directory and project for each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.cli_runner import Accord, Done

from accord.cli.main import main


@pytest.fixture
def accord(tmp_path: Path) -> Iterator[Accord]:
    """The command in a separate process."""
    command = Accord(tmp_path)
    yield command
    command.close()


@pytest.fixture
def here(accord: Accord, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command in this process, which is faster: for commands that start no agent and need no terminal."""
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
