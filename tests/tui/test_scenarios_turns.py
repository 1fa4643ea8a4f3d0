"""Prompts, turns and sessions in a real terminal: what an agent has not taken, going on with a session, the history."""

from __future__ import annotations

import json

import pytest
from scenes import CODER, SHOWCASE, chat, say
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_a_prompt_sent_into_a_turn_is_seen_until_the_agent_takes_it_and_can_be_had_back(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2")
    tmux.send("/slow 20")
    tmux.until("1 of 1")
    tmux.type("what about pears")
    tmux.keys("C-s")
    tmux.until(r"what about pears +\(sent, not taken yet\)")
    tmux.keys("M-Up")
    tmux.until_gone("not taken yet")
    tmux.until("│ what about pears")
    tmux.keys("Escape")
    tmux.until("Cancelled")


def test_a_session_is_gone_on_with_where_it_was_left(tmux: Tmux) -> None:
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


def test_a_session_that_is_not_there_is_told_of_and_a_new_one_is_a_key_away(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE, "--session", "nothing-like-it", size=(80, 24))
    tmux.until("nothing-like-it")
    tmux.until("ctrl.r begins a new one")
    tmux.keys("C-r")
    tmux.until("A new session")
    say(tmux, "/title Apples", "is called “Apples”")


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


def test_an_earlier_prompt_is_found_in_another_run(tmux: Tmux) -> None:
    chat(tmux)
    say(tmux, "tell me about apples", "tell me about apples")
    say(tmux, "tell me about pears", "tell me about pears")
    tmux.keys("C-c", "C-c")
    tmux.until("it ended with 0")
    tmux.close()
    chat(tmux)
    tmux.keys("M-h")
    tmux.until("Earlier prompts")
    tmux.type("apples")
    tmux.until_gone("about pears")
    tmux.keys("Enter")
    tmux.until_gone("Earlier prompts")
    tmux.until("│ tell me about apples")


def test_a_session_is_found_by_what_was_said_in_it_and_written_to_a_file(tmux: Tmux) -> None:
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
    tmux.until("Write it as")
    tmux.keys("Down", "Enter")
    tmux.until(r"The file to write to(.|\n)*\.json")
    tmux.keys("C-u")
    tmux.send("kept.json")
    tmux.until("Written to")
    document = json.loads((tmux.project / "kept.json").read_text())
    assert "wombat" in json.dumps(document["items"])
    tmux.until("Sessions of")


def test_a_queue_waits_for_the_user_after_an_agent_died_at_work(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.send("/slow 30")
    tmux.until("1 of 1")
    tmux.send("/title Apples")
    tmux.until("1 queued")
    tmux.keys("F12")
    tmux.until("End the agent at once")
    tmux.keys("Down", "Enter")
    tmux.until("✗ gone")
    tmux.keys("C-r")
    tmux.until("1 queued, on hold")
    tmux.until("● ready")
    tmux.keys("Enter")
    tmux.until("is called “Apples”")
    tmux.until_gone("1 queued")
