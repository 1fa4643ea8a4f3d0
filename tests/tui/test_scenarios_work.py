"""The agent at work, in a real terminal: followed, stopped one thing at a time, in the background, with its plan."""

from __future__ import annotations

import os
import shlex

import pytest
from scenes import SHOWCASE, agent_at, answer, chat, do, say, to_conversation, until_in, until_written
from tmux import Tmux

pytestmark = pytest.mark.slow


@pytest.mark.req("V1-TOOL-18", "V2-TOOL-14")
@pytest.mark.parametrize("size", [(160, 40), (80, 24)])
def test_the_agent_is_followed_from_place_to_place(tmux: Tmux, size: tuple[int, int]) -> None:
    (tmux.project / "one.py").write_text("".join(f"first = {line}\n" for line in range(1, 100)))
    (tmux.project / "two.py").write_text("def second():\n" + "".join(f"    return {line}\n" for line in range(2, 20)))
    chat(tmux, agent_at("working.py"), size=size)
    tmux.keys("M-w")
    tmux.until("told no place in a file yet")
    tmux.send("walks")
    tmux.until("▶40 first = 40")
    (tmux.project / "go-on").touch()
    tmux.until("▶ 7     return 7")
    (tmux.project / "go-away").touch()
    tmux.until("There is no such file now")
    tmux.close()
    chat(tmux, agent_at("working.py"), size=size)
    tmux.until("told no place in a file yet")
    do(tmux, "Follow the agent")
    tmux.until_gone("told no place in a file yet")


def test_a_call_that_nobody_ends_does_not_run_for_ever_and_an_end_that_comes_late_is_taken(tmux: Tmux) -> None:
    chat(tmux, agent_at("working.py"))
    tmux.send("forgets")
    tmux.until("◐ • Dig a hole")
    (tmux.project / "go-on").touch()
    tmux.until("That was it.")
    tmux.until("◇ • Dig a hole")
    tmux.until("no end told")
    tmux.send("remembers")
    tmux.until("✓ • Dig a hole")
    assert "no end told" not in tmux.screen


def test_what_is_said_while_the_editor_is_open_is_there_afterwards_and_was_not_drawn_over_it(tmux: Tmux) -> None:
    script = tmux.folder / "editor"
    lines = ["#!/bin/sh", "echo this is the editor", "touch go-on", "while ! test -e closed; do sleep 0.05; done"]
    lines += ["echo the editor is closed", f"echo over > {shlex.quote(str(tmux.folder / 'over'))}"]
    script.write_text("\n".join(lines))
    os.chmod(script, 0o755)
    chat(tmux, agent_at("working.py"), EDITOR=str(script))
    raw = tmux.record()
    tmux.send("talks")
    tmux.until("Before the editor")
    tmux.keys("F4")
    tmux.until("this is the editor")
    until_written(tmux.project / "spoken")
    (tmux.project / "closed").touch()
    until_written(tmux.folder / "over")
    tmux.until("Said while it was open")
    tmux.until("● ready")
    before, _, after = until_in(raw, b"Said while it was open").partition(b"the editor is closed")
    assert b"this is the editor" in before and b"Said while" not in before and b"Said while" in after
    assert tmux.is_alternate


def test_ctrl_c_in_the_editor_is_the_editors(tmux: Tmux) -> None:
    script = tmux.folder / "editor"
    script.write_text("#!/bin/sh\necho this is the editor\nsleep 600\n")
    os.chmod(script, 0o755)
    chat(tmux, agent_at("working.py"), EDITOR=str(script))
    tmux.type("half a prompt")
    tmux.keys("F4")
    tmux.until("this is the editor")
    tmux.keys("C-c")
    tmux.until("│ half a prompt")
    tmux.until("ended with status")
    tmux.until("● ready")


