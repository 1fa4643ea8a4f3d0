"""Where the terminal says that nothing can be drawn on it, that is given as the reason."""

from __future__ import annotations

import io
import sys

import click
import pytest

from accord.cli.chat import chat
from accord.cli.main import accord


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def dumb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dumb terminal."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())


@pytest.mark.usefixtures("dumb")
def test_accord_chat_says_that_the_terminal_is_the_reason() -> None:
    with pytest.raises(click.UsageError, match="TERM is dumb, so nothing can be drawn here"):
        chat.main([], standalone_mode=False)


@pytest.mark.usefixtures("dumb")
def test_accord_alone_shows_its_help_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert accord.main([], standalone_mode=False) == 0
    assert "TERM is dumb" in capsys.readouterr().err


@pytest.mark.usefixtures("dumb")
def test_a_prompt_that_is_piped_in_needs_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(click.UsageError, match="there is no prompt"):
        chat.main([], standalone_mode=False)
