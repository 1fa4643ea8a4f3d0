"""The mouse in a real terminal: what is clicked on, the wheel, the bar at the side."""

from __future__ import annotations

import re

import pytest
from scenes import SHOWCASE, agent_at, chat, say
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_click_opens_a_call_and_another_folds_it_and_the_keys_stay_in_the_prompt(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    say(tmux, "edits", "Looked")
    tmux.click_on("Look at a place")
    screen = tmux.until("three flowers")
    assert "→ garden.py:3" in screen
    tmux.click_on("Look at a place")
    tmux.until_gone("three flowers")
    tmux.type("typed after a click")
    tmux.until("│ typed after a click")


def test_the_wheel_scrolls_and_at_the_end_the_view_follows_again(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"), size=(90, 30))
    say(tmux, "tells 60", "Told")
    tmux.wheel(20, 10, -8)
    tmux.until_gone("Told")
    tmux.until("This is message 4\\d")
    tmux.wheel(20, 10, 30)
    tmux.until("Told")
    tmux.until("message 60")
    say(tmux, "shows", "The grass is green")


def test_a_click_on_the_bar_goes_there(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"), size=(90, 30))
    say(tmux, "tells 60", "Told")
    screen = tmux.screen.splitlines()
    column = max(len(line) for line in screen if "█" in line) - 1
    assert screen[0].ljust(column + 1)[column] == "│"
    tmux.mouse(column, 0)
    tmux.until("This is message 1\\.")
    tmux.mouse(column, 12)
    screen_text = tmux.until("This is message 3\\d")
    assert "This is message 60" not in screen_text


def test_tabs_are_clicked_on(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    say(tmux, "/title Apples", "is called “Apples”")
    tmux.keys("C-t")
    tmux.until("1 +Apples")
    tmux.until("● ready")
    say(tmux, "/title Pears", "is called “Pears”")
    tmux.click_on("Apples")
    tmux.until("is called “Apples”")
    tmux.click_on("Pears")
    tmux.until("is called “Pears”")


def test_an_answer_is_clicked_on(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.send("many")
    tmux.until("9\\. Way number 9")
    tmux.until("number or")  # a question that has just appeared takes neither keys nor clicks
    tmux.click_on("Way number 6")
    tmux.until("You chose way-6")


def test_completions_and_rows_of_lists_are_clicked_on(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.type("/permiss")
    tmux.until("❯ /permission(.|\n)*│ /permiss +│")
    tmux.until_gone("/plan")
    tmux.click_on("❯ /permission")
    tmux.until(r"│ /permission +│")
    tmux.keys("C-u")
    tmux.keys("C-g")
    screen = tmux.until("Model: Small 1  ")
    assert re.search("Effort: ", screen)
    tmux.click_on("Model: Small 1  ")
    tmux.until("Large ones")
    tmux.click_on("Large 1")
    tmux.until_gone("Large ones")
    tmux.until("Model: Large 1")


def test_a_prompt_that_waits_is_clicked_on(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.send("works")
    tmux.until("Hard at work")
    for word in ("first", "second"):
        tmux.send(f"{word} in line")
        tmux.until(rf"\d\. {word} in line")
    tmux.click_on("first in line")
    tmux.until("1 queued")
    tmux.until("│ first in line")
