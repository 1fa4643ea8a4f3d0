"""Sessions in a real terminal: tabs, several agents, the session list, and rewinding files."""

from __future__ import annotations

import os

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, answer, chat, do, say, until_in, until_written
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_an_agent_in_another_tab_keeps_running(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("The secret word is wombat.\n")
    chat(tmux, None)
    tmux.send('search for "wombat" in notes.md')
    tmux.until("The secret word is wombat")
    tmux.keys("C-n")
    tmux.until("Start an agent")
    tmux.type(agent_at("stepwise_agent.py"))
    tmux.until("Start: ")
    tmux.keys("Enter")
    tmux.until_gone("Start an agent")  # which may hide the other tab's text
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


def rename(tmux: Tmux, title: str) -> None:
    """Rename the session on the screen."""
    do(tmux, "Rename")
    tmux.until("New title for")
    tmux.keys("C-u")
    tmux.send(title)
    tmux.until_true(lambda _: title in tmux.title, f"{title!r} in the window title")


@pytest.mark.parametrize("version", [(), ("--v2",)], ids=["version 1", "version 2"])
def test_a_session_is_renamed_forked_resumed_loaded_and_deleted(tmux: Tmux, version: tuple[str, ...]) -> None:
    chat(tmux, SHOWCASE, *version)
    say(tmux, "/title Apples", "title is now “Apples”")
    rename(tmux, "Pears")
    tmux.keys("C-o")
    tmux.until("Sessions of Accord showcase(.|\n)*Pears")
    tmux.keys("F6")
    tmux.until_gone("Sessions of")
    tmux.until(" 2 ")
    tmux.until("● ready")
    say(tmux, "/title Figs", "You named this session “Pears”")
    rename(tmux, "Figs")
    tmux.keys("F9")
    tmux.until("/title Apples")
    tmux.keys("C-o")
    tmux.until_all("Sessions of", "Figs", "✓ Pears")
    tmux.type("figs")
    tmux.until_gone("✓ Pears")
    tmux.keys("F5")
    tmux.until_gone("Sessions of")
    tmux.until("● ready")
    tmux.keys("F9")
    tmux.until("/title Apples")
    tmux.keys("C-o")
    tmux.until_all("Sessions of", "Figs", "✓ Pears")
    tmux.type("figs")
    tmux.until_gone("✓ Pears")
    tmux.keys("Enter")
    tmux.until("/title Figs")
    tmux.keys("F9")
    tmux.until("/title Apples")
    tmux.keys("C-o")
    tmux.until_all("Sessions of", "Figs", "✓ Pears")
    tmux.type("figs")
    tmux.until_gone("✓ Pears")
    tmux.keys("F8")
    tmux.until("Delete")
    tmux.type("y")
    tmux.until("Deleted")
    tmux.until_gone("Figs")
    tmux.until("Sessions of(.|\n)*Pears")


def test_an_export_contains_messages_and_diffs(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--allow", "all")
    say(tmux, "/title A day out", "title is now “A day out”")
    say(tmux, "/diff", "No file was changed")
    do(tmux, "Export")
    tmux.until("Export as")
    tmux.keys("Enter")
    tmux.until("File to write(.|\n)*a-day-out.md")
    raw = tmux.record()
    tmux.keys("Enter")
    until_in(raw, b"Exported to")
    text = (tmux.project / "a-day-out.md").read_text()
    assert text.startswith("# A day out\n")
    assert "## User\n\n> /title A day out\n" in text
    assert "The title is now “A day out”." in text
    assert "```diff\n" in text


def test_files_can_be_rewound_and_the_rewind_undone(tmux: Tmux) -> None:
    notes = tmux.project / "notes.md"
    notes.write_text("one apple\n")
    chat(tmux, None)
    tmux.until("Ask")
    tmux.keys("BTab")
    tmux.until("─ Code ─")
    tmux.send('replace "apple" with "pear" in notes.md')
    answer(tmux, "y")
    tmux.until("● ready")
    assert notes.read_text() == "one pear\n"
    do(tmux, "Rewind files")
    tmux.until("Rewind files to(.|\n)*before: replace")
    tmux.keys("Enter")
    tmux.until("Restored:")
    assert notes.read_text() == "one apple\n"
    do(tmux, "Undo the rewind")
    tmux.until("Rewound(.|\n)*(Rewound|undone|Undone)|undone|Undone")
    assert notes.read_text() == "one pear\n"


def test_a_second_client_continues_the_session_and_gets_a_warning(tmux: Tmux) -> None:
    chat(tmux, None)
    other = Tmux(tmux.folder, f"accord-other-{os.getpid()}")
    try:
        other.start("-c", size=(120, 40))
        other.until("There is no earlier session in this directory")
        other.until("● ready")
        other.keys("C-c", "C-c")
        other.until_gone("● ready")
        other.close()
        say(tmux, "list files", "Listing the project")
        other.start("-c", size=(120, 40))
        other.until("Listing the project(.|\n)*This session is open in another window")
    finally:
        other.close()
