"""Parsing command lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.shell.command_lines import JUDGED, SOUP, UNJUDGED, Case
from support.properties import steady

from accord.policy.shell.parser import parse_argv, parse_line
from accord.policy.shell.script import SimpleCommand, Word


def format_command(command: SimpleCommand) -> str:
    return " ".join(map(word_shown, (*command.assignments, *command.words)))


def word_shown(word: Word) -> str:
    if not word.literal:
        return "~" + word.text
    return word.text if word.text and " " not in word.text else f"[{word.text}]"


def names(line: str) -> list[str]:
    return [command.words[0].text for command in parse_line(line).commands]


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case.line)
def test_every_command_and_file_of_a_line_is_found(case: Case) -> None:
    script = parse_line(case.line)
    assert script.problem is None
    assert [format_command(command) for command in script.commands] == case.commands
    assert (list(script.writes), list(script.reads)) == (case.writes, case.reads)


@pytest.mark.parametrize("line", UNJUDGED, ids=lambda line: ascii(line[:40]))
def test_what_is_not_certain_cannot_be_judged(line: str) -> None:
    assert parse_line(line).problem


def test_there_are_enough_cases() -> None:
    assert len(JUDGED) >= 60
    assert len(UNJUDGED) >= 60


def test_what_was_seen_before_the_doubt_is_kept() -> None:
    assert [format_command(command) for command in parse_line("rm x; f() { a; }").commands] == ["rm x"]


def test_look_alikes_are_other_programs() -> None:
    assert names("gіt status") == ["gіt"] != ["git"]


def test_an_empty_line_has_no_commands() -> None:
    assert parse_line("").commands == parse_line(" \n ").commands == ()


def test_words_of_a_command_without_a_shell_are_literal() -> None:
    script = parse_argv(["echo", "$(rm x)", "a; b", "*"])
    assert script.problem is None
    assert [word.text for word in script.commands[0].words] == ["echo", "$(rm x)", "a; b", "*"]
    assert all(word.literal for word in script.commands[0].words)


def test_a_shell_without_a_shell_is_a_shell() -> None:
    script = parse_argv(["bash", "-lc", "git status; rm x"])
    assert [format_command(command) for command in script.commands] == ["git status", "rm x"]


def test_words_may_hold_line_breaks_and_nothing_invisible() -> None:
    assert parse_argv(["git", "commit", "-m", "a\nb"]).problem is None
    assert parse_argv(["git", "commit", "-m", "a\x00b"]).problem
    assert parse_argv([]).problem


@pytest.mark.parametrize(
    "line, suspected",
    [
        ("watch -n 1 rm x", "rm x"),
        ("ssh host 'rm -rf /'", "rm -rf /"),
        ("docker exec -it box rm x", "rm x"),
        ("parallel rm ::: a", "rm ::: a"),
        ("su ada -c 'a; rm x'", "rm x"),
        ("taskset 1 rm x", "rm x"),
        ("pipenv run rm x", "rm x"),
    ],
)
def test_what_may_run_a_word_is_suspected(line: str, suspected: str) -> None:
    assert suspected in [format_command(command) for command in parse_line(line).suspects]


def test_long_lines_are_read_in_good_time() -> None:
    for line in ("a;" * 20_000, "'a' " * 10_000, "$(" * 30_000, "`a` " * 10_000, "x=1 " * 10_000, "<<a " * 5_000):
        parse_line(line)


@steady
@given(st.text(max_size=60))
def test_no_text_raises(line: str) -> None:
    parse_line(line)
    parse_argv([line, line])


@steady
@given(SOUP)
def test_no_soup_of_signs_raises(line: str) -> None:
    parse_line(line)


@steady
@given(SOUP, SOUP)
def test_two_judged_lines_are_judged_together_as_they_are_alone(first: str, second: str) -> None:
    one, two, both = parse_line(first), parse_line(second), parse_line(f"{first}\n{second}")
    if one.problem or two.problem or both.problem:
        return
    assert [format_command(each) for each in both.commands] == [
        format_command(each) for each in (*one.commands, *two.commands)
    ]
    assert both.writes == one.writes + two.writes
