"""The mouse in a real terminal: clicks, the wheel and the scrollbar."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, chat, say
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_clicks_open_and_close_a_tool_call_and_the_prompt_keeps_the_focus(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    say(tmux, "edits", "Looked")
    tmux.click_on("Look at a place")
    tmux.until_all("three flowers", "→ garden.py:3")
    tmux.click_on("Look at a place")
    tmux.until_gone("three flowers")
    tmux.type("typed after a click")
    tmux.until("│ typed after a click")


def test_the_wheel_scrolls_and_following_resumes_at_the_end(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(90, 30))
    say(tmux, "tells 60", "Told")
    tmux.wheel(20, 10, -8)
    tmux.until_gone("Told")
    tmux.until("This is message 4\\d")
    tmux.wheel(20, 10, 30)
    tmux.until("Told")
    tmux.until("message 60")
    say(tmux, "shows", "The grass is green")


def test_a_click_on_the_scrollbar_scrolls_there(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"), size=(90, 30))
    say(tmux, "tells 60", "Told")
    screen = tmux.until(r"▐\s*\n").splitlines()
    column = max(len(line) for line in screen if line.rstrip().endswith("▐")) - 1
    tmux.mouse(column, 1)
    tmux.until("This is message 1\\.")
    tmux.mouse(column, 12)
    screen_text = tmux.until("This is message 3\\d")
    assert "This is message 60" not in screen_text


def test_a_click_switches_tabs(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    say(tmux, "/title Apples", "title is now “Apples”")
    tmux.keys("C-t")
    tmux.until("1 +Apples")
    tmux.until("● ready")
    say(tmux, "/title Pears", "title is now “Pears”")
    tmux.click_on("Apples")
    tmux.until("title is now “Apples”")
    tmux.click_on("Pears")
    tmux.until("title is now “Pears”")


def test_a_click_answers_a_permission_request(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.send("many")
    tmux.until("9\\. Way number 9")
    tmux.until("number or")  # a question that has just appeared takes neither keys nor clicks
    tmux.click_on("Way number 6")
    tmux.until("You chose way-6")


def test_a_click_chooses_completions_and_rows(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.type("/permiss")
    tmux.until("❯ /permission(.|\n)*│ /permiss +│")
    tmux.until_gone("/plan")
    tmux.click_on("❯ /permission")
    tmux.until(r"│ /permission +│")
    tmux.keys("C-u")
    tmux.keys("C-g")
    tmux.until_all("Model: Small 1  ", "Effort: ")
    tmux.click_on("Model: Small 1  ")
    tmux.until("Large models")
    tmux.click_on("Large 1")
    tmux.until_gone("Large models")
    tmux.until("· Large 1 ·")


def test_a_click_edits_a_queued_prompt(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    tmux.send("works")
    tmux.until("Hard at work")
    for word in ("first", "second"):
        tmux.send(f"{word} in line")
        tmux.until(rf"\d\. {word} in line")
    tmux.click_on("first in line")
    tmux.until("1 queued")
    tmux.until("│ first in line")
