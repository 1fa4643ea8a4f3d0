"""The terminal client in a real terminal, with the showcase agent as a separate process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.terminal_scenarios import child_of, client_of, to_conversation, until_ended, until_in
from support.tmux import TIMEOUT_SECONDS, Tmux

pytestmark = pytest.mark.slow

SHOWCASE = f"{sys.executable} -m accord showcase --pace 0"
AGENTS = Path(__file__).resolve().parents[1] / "agents"


def start(tmux: Tmux, *more: str, agent: str = SHOWCASE, **how: object) -> None:
    tmux.start("chat", agent, *more, **how)  # type: ignore[arg-type]
    tmux.until("● ready")


@pytest.mark.req("V1-CONTENT-03", "V2-CONTENT-06")
def test_markdown_is_rendered_while_it_streams(tmux: Tmux) -> None:
    start(tmux, size=(100, 60))
    tmux.send("/markdown")
    tmux.until_all("An unclosed", "• a point below it", "│ def greet(name: str) -> str:", "<script>alert(1)</script>")


def test_tool_calls_of_every_kind_and_status_are_lines_that_open(tmux: Tmux) -> None:
    start(tmux, size=(100, 50))
    tmux.send("/tools 3")
    tmux.until_all("10 kinds, 6 statuses, 3 at once", "▸ ✗ • Status: failed", "▸ ✓ / Parallel 3 of 3")
    to_conversation(tmux)
    tmux.keys("Up")
    tmux.keys("Enter")
    tmux.until("step 3")


def test_a_change_is_shown_in_its_permission_request(tmux: Tmux) -> None:
    start(tmux, size=(100, 45))
    tmux.send("/permission diff")
    tmux.until("Permission needed")
    tmux.until(r"def greet\(name: str\) -> None:")  # a terminal is drawn from the top: the rest may still be coming
    tmux.until("remembers: write:greet.py")
    tmux.until("❯ 1. Allow")
    tmux.until("number or")
    tmux.keys("Down")
    tmux.until("❯ 2.")
    tmux.keys("Enter")
    tmux.until("“Always allow” was chosen")
    tmux.send("/permission diff")
    # The choice was remembered by the policy, so the second time nobody is asked.
    tmux.until("Diff: (.|\n)*Diff: ")
    assert "greet.py" in (tmux.folder / "data" / "permissions.toml").read_text()


def test_a_command_runs_in_a_terminal_with_its_colors(tmux: Tmux) -> None:
    start(tmux, "--allow", "all", size=(100, 60))
    tmux.send("/terminal")
    tmux.until("Killed: signal")
    tmux.keys("F3")
    tmux.until("signal SIGTERM")
    tmux.keys("C-Home")
    tmux.until("true color")


def test_the_side_panel_shows_plan_and_context(tmux: Tmux) -> None:
    start(tmux, size=(120, 40))
    tmux.send("/plan")
    tmux.until("Three steps are completed")
    tmux.until_all("Plan 4/4", "✓ Look around")
    tmux.send("/usage")
    tmux.until("20,000 of 200,000 tokens")
    tmux.until("3.50 credits")


def test_a_form_with_every_kind_of_field_is_filled_in(tmux: Tmux) -> None:
    start(tmux, size=(110, 60))
    tmux.send("/elicit form")
    tmux.until("Every kind of field|every kind of field")
    tmux.until("E-mail(.|\n)*ctrl.s send")
    tmux.type("Eve")
    tmux.until("Eve")
    tmux.keys("Tab")
    tmux.type("not an address")
    tmux.keys("C-s")
    tmux.until("Please type an e-mail address")
    for _ in range(20):
        tmux.keys("BSpace")
    tmux.type("ada@example.com")
    tmux.keys("C-s")
    tmux.until("accept with")
    tmux.until('"email": "ada@example.com"')


def test_a_required_login_is_done_inside_the_client(tmux: Tmux) -> None:
    start(tmux)
    tmux.send("/auth")
    tmux.until("Pretend to log in")
    tmux.until("enter choose")  # from now on it accepts keys
    tmux.keys("Enter")
    tmux.until("You are logged in")


def test_commands_and_files_are_completed(tmux: Tmux) -> None:
    (tmux.project / "src").mkdir()
    (tmux.project / "src" / "wonder.py").write_text("x = 1\n")
    (tmux.project / "build").mkdir()
    (tmux.project / "build" / "wonder.o").write_text("")
    (tmux.project / ".gitignore").write_text("build/\n")
    start(tmux, size=(100, 130))
    tmux.type("/mark")
    tmux.until("❯ /markdown")
    tmux.keys("Tab")
    tmux.until("│ /markdown +│")
    tmux.keys("C-u")
    tmux.type("look at @wond")
    screen = tmux.until("❯ src/wonder.py")
    assert "wonder.o" not in screen
    tmux.keys("Tab")
    tmux.until("look at @src/wonder.py")
    tmux.keys("Enter")
    tmux.until("/v2-background")
    tmux.keys("C-Home")
    tmux.until("Besides text, your prompt contained: Resource")


def test_modes_and_options_are_set(tmux: Tmux) -> None:
    start(tmux, size=(120, 40))
    tmux.until("Ask")
    tmux.keys("BTab")
    tmux.until("─ Architect ─")
    tmux.keys("C-g")
    tmux.until("type to search")
    tmux.type("model")
    tmux.until("Model: Small 1  Choices")
    tmux.keys("Enter")
    tmux.until("Large models")
    tmux.type("large")
    tmux.keys("Enter")
    tmux.until("· Large 1 ·")


def test_sessions_in_tabs_can_be_listed_loaded_and_renamed(tmux: Tmux) -> None:
    start(tmux)
    tmux.send("/title The first one")
    tmux.until("title is now “The first one”")
    tmux.keys("C-t")
    tmux.until("1   The first one")
    tmux.until("● ready")
    tmux.send("/title The second one")
    tmux.until("title is now “The second one”")
    tmux.keys("C-o")
    tmux.until_all("Sessions of Accord showcase", "The first one", "✓ The second one")
    tmux.type("first")
    tmux.until_gone("✓ The second one")
    tmux.keys("Enter")
    tmux.until_gone("Sessions of")
    tmux.until("/title The first one")


def test_the_log_shows_the_wire(tmux: Tmux) -> None:
    start(tmux)
    tmux.keys("C-l")
    tmux.until("Log of")
    tmux.keys("Escape")
    tmux.until_gone("Log of")


def test_an_image_shows_its_name(tmux: Tmux) -> None:
    start(tmux)
    tmux.send("/image")
    tmux.until_all("Red grows", "▣ image  image/png")


def test_the_window_can_change_its_size(tmux: Tmux) -> None:
    start(tmux, size=(120, 40))
    tmux.send("/unicode")
    tmux.until("Normal forms|A long line")
    tmux.until("● ready")
    tmux.send("/plan")
    tmux.until("Three steps are completed")
    tmux.until("Plan 4/4")  # in the side panel
    tmux.resize(60, 20)
    tmux.until_gone("Plan 4/4")
    tmux.until("● ready")
    tmux.resize(130, 45)
    tmux.until("Plan 4/4")


def test_ctrl_c_twice_quits_and_the_draft_is_restored(tmux: Tmux) -> None:
    start(tmux, after="exec sh")
    tmux.type("not sent yet")
    tmux.until("not sent yet")
    raw = tmux.record()
    tmux.keys("C-c")
    until_in(raw, b"again to quit")
    tmux.until_gone("again to quit")
    assert tmux.is_alternate
    tmux.keys("C-c", "C-c")  # together: the second counts for two seconds after the first
    tmux.until_true(lambda _: not tmux.is_alternate, "the end of the client")
    tmux.close()
    start(tmux)
    tmux.until("not sent yet")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_client_and_restores_the_terminal(tmux: Tmux, number: signal.Signals) -> None:
    start(tmux)
    tmux.type("half a prompt")
    tmux.until("half a prompt")
    os.kill(client_of(tmux), number)
    screen = tmux.until(rf"it ended with {128 + number}\n-?echo\n")
    assert "-echo" not in screen
    assert not tmux.is_alternate
    (draft,) = (tmux.folder / "data" / "chat" / "drafts").glob("*.json")
    assert "half a prompt" in draft.read_text()


def test_losing_the_terminal_during_a_turn_ends_the_client(tmux: Tmux) -> None:
    start(tmux)
    tmux.type("typed before")
    tmux.until("typed before")
    tmux.keys("C-u")
    tmux.send("/slow 60")
    tmux.until("2 of")
    client = client_of(tmux)
    agent = child_of(client, "accord showcase")
    tmux.close()
    for pid in (client, agent):
        until_ended(pid)


def test_ctrl_z_suspends_and_fg_resumes(tmux: Tmux) -> None:
    # A shell with job control, as people have it.
    tmux.start("--version", after="exec bash --norc -i")
    tmux.until("bash.*[$#]")
    tmux.send(f"{sys.executable} -m accord chat '{SHOWCASE}'")
    tmux.until("● ready")
    tmux.type("before")
    tmux.until("before")
    tmux.keys("C-z")
    tmux.until("Stopped")
    assert not tmux.is_alternate
    tmux.send("fg")
    tmux.until("● ready")
    tmux.until("before")


def test_a_dead_agent_is_reported_and_restarted(tmux: Tmux) -> None:
    start(tmux)
    tmux.send("/slow 60")
    tmux.until("2 of")
    agent = child_of(client_of(tmux), "accord showcase")
    os.kill(agent, signal.SIGKILL)
    tmux.until("The agent has exited")
    tmux.type("still typing")
    tmux.until("still typing")
    tmux.keys("C-r")
    tmux.until("● ready")
    tmux.keys("Enter")
    tmux.until("/v2-background")


def test_a_failed_start_is_explained(tmux: Tmux) -> None:
    tmux.start("chat", f"{sys.executable} -c 'import sys; sys.exit(\"No API key\")'")
    screen = tmux.until("Couldn't start")
    assert "No API key" in tmux.until("No API key"), screen


def test_the_built_in_agent_is_the_default(tmux: Tmux) -> None:
    (tmux.project / "notes.md").write_text("# Notes\n\nThe secret word is wombat.\n")
    tmux.start()
    tmux.until("● ready")
    tmux.until("built-in agent")
    tmux.send('search for "wombat" in notes.md')
    tmux.until("The secret word is wombat")


def test_no_color_disables_colors(tmux: Tmux) -> None:
    start(tmux, env={"NO_COLOR": "1"})
    tmux.send("/markdown")
    tmux.until("An unclosed")
    tmux.until("● ready")
    painted = re.findall(r"\x1b\[[0-9;]*m", tmux.colored)
    for code in painted:
        for r, g, b in re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", code):
            assert r == g == b, f"{code!r} is no shade of gray"


def test_without_textual_the_error_says_what_to_install(tmux: Tmux) -> None:
    (tmux.folder / "no").mkdir()
    (tmux.folder / "no" / "sitecustomize.py").write_text("import sys\nsys.modules['textual'] = None\n")
    tmux.start("chat", SHOWCASE, env={"PYTHONPATH": str(tmux.folder / "no")})
    tmux.until(r"accord chat needs the terminal interface: pip install 'accord-acp\[tui\]'")


@pytest.mark.parametrize("prompt", ["/refusal", "/markdown", "/error"])
def test_without_a_terminal_chat_acts_like_run(tmp_path: Path, prompt: str) -> None:
    chatted = run_piped(tmp_path, prompt, "chat", SHOWCASE)
    ran = run_piped(tmp_path, prompt, "run", "--agent", SHOWCASE)
    assert (chatted.returncode, chatted.stdout) == (ran.returncode, ran.stdout)
    assert prompt != "/refusal" or (chatted.returncode, chatted.stdout) == (3, "I would rather not.\n")


def test_without_a_terminal_and_a_prompt_it_is_the_built_in_agent(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("The secret word is wombat.\n")
    done = run_piped(tmp_path, 'search for "wombat" in notes.md')
    assert done.returncode == 0 and "The secret word is wombat" in done.stdout
    assert "\x1b" not in done.stdout


def run_piped(folder: Path, prompt: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `accord` with a prompt on standard input and no terminal."""
    env = {**os.environ, **{f"ACCORD_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "CACHE")}}
    command = [sys.executable, "-m", "accord", *words]
    return subprocess.run(
        command, input=prompt, capture_output=True, text=True, cwd=folder, env=env, timeout=TIMEOUT_SECONDS
    )
