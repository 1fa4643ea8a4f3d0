"""Truncated text contains no part of a key, wherever it is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from accord.coder.credentials import Keys
from accord.coder.secrets import Secrets
from accord.coder.tools.text import MAX_SHOWN, code_block, cut, cut_start, head_and_tail, one_line, truncate_line
from accord.config.settings import CoderSettings

KEY = "0123-my-own-key-4567"
OTHER = f"{KEY}-and-more"
BEFORE = 200
TEXT = f"{'x' * BEFORE}{KEY}{'y' * BEFORE}"
POSITIONS = range(BEFORE - 2, BEFORE + len(KEY) + 2)


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Secrets]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", OTHER)
    secrets = Secrets(Keys(), CoderSettings())
    with secrets.protect_cuts():
        yield secrets


def has_part(text: str) -> bool:
    """Return whether a text has three neighboring characters of the key."""
    return any(KEY[start : start + 3] in text for start in range(len(KEY) - 2))


@pytest.mark.parametrize(
    "shorten",
    [
        cut,
        truncate_line,
        one_line,
        lambda text, most: head_and_tail(text, head=most, tail=10),
        lambda text, most: code_block("x" * (MAX_SHOWN - most) + text),
    ],
    ids=["cut", "truncate_line", "one_line", "head_and_tail", "code_block"],
)
def test_no_start_of_a_key_is_left(secrets: Secrets, shorten: Callable[[str, int], str]) -> None:
    for most in POSITIONS:
        assert not has_part(secrets.redact(shorten(TEXT, most))), most


@pytest.mark.parametrize(
    "shorten",
    [cut_start, lambda text, most: head_and_tail(text, head=10, tail=most)],
    ids=["cut_start", "head_and_tail"],
)
def test_no_end_of_a_key_is_left(secrets: Secrets, shorten: Callable[[str, int], str]) -> None:
    for most in POSITIONS:
        assert not has_part(secrets.redact(shorten(TEXT, most))), most


def test_a_long_key_that_starts_with_another_is_cut_whole(secrets: Secrets) -> None:
    text = f"{'x' * BEFORE}{OTHER}"
    for most in range(BEFORE, len(text)):
        kept = secrets.redact(cut(text, most))
        assert not has_part(kept) and "-and" not in kept, most


def test_the_number_of_omitted_characters_includes_those_of_the_key() -> None:
    kept = truncate_line(TEXT, BEFORE + 5)
    assert kept == f"{'x' * BEFORE} [… {len(TEXT) - BEFORE:,} more characters in this line]"


def test_text_that_is_not_cut_is_unchanged() -> None:
    assert cut("ends with 0123", 100) == "ends with 0123"
    assert truncate_line("ends with 0123\n") == "ends with 0123\n"
