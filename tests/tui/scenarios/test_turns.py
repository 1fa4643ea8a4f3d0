"""Prompts, turns and sessions in a real terminal: withdrawn prompts, continued sessions, history."""

from __future__ import annotations

import json

import pytest
from support.terminal_scenarios import CODER, SHOWCASE, chat, say, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_prompt_sent_during_a_turn_is_shown_until_accepted_and_can_be_withdrawn(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2")
    tmux.send("/slow 20")
    tmux.until("1 of 1")
    tmux.type("what about pears")
    tmux.keys("C-s")
    tmux.until(r"what about pears +\(sent, not picked up yet\)")
    tmux.keys("M-Up")
    tmux.until_gone("not picked up yet")
    tmux.until("│ what about pears")
    tmux.keys("Escape")
    tmux.until("Cancelled")


def test_a_session_is_continued(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    chat(tmux, CODER)
    say(tmux, 'search for "wombat" in notes.md', "The secret word is wombat")
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    tmux.close()
    chat(tmux, CODER)  # looks in, and leaves nothing behind
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    tmux.close()
    chat(tmux, CODER, "--continue")
    tmux.until('search for "wombat" in notes.md')
    tmux.close()
    tmux.start("-c", size=(120, 40))
    tmux.until('search for "wombat" in notes.md')


def test_a_missing_session_is_reported_and_one_key_opens_a_new_one(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE, "--session", "nothing-like-it", size=(80, 24))
    tmux.until("nothing-like-it")
    tmux.until("ctrl.r new session")
    tmux.keys("C-r")
    tmux.until("New session")
    say(tmux, "/title Apples", "title is now “Apples”")


def test_files_of_a_large_project_are_completed(tmux: Tmux) -> None:
    for number in range(20_000):
        folder = tmux.project / f"package_{number // 500}"
        if number % 500 == 0:
            folder.mkdir()
        (folder / f"module_{number}.py").touch()
    (tmux.project / ".gitignore").write_text("package_3/\n")
    chat(tmux)
    tmux.type("see @pack7mod3987")
    tmux.until("❯ package_7/module_3987.py")
    tmux.keys("Tab")
    tmux.until("│ see @package_7/module_3987.py")
    tmux.type("and @package_3/")
    screen = tmux.until(r"❯ package_\d\d/")
    assert " package_3/" not in screen


def test_a_prompt_is_found_in_a_later_run(tmux: Tmux) -> None:
    chat(tmux)
    say(tmux, "/title green apples", "title is now “green apples”")
    say(tmux, "/title ripe pears", "title is now “ripe pears”")
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    tmux.close()
    chat(tmux)
    tmux.keys("M-h")
    tmux.until("Previous prompts(.|\n)*ripe pears")
    tmux.type("apples")
    tmux.until_gone("ripe pears")
    tmux.keys("Enter")
    tmux.until_gone("Previous prompts")
    tmux.until("│ /title green apples")


def test_a_session_is_found_by_its_text_and_exported(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    chat(tmux, CODER)
    say(tmux, "list files", "notes.md")
    tmux.keys("C-t")
    tmux.until(" 2 ")
    tmux.until("● ready")
    say(tmux, 'search for "secret" in notes.md', "The secret word is wombat")
    tmux.keys("C-o")
    tmux.until("Sessions of(.|\n)*list files")
    tmux.type("wombat")
    tmux.until("“[^\n]*wombat")
    tmux.until_gone("list files +20")
    tmux.keys("F9")
    tmux.until("Export as")
    tmux.keys("Down", "Enter")
    tmux.until(r"File to write(.|\n)*\.json")
    tmux.keys("C-u")
    raw = tmux.record()
    tmux.send("kept.json")
    until_in(raw, b"Exported to")
    document = json.loads((tmux.project / "kept.json").read_text())
    assert "wombat" in json.dumps(document["items"])
    tmux.until("Sessions of")


def test_the_prompt_queue_is_on_hold_after_the_agent_died(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.send("/slow 30")
    tmux.until("1 of 1")
    tmux.send("/title Apples")
    tmux.until("1 queued")
    tmux.keys("F12")
    tmux.until("Kill the agent")
    tmux.keys("Down", "Enter")
    tmux.until("✗ not running")
    tmux.keys("C-r")
    tmux.until("1 queued, on hold")
    tmux.until("● ready")
    tmux.keys("Enter")
    tmux.until("title is now “Apples”")
    tmux.until_gone("1 queued")
