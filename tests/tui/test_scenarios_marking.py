"""Marking text with the mouse in a real terminal, and copying it."""

from __future__ import annotations

import re
import time

import pytest
from scenes import agent_at, chat, say
from tmux import PATIENCE, Tmux

pytestmark = pytest.mark.slow


def told(tmux: Tmux, button: int, column: int, row: int, end: str = "M") -> None:
    """What a terminal tells of the mouse; columns and rows count from 0."""
    tmux.keys("-H", *(f"{each:x}" for each in f"\x1b[<{button};{column + 1};{row + 1}{end}".encode()))


def drag(tmux: Tmux, start: tuple[int, int], end: tuple[int, int]) -> None:
    told(tmux, 0, *start)
    told(tmux, 32, *start)
    told(tmux, 32, *end)
    told(tmux, 0, *end, "m")


def where(tmux: Tmux, words: str) -> tuple[int, int]:
    for row, line in enumerate(tmux.screen.splitlines()):
        if words in line:
            return line.index(words), row
    raise AssertionError(f"{words!r} is not on the screen:\n{tmux.screen}")


def grounds(tmux: Tmux, row: int) -> set[str]:
    """The colours behind the text of a line."""
    return set(re.findall(r"48;2;\d+;\d+;\d+", tmux.coloured.splitlines()[row]))


def until_painted(tmux: Tmux, row: int, before: set[str]) -> None:
    """Waits until something in a line stands out."""
    end = time.monotonic() + PATIENCE
    while not grounds(tmux, row) - before:
        assert time.monotonic() < end, f"nothing stands out in {tmux.coloured.splitlines()[row]!r}"
        time.sleep(0.03)


def copied(tmux: Tmux) -> str:
    tmux.keys("C-c")
    tmux.until("Copied \\d+ characters")
    end = time.monotonic() + PATIENCE
    while not (text := tmux.clipboard):
        assert time.monotonic() < end, "nothing was copied"
        time.sleep(0.03)
    return text


def test_text_is_marked_by_a_drag_and_copied(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.takes_copies()
    say(tmux, "shows", "The grass is green")
    x, y = where(tmux, "grass")
    before = grounds(tmux, y)
    drag(tmux, (x, y), (x + 7, y))
    until_painted(tmux, y, before)
    assert copied(tmux) == "grass is"
    tmux.type("still typing")
    tmux.until("│ still typing")


def test_two_clicks_mark_a_word_and_a_click_still_opens(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.takes_copies()
    say(tmux, "edits", "Looked")
    tmux.click_on("Look at a place")
    tmux.until("three flowers")
    x, y = where(tmux, "flowers")
    before = grounds(tmux, y)
    for _ in range(2):
        tmux.mouse(x, y)
    until_painted(tmux, y, before)
    assert copied(tmux) == "flowers"
    assert "three flowers" in tmux.screen


def test_marking_without_colours_is_seen(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"), NO_COLOR="1")
    say(tmux, "shows", "The grass is green")
    x, y = where(tmux, "grass")
    drag(tmux, (x, y), (x + 4, y))
    tmux.until("ctrl\\+c copies")
    assert re.search(r"\x1b\[(?:[0-9;]*;)?7m(?:\x1b\[[0-9;]*m)*grass", tmux.coloured), repr(
        tmux.coloured.splitlines()[y]
    )


def test_marking_goes_on_above_the_window_and_joins_broken_lines(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"), size=(60, 24))
    tmux.takes_copies()
    say(tmux, "tells 60", "Told")
    x, y = where(tmux, "message 60")
    told(tmux, 0, x + 9, y)
    told(tmux, 32, 2, 3)
    told(tmux, 32, 2, 0)
    tmux.until("message 10")
    told(tmux, 32, 4, 10)
    told(tmux, 0, 4, 10, "m")
    text = copied(tmux)
    assert text.endswith("message 60")
    assert all(f"message {number}" in text for number in range(25, 61))
    assert "▌" not in text and "█" not in text