def test_which_file_is_opened_is_asked(tmux: Tmux) -> None:
    for name in ("go-on", "go-away", "one.py", "two.py"):
        (tmux.project / name).touch()
    editor = tmux.folder / "vi"
    editor.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > opened\n')
    os.chmod(editor, 0o755)
    chat(tmux, agent_at("working.py"), EDITOR=str(editor))
    say(tmux, "walks", "Walked")
    to_conversation(tmux)
    tmux.keys("Up")
    tmux.keys("e")
    tmux.until("Open in the editor")
    tmux.keys("Down")
    tmux.until("❯ +two.py:7")
    tmux.keys("Enter")
    opened = until_written(tmux.project / "opened")
    assert opened.splitlines() == ["+7", str(tmux.project / "two.py")]
    tmux.until("● ready")


def test_what_a_command_prints_is_seen_as_it_comes(tmux: Tmux) -> None:
    chat(tmux, agent_at("working.py"))
    tmux.send("prints")
    answer(tmux, "y")
    for step in ("one", "two", "three"):
        tmux.until(f"step {step}")
        (tmux.project / f"go-{step}").touch()
    tmux.until("It ended with status 0")


def test_a_command_of_ours_is_stopped_by_a_key_and_the_agent_is_told(tmux: Tmux) -> None:
    chat(tmux, agent_at("working.py"))
    tmux.send("waits")
    answer(tmux, "y")
    tmux.until_gone("Permission needed")
    tmux.until(r"\n *│ waiting to be stopped")
    to_conversation(tmux)
    tmux.until("x stops this command")
    tmux.keys("x")
    tmux.until("It ended by SIGTERM")
    tmux.until("● ready")


@pytest.mark.req("V2-CANCEL-19", "V2-CANCEL-23")
def test_one_tool_call_is_stopped_and_the_turn_goes_on(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", size=(80, 24))
    tmux.send("/v2-cancel")
    tmux.until("Count to a million")
    to_conversation(tmux)
    tmux.until("x stops it")
    tmux.keys("x")
    tmux.until("the turn goes on")
    tmux.until("⊘ ❯ Count to a million")


@pytest.mark.req("V2-CANCEL-21")
def test_what_goes_on_in_the_background_is_seen_and_stopped(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", size=(80, 24))
    tmux.send("/v2-background 500")
    tmux.until("● ready +1 in background")
    tmux.keys("M-a")
    tmux.until("At work")
    tmux.until("showcase --watch +command, running")
    tmux.keys("F8")
    tmux.until("The terminal was stopped")
    tmux.until_gone("in background")


def test_a_subagent_is_watched_in_a_tab_and_stopped(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", size=(100, 30))
    tmux.send("/subagent 500")
    tmux.until("A search +subagent, running")
    to_conversation(tmux)
    tmux.until("enter shows what it says")
    tmux.keys("Enter")
    tmux.until("I look for it")
    tmux.until("Search everywhere")
    tmux.until(r"2 .* A search")
    tmux.keys("Escape")
    tmux.until("That was that")
    tmux.keys("F7")
    tmux.until("The child was cancelled")
    tmux.until("A search +subagent, done")


def test_the_plan_is_a_line_in_a_narrow_window_and_a_key_shows_it_whole(tmux: Tmux) -> None:
    chat(tmux, agent_at("working.py"), size=(80, 24))
    say(tmux, "plans", "Planned")
    tmux.until("plan 1/2: next: Write tests")
    tmux.keys("M-p")
    screen = tmux.until("1 of 2 done")
    assert "✓ Look around" in screen and "○ Write tests" in screen
    tmux.keys("Escape")
    tmux.until_gone("1 of 2 done")


def test_updates_that_nobody_knows_are_found_in_the_log(tmux: Tmux) -> None:
    chat(tmux)
    say(tmux, "/unknown", "it must do no harm")
    tmux.until("1 update not known here")
    tmux.keys("C-l")
    tmux.until("Log of")
    tmux.keys("F9")
    tmux.until(r"\? .*_accord.showcase/novelty")
