"""Taking command lines apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.lines import JUDGED, SOUP, UNJUDGED, Case
from policy.steady import steady

from accord.policy.script import Simple, Word
from accord.policy.shell import judge, judge_words


def shown(command: Simple) -> str:
    return " ".join(map(word_shown, (*command.assignments, *command.words)))


def word_shown(word: Word) -> str:
    if not word.literal:
        return "~" + word.text
    return word.text if word.text and " " not in word.text else f"[{word.text}]"


def names(line: str) -> list[str]:
    return [command.words[0].text for command in judge(line).commands]


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case.line)
def test_every_command_and_file_of_a_line_is_found(case: Case) -> None:
    script = judge(case.line)
    assert script.problem is None
    assert [shown(command) for command in script.commands] == case.commands
    assert (list(script.writes), list(script.reads)) == (case.writes, case.reads)


@pytest.mark.parametrize("line", UNJUDGED, ids=lambda line: ascii(line[:40]))
def test_what_is_not_certain_cannot_be_judged(line: str) -> None:
    assert judge(line).problem


def test_there_are_enough_cases() -> None:
    assert len(JUDGED) >= 60
    assert len(UNJUDGED) >= 60


def test_what_was_seen_before_the_doubt_is_kept() -> None:
    assert [shown(command) for command in judge("rm x; f() { a; }").commands] == ["rm x"]


def test_look_alikes_are_other_programs() -> None:
    assert names("gіt status") == ["gіt"] != ["git"]


def test_an_empty_line_has_no_commands() -> None:
    assert judge("").commands == judge(" \n ").commands == ()


def test_words_of_a_command_without_a_shell_are_literal() -> None:
    script = judge_words(["echo", "$(rm x)", "a; b", "*"])
    assert script.problem is None
    assert [word.text for word in script.commands[0].words] == ["echo", "$(rm x)", "a; b", "*"]
    assert all(word.literal for word in script.commands[0].words)


def test_a_shell_without_a_shell_is_a_shell() -> None:
    script = judge_words(["bash", "-lc", "git status; rm x"])
    assert [shown(command) for command in script.commands] == ["git status", "rm x"]


def test_words_may_hold_line_breaks_and_nothing_invisible() -> None:
    assert judge_words(["git", "commit", "-m", "a\nb"]).problem is None
    assert judge_words(["git", "commit", "-m", "a\x00b"]).problem
    assert judge_words([]).problem


@pytest.mark.parametrize(
    "line, suspected",
    [
        ("watch -n 1 rm x", "rm x"),
        ("ssh host 'rm -rf /'", "rm -rf /"),
        ("docker exec -it box rm x", "rm x"),
        ("parallel rm ::: a", "rm ::: a"),
        ("su ada -c 'a; rm x'", "rm x"),
    ],
)
def test_what_may_run_a_word_is_suspected(line: str, suspected: str) -> None:
    assert suspected in [shown(command) for command in judge(line).suspects]


def test_long_lines_are_read_in_good_time() -> None:
    for line in ("a;" * 20_000, "'a' " * 10_000, "$(" * 30_000, "`a` " * 10_000, "x=1 " * 10_000, "<<a " * 5_000):
        judge(line)


@steady
@given(st.text(max_size=60))
def test_no_text_raises(line: str) -> None:
    judge(line)
    judge_words([line, line])


@steady
@given(SOUP)
def test_no_soup_of_signs_raises(line: str) -> None:
    judge(line)


@steady
@given(SOUP, SOUP)
def test_two_judged_lines_are_judged_together_as_they_are_alone(first: str, second: str) -> None:
    one, two, both = judge(first), judge(second), judge(f"{first}\n{second}")
    if one.problem or two.problem or both.problem:
        return
    assert [shown(each) for each in both.commands] == [shown(each) for each in (*one.commands, *two.commands)]
    assert both.writes == one.writes + two.writes
