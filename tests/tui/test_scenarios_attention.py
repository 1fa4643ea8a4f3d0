"""Bells, copies and the order of reading in a real terminal."""

from __future__ import annotations

import re

import pytest
from scenes import SHOWCASE, agent_at, chat, say, to_conversation, until_in
from tmux import Tmux

pytestmark = pytest.mark.slow

BELL = b"\x07"


WAYS = {"in tmux": (b"\x1bPtmux;\x1b\x1b]9;", b"\x1b\x1b\\\x1b\\", {}), "alone": (b"\x1b]9;", b"\x1b\\", {"TMUX": ""})}
"""How a notification begins and ends: in a multiplexer, which is asked to pass it on, and without one."""


def bells(raw: bytes) -> int:
    """Bells that ring; one that ends a longer sequence does not."""
    return re.sub(rb"\x1b\][^\x07\x1b]*\x07", b"", raw).count(BELL)


def draw_more(tmux: Tmux, words: str) -> None:
    """Has something drawn, so that whatever was to be written before it is written; and takes it away again."""
    tmux.type(f"drawn {words}")
    tmux.until(f"│ drawn {words}")
    tmux.keys("C-u")
    tmux.until_gone(f"drawn {words}")


@pytest.mark.parametrize("where", WAYS)
def test_a_turn_that_ends_while_the_user_looks_elsewhere_rings_and_one_that_is_seen_does_not(
    tmux: Tmux, where: str
) -> None:
    begins, ends, env = WAYS[where]
    chat(tmux, agent_at("trying.py"), **env)
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


def test_how_one_is_called_is_a_setting_that_lasts(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.keys("F10")
    tmux.until("When you look elsewhere: notification")
    tmux.type("elsewhere")
    tmux.until_gone("Theme: ")
    tmux.keys("Enter")
    tmux.until("the bell of the terminal rings")
    tmux.type("nothing happens")
    tmux.until_gone("the bell of the terminal rings")
    tmux.keys("Enter")
    tmux.until("When you look elsewhere: off")
    tmux.keys("Escape")
    tmux.until_gone("When you look elsewhere: ")
    tmux.close()
    chat(tmux, agent_at("trying.py"))
    raw = tmux.record()
    tmux.look_away()
    say(tmux, "shows", "The grass is green")
    draw_more(tmux, "after it")
    assert b"]9;" not in raw.read_bytes() and bells(raw.read_bytes()) == 0


def test_a_turn_that_ends_in_another_tab_rings_and_its_tab_is_marked(tmux: Tmux) -> None:
    chat(tmux, agent_at("working.py"), TMUX="")
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


def test_what_is_copied_is_in_the_clipboard_of_the_terminal(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.takes_copies()
    say(tmux, "shows", "The grass is green")
    to_conversation(tmux)
    tmux.keys("y")
    tmux.until("Copied 19 characters")
    assert tmux.clipboard == "The grass is green."
    tmux.keys("Up")
    tmux.keys("y")
    tmux.until("Copied 5 characters")
    assert tmux.clipboard == "shows"


def test_the_page_reads_from_the_conversation_down_to_the_prompt_and_the_cursor_is_where_one_types(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"), size=(80, 24))
    tmux.send("works")
    tmux.until("Hard at work")
    tmux.send("waits in line")
    tmux.until("1\\. waits in line")
    tmux.type("日本 typed")
    screen = tmux.until("│ 日本 typed").splitlines()
    places = [
        next(row for row, line in enumerate(screen) if wanted in line)
        for wanted in ("works", "Hard at work", "1. waits in line", "│ 日本 typed", "working")
    ]
    assert places == sorted(places) and len(set(places)) == len(places)
    assert places[-1] == 23  # the state is the last line, always
    column = len("│ ") + 2 * len("日本") + len(" typed")
    assert tmux.cursor == (column, places[3])


def test_a_question_stands_between_the_conversation_and_the_prompt_and_says_what_it_is(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(80, 30))
    tmux.send("/permission command")
    screen = tmux.until("number or").splitlines()
    places = [
        next(row for row, line in enumerate(screen) if wanted in line)
        for wanted in ("/permission command", "Permission needed", "$ make test", "1. ", "╰────", "waiting for you")
    ]
    assert places == sorted(places)


def test_a_question_in_a_tab_that_is_not_seen_is_told_of_and_gone_to(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"), size=(80, 24))
    for number in range(2, 8):
        tmux.keys("C-t")
        tmux.until(rf"^[^\n]* {number} [^\n]*\n(.|\n)*● ready")
    tmux.send("several")
    tmux.until("Permission needed")
    tmux.keys("F8")
    tmux.until_gone("Permission needed")
    screen = tmux.until(r"tab 7 waits \(alt\+t\)")
    assert screen.splitlines()[0].rstrip().endswith("?›")
    tmux.keys("M-t")
    tmux.until(r"Permission needed \(1 of 3\)")
    tmux.until(r"^‹")
