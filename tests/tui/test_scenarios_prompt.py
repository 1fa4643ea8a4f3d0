"""The prompt in a real terminal: what waits, what is sent into a turn, earlier prompts, completion, attachments."""

from __future__ import annotations

import pytest
from scenes import SHOWCASE, agent_at, chat, say
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_prompts_that_wait_are_listed_changed_and_removed(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.send("works")
    tmux.until("Hard at work")
    for number in ("first", "second", "third"):
        tmux.send(f"{number} in line")
        tmux.until(rf"\d\. {number} in line")
    tmux.until("3 queued")
    tmux.keys("M-Up")
    tmux.until("2 queued")
    tmux.until("│ third in line")
    tmux.send(", changed")
    tmux.until(r"3\. third in line, changed")
    tmux.keys("F6")
    tmux.until("❯ 1. first")
    tmux.keys("Down")
    tmux.until("❯ 2. second")
    tmux.keys("DC")
    tmux.until("2 queued")
    tmux.until_gone("second in line")
    tmux.keys("Up")
    tmux.until("❯ 1. first")
    tmux.keys("Enter")
    tmux.until("│ first in line")
    tmux.send(" no more")
    tmux.until(r"2\. first in line no more")
    tmux.keys("Escape")
    tmux.until("Cancelled")
    tmux.until("2 queued, on hold")  # who stops the agent may want something else now
    tmux.keys("Enter")
    tmux.until("You said: third in line, changed")
    tmux.until("You said: first in line no more")
    tmux.until("● ready")
    assert "second" not in tmux.screen


@pytest.mark.parametrize("version", [(), ("--v2",)], ids=["version 1", "version 2"])
def test_a_prompt_is_sent_while_a_turn_runs(tmux: Tmux, version: tuple[str, ...]) -> None:
    chat(tmux, agent_at("trying.py"), *version)
    tmux.send("works")
    tmux.until("Hard at work")
    tmux.type("turn left")
    tmux.keys("C-s")
    tmux.until("You said: turn left")
    if version:
        tmux.keys("Escape")
    tmux.until("Cancelled")
    tmux.until("● ready")
    # Earlier prompts come back, the last one first; several lines are one prompt.
    tmux.keys("Up")
    tmux.until("│ turn left")
    tmux.keys("Up")
    tmux.until("│ works")
    tmux.keys("Down")
    tmux.until("│ turn left")
    tmux.keys("C-j")
    tmux.send("then right")
    tmux.until(r"You said: turn left *(│ *)?\n *then right")


def test_files_that_are_named_go_with_the_prompt(tmux: Tmux) -> None:
    (tmux.project / "plan.md").write_text("# The plan\n")
    (tmux.project / "secret.md").write_text("hidden\n")
    (tmux.project / ".gitignore").write_text("secret.md\n")
    chat(tmux, agent_at("trying.py"))
    tmux.type("read @")
    screen = tmux.until("❯ .*plan.md|❯ .gitignore")
    assert "secret.md" not in screen
    tmux.type("pla")
    tmux.until("❯ plan.md")
    tmux.keys("Enter")
    tmux.until("read @plan.md")
    tmux.keys("Enter")
    tmux.until("You said: read (.|\n)*with TextContent, (Embedded|Resource|Link)")
    tmux.until("● ready")


def test_a_file_that_is_not_there_is_told_and_a_tab_waits_for_the_list(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("these are notes\n")
    chat(tmux, SHOWCASE)
    tmux.type("@nothere.txt and me@example.txt")
    tmux.until("@nothere.txt is no file here: it is sent as text")
    tmux.keys("C-u")
    tmux.until_gone("is no file here")
    tmux.keys("@", "n", "o", "t", "Tab", "o", "k")  # all at once
    tmux.until("@notes.md ok")


def test_commands_have_hints_and_many_lines_can_be_pasted(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.type("/sl")
    screen = tmux.until("❯ /slow")
    assert "Streams slowly and can be cancelled" in screen
    tmux.keys("Tab")
    tmux.until("seconds, 10 unless said")
    tmux.keys("C-u")
    tmux.paste("/title one\ntwo\n")
    tmux.until("two")
    assert "is called" not in tmux.screen
    tmux.keys("Enter")
    tmux.until("is called “one two”")
    tmux.until("● ready")
    say(tmux, "/thoughts", "this is a second message")
