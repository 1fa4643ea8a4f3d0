"""Answers in a real terminal: by number, in every type of field, and without colors."""

from __future__ import annotations

import json
import re

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, answer, chat
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_every_number_from_one_to_nine_chooses_its_answer(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    for number in (9, 2, 5, 7, 3, 8, 4, 6, 1):
        tmux.send("many")
        tmux.until(rf"{number}\. Way number {number}")
        answer(tmux, str(number))
        tmux.until(f"You chose way-{number}")
        tmux.until("● ready")
        tmux.until_gone("Permission needed")  # else the next number is typed for the panel that is about to go


def test_a_number_without_an_answer_does_nothing(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.send("/permission command")
    answer(tmux, "9")
    tmux.keys("0")
    tmux.keys("x")
    tmux.keys("Down")
    tmux.until("❯ 2\\.")
    tmux.keys("Up")
    tmux.until("❯ 1\\.")
    tmux.keys("n")
    tmux.until("Command: “Reject” was chosen")


def test_every_kind_of_field_is_filled_in_with_keys(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(110, 75))
    tmux.send("/elicit form")
    tmux.until("Tuesday(.|\n)*ctrl.s send")
    words = ("Grace", "grace@example.com", "https://example.com/grace", "1906-12-09", "1947-09-09T15:45:00Z", "COB")
    for text in (*words, "85", "0.25"):
        tmux.keys("C-e", "C-u")
        tmux.type(text)
        tmux.until(re.escape(text))
        tmux.keys("Tab")
    tmux.keys("Space")  # subscribe
    tmux.until(r"\[ \] Subscribe")
    tmux.keys("Tab")
    _choose(tmux, "blue", downs=1)
    tmux.keys("Tab")
    _choose(tmux, "Large", downs=2)
    tmux.keys("Tab")
    tmux.keys("Down")  # toppings: olives too
    tmux.keys("Space")
    tmux.until(r"\[x\] *olives")
    tmux.keys("Tab")
    tmux.keys("Down")
    tmux.keys("Space")
    tmux.until(r"\[x\] *Tuesday")
    tmux.keys("C-s")
    tmux.until("accept with")
    screen = tmux.until("● ready")
    found = re.search(r"\{.*\}", re.sub(r" *│ *.*$|│", "", _cut_side_panel(screen), flags=re.MULTILINE), re.DOTALL)
    assert found is not None, screen
    given = json.loads(found[0])
    assert given == {
        "name": "Grace",
        "email": "grace@example.com",
        "homepage": "https://example.com/grace",
        "birthday": "1906-12-09",
        "moment": "1947-09-09T15:45:00Z",
        "code": "COB",
        "age": 85,
        "share": 0.25,
        "subscribe": False,
        "color": "blue",
        "size": "l",
        "toppings": ["cheese", "olives"],
        "days": ["tu"],
    }


def _choose(tmux: Tmux, name: str, downs: int) -> None:
    """Open a list, move down, and choose the row."""
    tmux.keys("Enter")
    tmux.until("▲")
    for _ in range(downs):
        tmux.keys("Down")
    tmux.keys("Enter")
    tmux.until(rf"{name} *▼")


def _cut_side_panel(screen: str) -> str:
    """Return the transcript without the side panel."""
    return "\n".join(line[:74].lstrip(" │") for line in screen.splitlines())


def test_a_form_can_be_declined_and_dismissed(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.send("/elicit choice")
    tmux.until("Which color(.|\n)*ctrl.s")
    tmux.keys("C-x")
    tmux.until("Choice: decline")
    tmux.until("● ready")
    tmux.send("/elicit choice")
    tmux.until("Which color(.|\n)*ctrl.s")
    tmux.keys("Escape")
    tmux.until("Choice: cancel")


def test_everything_is_readable_without_colors(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", NO_COLOR="1", size=(100, 60))
    tmux.send("/tools 1")
    tmux.until("10 kinds, 6 statuses")
    tmux.until_all("✗ • Status: failed", "⊘ • Status: cancelled", "✓ • Status: completed")
    tmux.until("● ready")
    tmux.send("/permission diff")
    tmux.until_all("number or", "1 - def greet(name):", "1 + def greet(name: str)", "❯ 1. ", "waiting for you")
    tmux.keys("Down")
    tmux.until("❯ 2\\. ")
    tmux.keys("3")
    tmux.until("Diff: “Reject” was chosen")
    assert not re.search(r"\x1b\[[0-9;]*\b[34]8;", tmux.colored), "a color was drawn"
