"""Sessions in a real terminal: tabs, several agents, what is done with a session, and files that go back and forth."""

from __future__ import annotations

import os

import pytest
from scenes import SHOWCASE, agent_at, answer, chat, do, say, until_written
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_two_agents_have_a_tab_each_and_each_goes_on_while_the_other_is_looked_at(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    chat(tmux, None)
    tmux.send('search for "wombat" in notes.md')
    tmux.until("The secret word is wombat")
    tmux.keys("C-n")
    tmux.until("Talk with")
    tmux.type(agent_at("working.py"))
    tmux.until("Start: ")
    tmux.keys("Enter")
    tmux.until_gone("The secret word is wombat")
    tmux.until("● ready")
    tmux.send("hurries_slowly")
    tmux.until("I begin")
    tmux.keys("F7")
    tmux.until("The secret word is wombat")
    (tmux.project / "go-on").touch()
    until_written(tmux.project / "spoken")
    tmux.send("list files")
    tmux.until("notes.md(.|\n)*notes.md")
    tmux.keys("F8")
    tmux.until("I begin. I have done it")
    tmux.keys("F9")
    tmux.until("The secret word is wombat")


@pytest.mark.parametrize("version", [(), ("--v2",)], ids=["version 1", "version 2"])
def test_a_session_is_renamed_forked_resumed_loaded_and_deleted(tmux: Tmux, version: tuple[str, ...]) -> None:
    chat(tmux, SHOWCASE, *version)
    say(tmux, "/title Apples", "is called “Apples”")
    do(tmux, "Rename")
    tmux.until("A new title|title")
    tmux.keys("C-u")
    tmux.send("Pears")
    tmux.until("Renamed")
    tmux.keys("C-o")
    tmux.until("Sessions of Accord showcase(.|\n)*Pears")
    tmux.keys("F6")
    tmux.until_gone("Sessions of")
    tmux.until(" 2 ")
    tmux.until("● ready")
    say(tmux, "/title Figs", "is called “Figs”")
    tmux.keys("F9")
    tmux.until("/title Apples")
    tmux.keys("C-o")
    tmux.until("Sessions of(.|\n)*Figs")
    tmux.type("figs")
    tmux.until_gone("✓ Pears")
    tmux.keys("F5")
    tmux.until_gone("Sessions of")
    tmux.until("● ready")
    tmux.keys("F9")
    tmux.until("/title Apples")
    tmux.keys("C-o")
    tmux.until("Sessions of(.|\n)*Figs")
    tmux.type("figs")
    tmux.until_gone("✓ Pears")
    tmux.keys("Enter")
    tmux.until("/title Figs")
    tmux.keys("F9")
    tmux.until("/title Apples")
    tmux.keys("C-o")
    tmux.until("Sessions of(.|\n)*Figs")
    tmux.type("figs")
    tmux.until_gone("✓ Pears")
    tmux.keys("F8")
    tmux.until("Delete")
    tmux.type("yes")
    tmux.until("yes(.|\n)*Yes")
    tmux.until_gone(r"\bNo\b")
    tmux.keys("Enter")
    tmux.until("Deleted")
    screen = tmux.until("Sessions of(.|\n)*Pears")
    assert "Figs" not in screen


def test_an_export_holds_what_was_said_and_done(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--allow", "all")
    say(tmux, "/title A day out", "is called “A day out”")
    say(tmux, "/diff", "Nothing was changed on the disk")
    do(tmux, "Export")
    tmux.until("Write it as")
    tmux.keys("Enter")
    tmux.until("The file to write to(.|\n)*a-day-out.md")
    tmux.keys("Enter")
    tmux.until("Written to")
    text = (tmux.project / "a-day-out.md").read_text()
    assert text.startswith("# A day out\n")
    assert "## User\n\n> /title A day out\n" in text
    assert "This session is called “A day out” now." in text
    assert "```diff\n" in text


def test_files_are_rewound_to_before_a_turn_and_the_rewind_is_undone(tmux: Tmux) -> None:
    notes = tmux.project / "notes.md"
    notes.write_text("one colour\n")
    chat(tmux, None)
    tmux.until("Mode: Ask")
    tmux.keys("BTab")
    tmux.until("Mode: Code")
    tmux.send('replace "colour" with "color" in notes.md')
    answer(tmux, "y")
    tmux.until("● ready")
    assert notes.read_text() == "one color\n"
    do(tmux, "Rewind files")
    tmux.until("Rewind files to(.|\n)*before: replace")
    tmux.keys("Enter")
    tmux.until("as it was|as they were")
    assert notes.read_text() == "one colour\n"
    do(tmux, "Undo the rewind")
    tmux.until("Rewound(.|\n)*(Rewound|undone|Undone)|undone|Undone")
    assert notes.read_text() == "one color\n"


def test_another_client_goes_on_where_something_was_said_and_hears_that_it_is_not_alone(tmux: Tmux) -> None:
    chat(tmux, None)
    other = Tmux(tmux.folder, f"accord-other-{os.getpid()}")
    try:
        other.start("-c", size=(120, 40))
        other.until("There is no earlier session of this folder")
        other.until("● ready")
        other.keys("C-c")
        other.keys("C-c")
        other.until_gone("● ready")
        other.close()
        say(tmux, "list files", "I list the project")
        other.start("-c", size=(120, 40))
        other.until("I list the project(.|\n)*This session is open in another client, too")
    finally:
        other.close()
