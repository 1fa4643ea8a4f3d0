"""Questions and settings in a real terminal: permissions, forms, logins, options, notices, servers."""

from __future__ import annotations

import sys

import pytest
from scenes import SHOWCASE, agent_at, answer, chat, do, say
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_several_questions_wait_for_one_another_and_letters_and_numbers_answer_them(tmux: Tmux) -> None:
    chat(tmux, agent_at("trying.py"))
    tmux.send("several")
    tmux.until(r"\(1 of 3\)(.|\n)*Move stone 1")
    answer(tmux, "y")
    tmux.until(r"\(2 of 3\)(.|\n)*Move stone 2")
    answer(tmux, "n")
    tmux.until(r"\(3 of 3\)(.|\n)*Move stone 3")
    answer(tmux, "1")
    tmux.until("stone 1: yes; stone 2: no; stone 3: yes")
    tmux.until("● ready")


def test_always_is_remembered_and_not_asked_again(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2")
    tmux.send("/permission command")
    answer(tmux, "a")
    tmux.until("Command: “Always allow” was chosen")
    say(tmux, "/permission command", "Command: (.|\n)*Command: ")
    assert "make test" in (tmux.folder / "data" / "permissions.toml").read_text()


def test_a_form_gives_every_kind_of_value_and_a_page_is_named(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, size=(110, 70))
    tmux.send("/elicit form")
    tmux.until("E-mail(.|\n)*ctrl.s sends")
    tmux.keys("C-s")
    tmux.until("accept with")
    screen = tmux.until("● ready")
    for part in ('"name": "Ada"', '"age": 36', '"share": 0.5', '"subscribe": true', '"colour": "green"', '"cheese"'):
        assert part in screen
    tmux.send("/elicit url")
    tmux.until("on example.com(.|\n)*enter done")
    tmux.keys("Enter")
    tmux.until("Page: accept")


def test_a_login_of_the_agents_own_runs_in_the_terminal(tmux: Tmux) -> None:
    home = tmux.folder / "mortal"
    home.mkdir()
    tmux.start("chat", agent_at("mortal_agent.py"), env={"MORTAL_HOME": str(home), "MORTAL_LOGIN": "1"})
    tmux.until("wants you to log in(.|\n)*Log in|Log in(.|\n)*wants you to log in")
    tmux.until_gone("keys count in a moment")
    tmux.keys("Enter")
    tmux.until("● ready")
    assert (home / "key").read_text() == "well"
    say(tmux, "hello", "prompt 1 in process")


def test_options_are_switched_and_notices_and_compaction_are_shown(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, "--v2")
    tmux.until("Verbose: off")
    tmux.keys("C-g")
    tmux.until("type to search")
    tmux.type("verbose")
    tmux.until("verbose(.|\n)*Verbose: off")
    tmux.until_gone("Effort: Medium  ")
    tmux.keys("Enter")
    tmux.until("Verbose: on")
    screen = say(tmux, "/notice", "Something broke")
    assert "For your information" in screen
    say(tmux, "/compaction", "One compaction worked and one failed")


def test_what_became_of_a_server_is_told(tmux: Tmux) -> None:
    (tmux.folder / "config").mkdir()
    (tmux.folder / "config" / "config.toml").write_text(
        f"[mcp_servers.broken]\ncommand = '{sys.executable}'\nargs = ['-c', 'exit(3)']\n", encoding="utf-8"
    )
    chat(tmux, None)
    tmux.until("MCP server broken: failed because")
    tmux.until("mcp broken")


def test_a_demand_to_log_in_is_met_from_the_palette(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    do(tmux, "Log in")
    tmux.until("Pretend to log in")
    tmux.keys("Enter")
    tmux.until("Logged in")
    say(tmux, "/auth", "You are logged in")
