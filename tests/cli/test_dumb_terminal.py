"""A dumb terminal: the message names it as the reason why the terminal client cannot start."""

from __future__ import annotations

import io
import sys

import click
import pytest

from accord.cli.chat import chat
from accord.cli.main import accord


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def dumb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dumb terminal."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())


@pytest.mark.usefixtures("dumb")
def test_accord_chat_names_the_terminal_as_the_reason() -> None:
    with pytest.raises(click.UsageError, match="can't draw with TERM=dumb"):
        chat.main([], standalone_mode=False)


@pytest.mark.usefixtures("dumb")
def test_accord_alone_shows_its_help_and_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert accord.main([], standalone_mode=False) == 0
    assert "TERM=dumb" in capsys.readouterr().err


@pytest.mark.usefixtures("dumb")
def test_a_piped_prompt_needs_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(click.UsageError, match="no prompt"):
        chat.main([], standalone_mode=False)
