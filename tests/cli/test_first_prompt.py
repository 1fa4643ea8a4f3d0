"""A prompt without a command, sessions that continue or aren't saved, and runs that allow everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli_runner import Accord, Here, agent

from accord.cli.main import is_prompt


@pytest.mark.parametrize("word", ["fix the failing test", "why?", "a\nb", "„hallo“ sagen"])
def test_a_sentence_is_a_prompt(word: str) -> None:
    assert is_prompt(word)


@pytest.mark.parametrize("word", ["rn", "sesions", "my-agent", "./agent.py", "https://example.com/acp", "größe"])
def test_a_plain_word_is_a_command(word: str) -> None:
    assert not is_prompt(word)


def test_a_mistyped_command_starts_nothing(here: Here) -> None:
    done = here("rn", "hello there")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("accord: no such command 'rn'; did you mean run?\n")


def test_an_unquoted_prompt_is_reported_with_its_quotes(here: Here) -> None:
    done = here("fix", "the", "bug")
    assert done.status == 2
    assert 'to send a prompt, quote it: accord "fix the bug"' in done.err


def test_an_option_before_a_command_is_wrong_usage(here: Here) -> None:
    assert "put --model after the command" in here("--model", "fast", "doctor").err


def test_without_a_terminal_a_prompt_is_answered_and_its_session_continued(accord: Accord) -> None:
    done = accord("what can you do?", stdin="")
    assert done.status == 0 and done.out
    first = accord("run", "--continue", "--json", "help").events("session")[0]["session_id"]
    again = accord("--continue", "--model", "offline", "what can you do?", stdin="")
    assert again.status == 0 and "new one" not in again.err
    third = accord("run", "-c", "--json", "help").events("session")[0]["session_id"]
    assert third == first


def test_without_an_earlier_session_a_new_one_starts_with_a_warning(accord: Accord) -> None:
    done = accord("run", "--continue", "help")
    assert done.status == 0
    assert "There is no earlier session in this directory; this is a new one." in done.err


def test_an_agent_that_lists_no_sessions_cannot_continue_one(accord: Accord) -> None:
    done = accord.run("--continue", "hello")
    assert done.status == 1
    assert done.err == "accord: this agent doesn't list its sessions; continue one with --session ID\n"


def test_continuing_and_naming_a_session_exclude_each_other(here: Here) -> None:
    assert "use one of --continue, --session and --name" in here("run", "-c", "--session", "x", "hello").err


def test_a_session_that_is_not_saved_cannot_be_continued(accord: Accord) -> None:
    assert accord("run", "--no-save", "help").status == 0
    assert "There is no earlier session" in accord("run", "--continue", "help").err


def test_another_agent_deletes_the_session_or_a_warning_says_that_it_cannot(accord: Accord, tmp_path: Path) -> None:
    log = tmp_path / "methods"
    done = accord("run", "--agent", agent("--offer", "delete", "--log", str(log)), "--no-save", "hello")
    assert (done.status, done.err) == (0, "")
    assert "session/delete" in log.read_text()
    assert "may have saved this session" in accord.run("--no-save", "hello").err


def test_only_a_new_session_can_be_left_unsaved(here: Here) -> None:
    assert "--no-save is for new sessions" in here("run", "--no-save", "-c", "hello").err


def test_yes_allows_everything_that_no_rule_denies(accord: Accord) -> None:
    prompt = 'create notes.txt with "x"'
    assert accord("run", prompt).status == 6
    assert accord("run", "--yes", "--deny", "write:notes.txt", prompt).status == 0
    assert not (accord.project / "notes.txt").exists()
    assert accord("run", "--yes", prompt).status == 0
    assert (accord.project / "notes.txt").exists()


def test_a_plan_is_not_repeated_as_a_tool_call(accord: Accord) -> None:
    screen = accord.on_terminal("run", "--agent", "built-in", "list the files, then count the files")
    shown = screen.until("Both steps are done")
    assert "Plan: 1 of 2 done" in shown and "steps done" not in shown
    assert screen.end() == 0
    screen.close()
    done = accord("run", "--agent", "built-in", "--json", "list the files, then count the files")
    assert any(call["title"].startswith("Plan") for call in done.events("tool_call"))


def test_an_unknown_word_can_be_sent_as_a_prompt(here: Here) -> None:
    assert here("hello").err.startswith(
        "accord: no such command 'hello'; to send it as a prompt: accord chat --prompt hello\n"
    )
