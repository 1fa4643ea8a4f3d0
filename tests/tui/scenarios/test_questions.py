"""Permission requests, forms, logins, options, notices and MCP servers in a real terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.terminal_scenarios import SHOWCASE, agent_at, answer, chat, do, say, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def until_unlocked(tmux: Tmux, raw: Path, since: int) -> int:
    """Wait until a request that was drawn after `since` bytes of output accepts keys, and return the bytes until then.

    The screen doesn't tell: a request is drawn from the top, above the hint that the one before accepts keys."""

    def is_unlocked(_: str) -> bool:
        _, locked, after = raw.read_bytes()[since:].rpartition(b"new question: keys unlock in a moment")
        return bool(locked) and b"number or" in after

    tmux.until_true(is_unlocked, "the next request")
    return raw.stat().st_size


def test_permission_requests_are_queued_and_answered_by_letters_and_numbers(tmux: Tmux) -> None:
    chat(tmux, agent_at("tui_agent.py"))
    raw = tmux.record()
    tmux.send("several")
    written = 0
    for number, key in enumerate("yn1", 1):
        written = until_unlocked(tmux, raw, written)
        tmux.until(rf"\({number} of 3\)(.|\n)*Move stone {number}")
        tmux.keys(key)
    tmux.until("stone 1: yes; stone 2: no; stone 3: yes")
    tmux.until("● ready")


def test_an_always_answer_is_remembered(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2")
    tmux.send("/permission command")
    answer(tmux, "a")
    tmux.until("Command: “Always allow” was chosen")
    say(tmux, "/permission command", "Command: (.|\n)*Command: ")
    assert "make test" in (tmux.folder / "data" / "permissions.toml").read_text()


def test_a_form_returns_every_type_of_value_and_a_page_shows_its_host(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(110, 70))
    tmux.send("/elicit form")
    tmux.until("E-mail(.|\n)*ctrl.s send")
    tmux.keys("C-s")
    tmux.until("accept with")
    tmux.until("● ready")
    tmux.until_all('"name": "Ada"', '"age": 36', '"share": 0.5', '"subscribe": true', '"color": "green"', '"cheese"')
    tmux.send("/elicit url")
    tmux.until("on example.com(.|\n)*enter done")
    tmux.keys("Enter")
    tmux.until("URL: accept")


def test_the_agent_s_login_program_runs_in_the_terminal(tmux: Tmux) -> None:
    home = tmux.folder / "mortal"
    home.mkdir()
    tmux.start("chat", agent_at("mortal_agent.py"), env={"MORTAL_HOME": str(home), "MORTAL_LOGIN": "1"})
    tmux.until("requires a login(.|\n)*❯ Log in")
    tmux.until("enter choose")  # from now on it accepts keys
    tmux.keys("Enter")
    tmux.until("● ready")
    assert (home / "key").read_text() == "well"
    say(tmux, "hello", "prompt 1 in process")


def test_options_can_be_switched_and_notices_and_compaction_are_shown(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2")
    tmux.keys("C-g")
    tmux.until("type to search")
    tmux.type("verbose")
    tmux.until("verbose(.|\n)*Verbose: off")
    tmux.until_gone("Effort: Medium  ")
    tmux.keys("Enter")
    tmux.until_gone("Verbose: off")
    tmux.keys("C-g")
    tmux.until("Verbose: on")
    tmux.keys("Escape")
    tmux.until_gone("Verbose: on")
    say(tmux, "/notice", "Something broke")
    tmux.until("For your information")
    say(tmux, "/compaction", "One compaction worked and one failed")


def test_the_status_of_an_mcp_server_is_reported(tmux: Tmux) -> None:
    (tmux.folder / "config").mkdir()
    (tmux.folder / "config" / "config.toml").write_text(
        f"[mcp_servers.broken]\ncommand = '{sys.executable}'\nargs = ['-c', 'exit(3)']\n", encoding="utf-8"
    )
    chat(tmux, None)
    tmux.until("MCP server broken: failed:")
    tmux.until("✗ broken  failed")


def test_the_palette_can_log_in(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    do(tmux, "Log in")
    tmux.until("Pretend to log in")
    raw = tmux.record()
    tmux.keys("Enter")
    until_in(raw, b"Logged in")
    say(tmux, "/auth", "You are logged in")
