"""Selecting text with the mouse in a real terminal, and copying it."""

from __future__ import annotations

import re
import time

import pytest
from support.terminal_scenarios import agent_at, chat, say, until_in
from support.tmux import TIMEOUT_SECONDS, Tmux

pytestmark = pytest.mark.slow


def send_mouse(tmux: Tmux, button: int, column: int, row: int, end: str = "M") -> None:
    """Send a mouse event as a terminal does; columns and rows count from 0."""
    tmux.keys("-H", *(f"{each:x}" for each in f"\x1b[<{button};{column + 1};{row + 1}{end}".encode()))


def drag(tmux: Tmux, start: tuple[int, int], end: tuple[int, int]) -> None:
    send_mouse(tmux, 0, *start)
    send_mouse(tmux, 32, *start)
    send_mouse(tmux, 32, *end)
    send_mouse(tmux, 0, *end, "m")


def where(tmux: Tmux, words: str) -> tuple[int, int]:
    for row, line in enumerate(tmux.screen.splitlines()):
        if words in line:
            return line.index(words), row
    raise AssertionError(f"{words!r} is not on the screen:\n{tmux.screen}")


def grounds(tmux: Tmux, row: int) -> set[str]:
    """Return the background colors of a line."""
    return set(re.findall(r"48;2;\d+;\d+;\d+", tmux.colored.splitlines()[row]))


def until_painted(tmux: Tmux, row: int, before: set[str]) -> None:
    """Wait until the background of a line changes."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not grounds(tmux, row) - before:
        assert time.monotonic() < end, f"nothing stands out in {tmux.colored.splitlines()[row]!r}"
        time.sleep(0.03)


def read_clipboard(tmux: Tmux) -> str:
    raw = tmux.record()
    tmux.keys("C-c")
    end = time.monotonic() + TIMEOUT_SECONDS
    while not (text := tmux.clipboard):
        assert time.monotonic() < end, "nothing was copied"
        time.sleep(0.03)
    until_in(raw, f"Copied {len(text)} characters".encode())
    return text


def test_dragging_selects_text_to_copy(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.takes_copies()
    say(tmux, "shows", "The grass is green")
    x, y = where(tmux, "grass")
    before = grounds(tmux, y)
    drag(tmux, (x, y), (x + 7, y))
    until_painted(tmux, y, before)
    assert read_clipboard(tmux) == "grass is"
    tmux.type("still typing")
    tmux.until("│ still typing")


def test_a_double_click_selects_a_word_and_a_click_still_opens(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.takes_copies()
    say(tmux, "edits", "Looked")
    tmux.click_on("Look at a place")
    tmux.until("three flowers")
    x, y = where(tmux, "flowers")
    before = grounds(tmux, y)
    for _ in range(2):
        tmux.mouse(x, y)
    until_painted(tmux, y, before)
    assert read_clipboard(tmux) == "flowers"
    assert "three flowers" in tmux.screen


def test_a_selection_is_visible_without_colors(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), NO_COLOR="1")
    say(tmux, "shows", "The grass is green")
    x, y = where(tmux, "grass")
    raw = tmux.record()
    drag(tmux, (x, y), (x + 4, y))
    until_in(raw, b"ctrl+c copies")
    reversed_word = re.compile(r"\x1b\[(?:[0-9;]*;)?7m(?:\x1b\[[0-9;]*m)*grass")
    tmux.until_true(lambda _: reversed_word.search(tmux.colored) is not None, "the word in reverse")


def test_a_selection_scrolls_beyond_the_window_and_joins_wrapped_lines(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(60, 24))
    tmux.takes_copies()
    say(tmux, "tells 60", "Told")
    x, y = where(tmux, "message 60")
    before = grounds(tmux, y)
    send_mouse(tmux, 0, x + 9, y)
    send_mouse(tmux, 32, 2, 3)
    until_painted(tmux, y, before)  # from here on the transcript gets the mouse events of the header, too
    send_mouse(tmux, 32, 2, 0)
    tmux.until(r"message 1\.")  # the top, where scrolling ends
    send_mouse(tmux, 32, 4, 10)
    send_mouse(tmux, 0, 4, 10, "m")
    text = read_clipboard(tmux)
    assert text.endswith("message 60")
    assert all(f"message {number}" in text for number in range(25, 61))
    assert "▌" not in text and "█" not in text
