"""The agent at work in a real terminal: following, stopping single calls, background work, the plan."""

from __future__ import annotations

import os
import shlex

import pytest
from support.terminal_scenarios import (
    SHOWCASE,
    agent_at,
    answer,
    chat,
    do,
    say,
    to_conversation,
    until_in,
    until_written,
)
from support.tmux import Tmux

pytestmark = pytest.mark.slow


@pytest.mark.req("V1-TOOL-18", "V2-TOOL-14")
@pytest.mark.parametrize("size", [(160, 40), (80, 24)])
def test_the_follow_panel_tracks_the_agent_s_location(tmux: Tmux, size: tuple[int, int]) -> None:
    (tmux.project / "one.py").write_text("".join(f"first = {line}\n" for line in range(1, 100)))
    (tmux.project / "two.py").write_text("def second():\n" + "".join(f"    return {line}\n" for line in range(2, 20)))
    chat(tmux, agent_at("stepwise_agent.py"), size=size)
    tmux.keys("M-w")
    tmux.until("reported a file location yet")
    tmux.send("walks")
    tmux.until("▶40 first = 40")
    (tmux.project / "go-on").touch()
    tmux.until("▶ 7     return 7")
    (tmux.project / "go-away").touch()
    tmux.until("The file doesn't exist")
    tmux.close()
    chat(tmux, agent_at("stepwise_agent.py"), size=size)
    tmux.until("reported a file location yet")
    do(tmux, "Follow the agent")
    tmux.until_gone("reported a file location yet")


def test_an_unfinished_call_is_abandoned_and_a_late_result_is_accepted(tmux: Tmux) -> None:
    chat(tmux, agent_at("stepwise_agent.py"))
    tmux.send("forgets")
    tmux.until(r"◐ • Dig a hole  \d+\.\ds")
    (tmux.project / "go-on").touch()
    tmux.until("That was it.")
    tmux.until("◇ • Dig a hole")
    tmux.until("no result")
    tmux.send("remembers")
    tmux.until("✓ • Dig a hole")
    assert "no result" not in tmux.screen


def test_messages_received_while_the_editor_is_open_appear_afterwards(tmux: Tmux) -> None:
    script = tmux.folder / "editor"
    lines = ["#!/bin/sh", "echo this is the editor", "touch go-on", "while ! test -e closed; do sleep 0.05; done"]
    lines += ["echo the editor is closed", f"echo over > {shlex.quote(str(tmux.folder / 'over'))}"]
    script.write_text("\n".join(lines))
    os.chmod(script, 0o755)
    chat(tmux, agent_at("stepwise_agent.py"), EDITOR=str(script))
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


def test_ctrl_c_in_the_editor_goes_to_the_editor(tmux: Tmux) -> None:
    script = tmux.folder / "editor"
    script.write_text("#!/bin/sh\necho this is the editor\nsleep 600\n")
    os.chmod(script, 0o755)
    path = f"{tmux.folder}{os.pathsep}{os.environ['PATH']}"  # so that its name is short, and the message is on one line
    chat(tmux, agent_at("stepwise_agent.py"), EDITOR=script.name, PATH=path)
    tmux.type("half a prompt")
    tmux.keys("F4")
    tmux.until("this is the editor")
    raw = tmux.record()
    tmux.keys("C-c")
    tmux.until("│ half a prompt")
    until_in(raw, b"editor exited with status")
    tmux.until("● ready")


def test_the_user_chooses_which_file_to_open(tmux: Tmux) -> None:
    for name in ("go-on", "go-away", "one.py", "two.py"):
        (tmux.project / name).touch()
    editor = tmux.folder / "vi"
    editor.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > part && mv part opened\n')
    os.chmod(editor, 0o755)
    chat(tmux, agent_at("stepwise_agent.py"), EDITOR=str(editor))
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


def test_command_output_is_shown_live(tmux: Tmux) -> None:
    chat(tmux, agent_at("stepwise_agent.py"))
    tmux.send("prints")
    answer(tmux, "y")
    for step in ("one", "two", "three"):
        tmux.until(f"step {step}")
        (tmux.project / f"go-{step}").touch()
    tmux.until("It ended with status 0")


def test_a_key_stops_a_command_and_the_agent_gets_its_exit_status(tmux: Tmux) -> None:
    chat(tmux, agent_at("stepwise_agent.py"))
    tmux.send("waits")
    answer(tmux, "y")
    tmux.until_gone("Permission needed")
    tmux.until(r"\n *│ waiting to be stopped")
    to_conversation(tmux)
    tmux.until("x stop this command")
    tmux.keys("x")
    tmux.until("It ended by SIGTERM")
    tmux.until("● ready")


@pytest.mark.req("V2-CANCEL-19", "V2-CANCEL-23")
def test_stopping_one_tool_call_continues_the_turn(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", size=(80, 24))
    tmux.send("/v2-cancel")
    tmux.until("Count to a million")
    to_conversation(tmux)
    tmux.until("x stop")
    tmux.keys("x")
    tmux.until("the turn continues")
    tmux.until("⊘ \\$ Count to a million")


@pytest.mark.req("V2-CANCEL-21")
def test_background_work_is_listed_and_can_be_stopped(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", size=(80, 24))
    tmux.send("/v2-background 500")
    tmux.until("● ready +Ask +1 in background")
    tmux.keys("M-a")
    tmux.until("Background work")
    tmux.until("showcase --watch +command, running")
    tmux.keys("F8")
    tmux.until("The terminal was stopped")
    tmux.until_gone("in background")


def test_a_subagent_opens_in_a_tab_and_can_be_stopped(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2", size=(100, 30))
    tmux.send("/subagent 500")
    tmux.until("A search +subagent, running")
    to_conversation(tmux)
    tmux.until("enter opens its session")
    tmux.keys("Enter")
    tmux.until("Searching for it")
    tmux.until("Search everywhere")
    tmux.until(r"2 .* A search")
    tmux.keys("Escape")
    tmux.until("The search is complete")
    tmux.keys("F7")
    tmux.until("The child was cancelled")
    tmux.until("A search +subagent, done")


def test_the_plan_is_one_line_in_a_narrow_window_and_a_key_opens_it(tmux: Tmux) -> None:
    chat(tmux, agent_at("stepwise_agent.py"), size=(80, 24))
    say(tmux, "plans", "Planned")
    tmux.until("plan 1/2: next: Write tests")
    tmux.keys("M-p")
    tmux.until_all("1 of 2 done", "✓ Look around", "○ Write tests")
    tmux.keys("Escape")
    tmux.until_gone("1 of 2 done")


def test_unknown_updates_are_in_the_log(tmux: Tmux) -> None:
    chat(tmux)
    say(tmux, "/unknown", "clients must ignore it")
    tmux.until("1 update not supported")
    tmux.keys("C-l")
    tmux.until("Log of")
    tmux.keys("F9")
    tmux.until(r"\? .*_accord.showcase/novelty")
