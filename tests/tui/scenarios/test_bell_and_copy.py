"""Bells, the clipboard and the layout in a real terminal."""

from __future__ import annotations

import re

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, chat, say, to_conversation, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow

BELL = b"\x07"


WAYS = {"in tmux": (b"\x1bPtmux;\x1b\x1b]9;", b"\x1b\x1b\\\x1b\\", {}), "alone": (b"\x1b]9;", b"\x1b\\", {"TMUX": ""})}
"""How a notification begins and ends: in a multiplexer, which is asked to pass it on, and without one."""


def bells(raw: bytes) -> int:
    """Count bells, except those that end an escape sequence."""
    return re.sub(rb"\x1b\][^\x07\x1b]*\x07", b"", raw).count(BELL)


def draw_more(tmux: Tmux, words: str) -> None:
    """Type and delete text, so that everything before it has been written."""
    tmux.type(f"drawn {words}")
    tmux.until(f"│ drawn {words}")
    tmux.keys("C-u")
    tmux.until_gone(f"drawn {words}")


@pytest.mark.parametrize("where", WAYS)
def test_the_end_of_a_turn_rings_only_if_the_terminal_is_unfocused(tmux: Tmux, where: str) -> None:
    begins, ends, env = WAYS[where]
    chat(tmux, agent_at("tui_agent.py"), **env)
    tmux.look_back()
    raw = tmux.record()
    say(tmux, "shows", "The grass is green")
    draw_more(tmux, "once")
    assert b"]9;" not in raw.read_bytes() and bells(raw.read_bytes()) == 0
    tmux.look_away()
    say(tmux, "edits", "Looked")
    told = until_in(raw, b": the turn has ended" + ends + BELL)
    assert begins in told and bells(told) == 1
    tmux.look_back()
    say(tmux, "shows", "green(.|\n)*green")
    draw_more(tmux, "again")
    assert raw.read_bytes().count(b"]9;") == 1 and bells(raw.read_bytes()) == 1


def test_the_notification_setting_is_saved(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.keys("F10")
    tmux.until("When you're away: notification")
    tmux.type("away")
    tmux.until_gone("Theme: ")
    tmux.keys("Enter")
    tmux.until("ring the terminal bell")
    tmux.type("do nothing")
    tmux.until_gone("ring the terminal bell")
    tmux.keys("Enter")
    tmux.until("When you're away: off")
    tmux.keys("Escape")
    tmux.until_gone("When you're away: ")
    tmux.close()
    chat(tmux, agent_at("tui_agent.py"))
    raw = tmux.record()
    tmux.look_away()
    say(tmux, "shows", "The grass is green")
    draw_more(tmux, "after it")
    assert b"]9;" not in raw.read_bytes() and bells(raw.read_bytes()) == 0


def test_the_end_of_a_turn_in_another_tab_rings_and_marks_the_tab(tmux: Tmux) -> None:
    chat(tmux, agent_at("stepwise_agent.py"), TMUX="")
    raw = tmux.record()
    tmux.send("hurries_slowly")
    tmux.until("I begin")
    tmux.keys("C-t")
    tmux.until("1 ◐ Slow one")
    (tmux.project / "go-on").touch()
    tmux.until("1 ● Slow one")
    until_in(raw, b"Slow one: the turn has ended\x1b\\\x07")
    tmux.keys("F7")
    tmux.until("I have done it")
    tmux.until_gone("1 ● Slow one")


def test_copied_text_reaches_the_terminal_s_clipboard(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.takes_copies()
    say(tmux, "shows", "The grass is green")
    to_conversation(tmux)
    raw = tmux.record()
    tmux.keys("y")
    until_in(raw, b"Copied 19 characters")
    assert tmux.clipboard == "The grass is green."
    tmux.keys("Up")
    tmux.keys("y")
    until_in(raw, b"Copied 5 characters")
    assert tmux.clipboard == "shows"


def test_the_layout_is_transcript_queue_prompt_status_with_the_cursor_in_the_prompt(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(80, 24))
    tmux.send("works")
    tmux.until("Hard at work")
    tmux.send("waits in line")
    tmux.until("1\\. waits in line")
    tmux.type("日本 typed")
    parts = ("works", "Hard at work", "1. waits in line", "│ 日本 typed", "working")
    screen = tmux.until_all(*parts).splitlines()
    places = [next(row for row, line in enumerate(screen) if wanted in line) for wanted in parts]
    assert places == sorted(places) and len(set(places)) == len(places)
    assert places[-1] == 22  # the state is the last line but one, above the keys
    column = len("│ ") + 2 * len("日本") + len(" typed")
    tmux.until_cursor(column, places[3])


def test_a_permission_request_is_between_the_transcript_and_the_prompt(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(80, 30))
    tmux.send("/permission command")
    parts = ("/permission command", "Permission needed", "$ make test", "1. ", "╰────", "? waiting for you")
    screen = tmux.until_all("number or", *parts).splitlines()
    places = [next(row for row, line in enumerate(screen) if wanted in line) for wanted in parts]
    assert places == sorted(places)


def test_a_permission_request_in_a_hidden_tab_is_announced_and_a_key_goes_there(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(80, 24))
    for number in range(2, 8):
        tmux.keys("C-t")
        tmux.until(rf"^[^\n]*\n[^\n]* {number} [^\n]*\n(.|\n)*● ready")
    tmux.send("several")
    tmux.until("Permission needed")
    tmux.keys("F8")
    tmux.until_gone("Permission needed")
    tmux.until(r"tab 7 waits \(alt\+t\)")
    tmux.until_true(lambda screen: screen.splitlines()[1].rstrip().endswith("?›"), "the mark of a hidden tab")
    tmux.keys("M-t")
    tmux.until(r"Permission needed \(1 of 3\)")
    tmux.until(r"\n‹")
