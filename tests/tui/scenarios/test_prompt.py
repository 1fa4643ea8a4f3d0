"""The prompt in a real terminal: queue, prompts during a turn, history, completion, attachments."""

from __future__ import annotations

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, chat, say
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_queued_prompts_are_listed_edited_and_removed(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
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
def test_a_prompt_can_be_sent_during_a_turn(tmux: Tmux, version: tuple[str, ...]) -> None:
    chat(tmux, agent_at("tui_agent.py"), *version)
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


def test_mentioned_files_are_sent_with_the_prompt(tmux: Tmux) -> None:
    (tmux.project / "plan.md").write_text("# The plan\n")
    (tmux.project / "secret.md").write_text("hidden\n")
    (tmux.project / ".gitignore").write_text("secret.md\n")
    chat(tmux, agent_at("tui_agent.py"))
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


def test_a_missing_file_is_reported_and_a_tab_waits_for_the_list(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("these are notes\n")
    chat(tmux, SHOWCASE)
    tmux.type("@nothere.txt and me@example.txt")
    tmux.until("@nothere.txt not found; it will be sent as text")
    tmux.keys("C-u")
    tmux.until_gone("not found")
    tmux.keys("@", "n", "o", "t", "Tab", "o", "k")  # all at once
    tmux.until("@notes.md ok")


def test_commands_have_hints_and_several_lines_can_be_pasted(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.type("/sl")
    screen = tmux.until("❯ /slow")
    assert "Streams slowly and can be cancelled" in screen
    tmux.keys("Tab")
    tmux.until("seconds \\(default 10\\)")
    tmux.keys("C-u")
    tmux.paste("/title one\ntwo\n")
    tmux.until("two")
    assert "title is now" not in tmux.screen
    tmux.keys("Enter")
    tmux.until("title is now “one two”")
    tmux.until("● ready")
    say(tmux, "/thoughts", "this is a second message")
